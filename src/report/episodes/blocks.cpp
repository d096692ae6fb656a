#include "spikeweave/report/episodes/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
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

// The episodes have to outlive the table.
result_table counts_table(const episode_table& table) {
    std::vector<bool> maximal(table.episodes.size());
    for (const std::size_t i : maximal_episodes(table)) maximal[i] = true;
    const auto row_of = [](std::uint64_t number, const counted_episode& found, bool is_maximal) {
        row out = counted_row(number, found);
        out.push_back({"maximal", is_maximal});
        return out;
    };
    return {"episodes", table.episodes.size(),
            [&table, row_of, maximal, order = order_by_count(table)](std::size_t k) {
                return row_of(k + 1, table.episodes[order[k]], maximal[order[k]]);
            },
            row_of(0, {}, false)};
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

void write_report(const std::filesystem::path& folder, const episodes_in_blocks_report& report,
                  bool overwrite, const execution& run) {
    io::result_folder out(folder, overwrite, report::files_of(result_kind::episodes));
    io::atomic_file episodes(out.file("episodes.tsv"));
    const episodes_in_blocks& found = report.result.found;
    report::write_lines(
        report::counts_table(found.table), found.unit_names,
        [&](std::string_view piece) { episodes.write(piece); }, run);
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
