#include "report/episodes/window_tables.hpp"
#include "report/columns.hpp"

#include <fmt/format.h>

#include <iterator>
#include <set>

#include "core/grouped.hpp"
#include "core/stop.hpp"
#include "io/atomic_file.hpp"
#include "io/result_folder.hpp"
#include "report/episodes/parts.hpp"
#include "report/episodes/window_changes.hpp"
#include "report/page_spikes.hpp"
#include "report/recorded_part.hpp"
#include "report/result_files.hpp"
#include "report/run_json.hpp"
#include "report/text.hpp"
#include "spikeweave/live/window_table.hpp"
#include "spikeweave/report/page.hpp"

namespace spikeweave {
namespace report {
namespace {

constexpr double alpha_of_page = 0.05;

double alpha_of_tests(const windowed_episode_report& report) {
    return report.result.options.search.significance.alpha;
}

std::size_t significant_in(const tested_window& window, double alpha) {
    std::size_t number = 0;
    for (std::size_t i = 0; i < window.tests.size(); ++i)
        number += window.table.episodes[i].what.size() > 1 && window.tests[i].q < alpha ? 1 : 0;
    return number;
}

}  // namespace

json run_of_windows(const windowed_episode_report& report) {
    const windowed_episode_options& options = report.result.options;
    json out = run_json(report.run, contents_of(report.spikes));
    out["search"] = {{"windows", report.result.windows.size()},
                     {"ties", to_string(options.search.mining.ties)}};
    const std::optional<double> mean = mean_stability(report.result.windows);
    out["search"]["mean_stability"] = mean ? json(*mean) : json();
    if (report.result.changes) out["search"]["change_points"] = change_points_json(report);
    out["significance"] = {{"test", to_string(options.search.significance.test)},
                           {"correction", to_string(options.search.significance.correction)},
                           {"alpha", alpha_of_tests(report)}};
    return out;
}

namespace {

std::string text_of_known(const std::optional<double>& value) {
    return value ? number_text(*value) : "-";
}

// The last columns of a window.
std::string stability_cells(const windowed_episode_report& report, const tested_window& window) {
    if (!window.stability) return "-\t-\t-\t-\t-\t-";
    const auto& [since, both] = *window.stability;
    return fmt::format("{}\t{}\t{}\t{}\t{}\t{}", report.result.windows[since].bounds.number,
                       both.common, text_of_known(both.jaccard), text_of_known(both.expected),
                       text_of_known(both.index), number_text(both.p));
}

}  // namespace

std::string windows_tsv(const windowed_episode_report& report) {
    std::string out =
        "window\tbegin_s\tend_s\tspikes\tthreshold\tepisodes\tsignificant\tedges\tchains"
        "\tsince\tcommon\tjaccard\tjaccard_expected\tstability\tstability_p\n";
    for (const tested_window& one : report.result.windows)
        fmt::format_to(std::back_inserter(out), "{}\t{:.6f}\t{:.6f}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n",
                       one.bounds.number, to_seconds(one.bounds.begin), to_seconds(one.bounds.end),
                       one.spikes, one.table.threshold, one.table.episodes.size(),
                       significant_in(one, alpha_of_tests(report)), one.circuit.edges.size(),
                       one.circuit.chains.size(), stability_cells(report, one));
    return out;
}

void write_window_episodes(const windowed_episode_report& report,
                           const std::function<void(std::string_view)>& write,
                           const execution& run) {
    write(
        fmt::format("{}\texpected\tp\tq\tstrength\tsignificant\tchain\n", window_table_columns()));
    for (const tested_window& one : report.result.windows) {
        core::throw_if_stopped(run.stop);
        const std::set<std::size_t> chains(one.circuit.chains.begin(), one.circuit.chains.end());
        std::string lines;
        for (std::size_t i = 0; i < one.tests.size(); ++i) {
            const episode_test& test = one.tests[i];
            const bool is_significant =
                one.table.episodes[i].what.size() > 1 && test.q < alpha_of_tests(report);
            fmt::format_to(std::back_inserter(lines), "{}\t{}\t{}\t{}\t{}\t{}\t{}\n",
                           window_table_line(0, one.bounds, false, one.table.episodes[i],
                                             report.spikes.unit_names()),
                           number_text(test.expected), number_text(test.p), number_text(test.q),
                           number_text(test.strength), yes_no(is_significant),
                           yes_no(chains.contains(i)));
        }
        write(lines);
    }
}

std::string window_circuits_tsv(const windowed_episode_report& report) {
    std::string out = fmt::format("window\t{}\n", tsv_heading(described_row(circuit_edge{})));
    for (const tested_window& one : report.result.windows)
        for (const circuit_edge& edge : one.circuit.edges)
            fmt::format_to(std::back_inserter(out), "{}\t{}\n", one.bounds.number,
                           tsv_line(described_row(edge), report.spikes.unit_names()));
    return out;
}

}  // namespace report

windowed_episode_report report_of(spike_sequence spikes, windowed_episode_result result,
                                  const execution& run) {
    windowed_episode_report report{.spikes = std::move(result.part ? *result.part : spikes),
                                   .result = std::move(result)};
    windowed_episode_options& options = report.result.options;
    execution used = run;
    used.threads = options.search.run.threads;
    record_run(report.run, describe(options), options.search.surrogates.seed, used,
               options.search.run.devices.value_or(std::vector<int>{}));
    report.run.warnings = report.result.warnings;
    report.run.seconds = report.result.seconds;
    return report;
}

void write_episode_report(const std::filesystem::path& folder,
                          const windowed_episode_report& report, bool overwrite,
                          const execution& run) {
    io::result_folder out(folder, overwrite, report::files_of(result_kind::episodes));
    out.write("windows.tsv", report::windows_tsv(report));
    io::atomic_file episodes(out.file("window_episodes.tsv"));
    report::write_window_episodes(
        report, [&](std::string_view piece) { episodes.write(piece); }, run);
    episodes.commit();
    out.write("window_circuits.tsv", report::window_circuits_tsv(report));
    if (report.result.changes) out.write("change_points.tsv", report::change_points_tsv(report));
    out.write("run.json", report::text_of(report::run_of_windows(report)));
    if (report.with_page && report.spikes.size() <= report::most_spikes_of_a_page)
        out.write("report.html", page_of(report::window_page_data(out.file(""), report.spikes,
                                                                  report::alpha_of_page, run)));
    out.commit(run.stop);
}

std::string summarize(const windowed_episode_report& report) {
    std::string out = fmt::format("{:>12} {:>12} {:>10} {:>9} {:>9} {:>11} {:>6} {:>6} {:>9}\n",
                                  "begin", "end", "spikes", "threshold", "episodes", "significant",
                                  "edges", "chains", "stability");
    for (const tested_window& one : report.result.windows)
        fmt::format_to(std::back_inserter(out),
                       "{:>10.3f} s {:>10.3f} s {:>10} {:>9} {:>9} {:>11} {:>6} {:>6} {:>9}\n",
                       to_seconds(one.bounds.begin), to_seconds(one.bounds.end),
                       core::grouped(one.spikes), core::grouped(one.table.threshold),
                       core::grouped(one.table.episodes.size()),
                       core::grouped(report::significant_in(one, report::alpha_of_tests(report))),
                       one.circuit.edges.size(), one.circuit.chains.size(),
                       one.stability && one.stability->both.index
                           ? fmt::format("{:.2f}", *one.stability->both.index)
                           : "-");
    return out + report::stability_text(report) + report::changes_text(report);
}

}  // namespace spikeweave
