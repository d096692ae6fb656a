#include "spikeweave/report/episodes/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>

#include "core/stop.hpp"
#include "core/text.hpp"
#include "io/atomic_file.hpp"
#include "io/result_folder.hpp"
#include "report/episodes/view.hpp"
#include "report/result_files.hpp"
#include "spikeweave/assess/episodes/circuit.hpp"

namespace spikeweave {
namespace report {
namespace {

// Longest first, then most frequent first.
std::vector<std::size_t> order_by_count(const episode_table& table) {
    std::vector<std::size_t> order(table.episodes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const auto& one = table.episodes[a];
        const auto& other = table.episodes[b];
        return std::tuple(other.what.size(), other.count, a) <
               std::tuple(one.what.size(), one.count, b);
    });
    return order;
}

void write_counts(const episodes_in_blocks& found, io::atomic_file& file,
                  const std::stop_token& stop) {
    constexpr std::size_t piece = std::size_t{1} << 20U;
    std::vector<bool> maximal(found.table.episodes.size());
    for (const std::size_t i : maximal_episodes(found.table)) maximal[i] = true;
    std::string out = "episode\tsize\tunits\tdelays\tcount\tmaximal\n";
    std::size_t number = 0;
    for (const std::size_t i : order_by_count(found.table)) {
        const auto& [what, count] = found.table.episodes[i];
        fmt::format_to(std::back_inserter(out), "{}\t{}\t{}\t{}\t{}\t{}\n", ++number, what.size(),
                       units_text(found.unit_names, what), delays_text(what), count,
                       yes_no(maximal[i]));
        if (out.size() < piece) continue;
        core::throw_if_stopped(stop);
        file.write(out);
        out.clear();
    }
    file.write(out);
}

json run_of_blocks(const episodes_in_blocks_report& report) {
    const episodes_in_blocks& found = report.result.found;
    json out = run_json(report.run, verdict_of(report),
                        {{"spikes", found.spikes},
                         {"units", found.unit_names.size()},
                         {"begin_s", to_seconds(found.span.begin)},
                         {"end_s", to_seconds(found.span.end)}});
    out["search"] = search_json(found.table);
    out["search"]["in_blocks"] = true;
    return out;
}

}  // namespace
}  // namespace report

episodes_in_blocks_report report_of(episodes_in_blocks_result result, const execution& run) {
    episodes_in_blocks_report report;
    report::record_result(report.run, result, describe(result.options.mining), 0, run,
                          result.options.run.threads);
    report.run.duplicates = result.found.duplicates;
    report.result = std::move(result);
    return report;
}

std::string verdict_of(const episodes_in_blocks_report& report) {
    const auto& levels = report.result.found.table.levels;
    std::size_t frequent = 0;
    std::size_t longest = 0;
    for (const episode_level& level : levels) {
        if (level.size < 2 || level.frequent == 0) continue;
        frequent += level.frequent;
        longest = std::max<std::size_t>(longest, level.size);
    }
    std::string text =
        frequent == 0
            ? "No frequent episode"
            : fmt::format("{} of {} units",
                          report::plural(frequent, "frequent episode", "frequent episodes"),
                          report::range_text(2, longest));
    text += fmt::format(" among {}, counted and not tested.",
                        report::plural(report.result.found.unit_names.size(), "unit", "units"));
    return report::with_warnings(text, report.run.warnings.size());
}

void write_episode_report(const std::filesystem::path& folder,
                          const episodes_in_blocks_report& report, bool overwrite,
                          const execution& run) {
    io::result_folder out(folder, overwrite, report::files_of(result_kind::episodes));
    io::atomic_file episodes(out.file("episodes.tsv"));
    report::write_counts(report.result.found, episodes, run.stop);
    episodes.commit();
    out.write("run.json", report::text_of(report::run_of_blocks(report)));
    out.commit(run.stop);
}

std::string summarize(const episodes_in_blocks_report& report) {
    constexpr std::size_t shown = 20;
    const episodes_in_blocks& found = report.result.found;
    const episode_table& table = found.table;
    std::string text = fmt::format(
        "{}\n{} spikes of {} units in {}, read block by block; at least {} occurrences, "
        "{}\n\n{:>6} {:>12} {:>12}\n",
        verdict_of(report), core::grouped(found.spikes), core::grouped(found.unit_names.size()),
        report::time_text(found.span.length()), core::grouped(table.threshold),
        to_string(table.ran_on), "size", "candidates", "frequent");
    for (const episode_level& level : table.levels)
        text += fmt::format("{:>6} {:>12} {:>12}\n", level.size, core::grouped(level.candidates),
                            core::grouped(level.frequent));
    const std::vector<std::size_t> order = report::order_by_count(table);
    if (order.empty()) return text;
    text += fmt::format("\n{:>12}  longest episodes\n", "count");
    for (std::size_t k = 0; k < std::min(shown, order.size()); ++k) {
        const auto& [what, count] = table.episodes[order[k]];
        text += fmt::format("{:>12}  {}\n", core::grouped(count),
                            report::chain_text(found.unit_names, what));
    }
    if (order.size() > shown)
        text += fmt::format("{:>12}  {} more\n", "", core::grouped(order.size() - shown));
    return text +
           "\nThe episodes are counted, not tested: tests need the recording in memory. "
           "spikeweave count tests them in spikes that were not searched.\n";
}

}  // namespace spikeweave
