#include "report/described_tables.hpp"

#include <utility>

#include "report/episodes/view.hpp"
#include "report/episodes/window_tables.hpp"
#include "report/sort/view.hpp"
#include "report/spade/view.hpp"
#include "spikeweave/report/table.hpp"

namespace spikeweave {
namespace {

using empty_tables = std::vector<report::result_table>;

// The tables of empty results, which have all columns.

empty_tables tables_of_episodes() {
    episode_report all;
    all.surrogates.emplace_back();
    all.assessed.emplace_back();
    all.table.episodes.emplace_back();
    all.pairs.emplace();
    episode_search& searched = all.searched.emplace();
    searched.counts.emplace_back();
    searched.tests.emplace_back();
    const report::episode_view view(all);
    return {report::episodes_table(view), report::circuit_table(view), report::pairs_table(view),
            report::lags_table(view, std::span<const edge_correlogram>{}),
            report::untested_table(searched)};
}

empty_tables tables_of_spade() {
    pattern_report all;
    all.axes.timed = true;
    all.assessment.emplace();
    all.replication.emplace();
    const report::pattern_view view(all);
    all.stabilities.emplace_back();  // later, because a view checks that each is of a pattern
    report::result_table patterns = report::patterns_table(view);
    patterns.names.push_back(report::occurrences_table(view).names.back());
    return {std::move(patterns), report::signatures_table(view),
            report::spectrum_table(view, report::table_use::file_only), report::funnel_table(view)};
}

empty_tables tables_of_sort() {
    return {report::units_table({}), report::iterations_table({}), report::merges_table({}),
            report::motion_table({}, report::table_use::file_only)};
}

void add_to(std::vector<table_description>& to, const char* command,
            const empty_tables& described) {
    for (const report::result_table& table : described) {
        table_description& out = to.emplace_back();
        out = {.command = command, .file = table.name + ".tsv"};
        for (const report::column& one : table.names)
            out.columns.push_back({report::tsv_name(one), std::string(one.help)});
    }
}

}  // namespace

std::vector<table_description> describe_tables() {
    std::vector<table_description> out;
    add_to(out, "episodes", tables_of_episodes());
    windowed_episode_report windows;
    windows.result.changes.emplace();
    add_to(out, "windows", {report::windows_table(windows), report::change_points_table(windows)});
    add_to(out, "compare", report::tables_of(episode_comparison_report{}));
    add_to(out, "spade", tables_of_spade());
    add_to(out, "sort", tables_of_sort());
    add_to(out, "track", report::tables_of(tracking_report{}));
    add_to(out, "replay", report::tables_of(replay_report{}));
    add_to(out, "assemblies", report::tables_of(assembly_report{}));
    add_to(out, "bursts", report::tables_of(burst_report{}));
    return out;
}

}  // namespace spikeweave
