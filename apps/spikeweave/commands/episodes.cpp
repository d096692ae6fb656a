#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "cli/described_options.hpp"
#include "cli/output.hpp"
#include "cli/spike_input.hpp"
#include "commands/commands.hpp"
#include "spikeweave/core/memory.hpp"
#include "spikeweave/pipeline/episodes.hpp"
#include "spikeweave/report/episodes.hpp"

namespace spikeweave::cli {
namespace {

/// The options of the analysis, and those of the command itself.
struct episodes_command {
    spike_input_options input{};
    std::filesystem::path count_only{};  ///< a file of episodes; empty: search
    std::filesystem::path to{};          ///< empty: the result is only printed
    bool overwrite = false;
    bool occurrences = false;
    bool report = true;
    bool json = false;
    episode_options analysis{};
};

option_list describe(episodes_command& options) {
    option_list list = describe(options.input);
    list.begin_group("Output");
    list.add("output", options.to,
             "folder to write: episodes.tsv, circuit.tsv, circuit.graphml, circuit.svg, run.json "
             "and report.html")
        .written("OUT_DIR");
    list.add("overwrite", options.overwrite, "replace OUT_DIR if it exists").only_with("output");
    list.add("occurrences", options.occurrences,
             "also write occurrences.tsv: when the chains and direct edges occur")
        .only_with("output");
    add_page_option(list, options.report);
    list.add("json", options.json, "print one JSON document");
    list.add_all(describe(options.analysis));
    list.begin_group("Search");
    list.add("count_only", options.count_only,
             "do not search: count the episodes of this file, one a line, such as n0 4-6ms n1 "
             "4-6ms n2")
        .written("EPISODES")
        .not_with({"delays", "delay_grid", "min_count", "min_fraction", "min_rate", "max_size",
                   "self_repeats", "pairs"});
    return list;
}

// Lists each strategy with where it runs, in the words of --device.
std::string episode_strategy_list() {
    const auto runs_on = [](device_kind where, episode_strategy strategy) {
        const auto all = available_episode_strategies(where);
        return std::ranges::find(all, strategy) != all.end();
    };
    std::string text;
    for (const auto& [strategy, name, help] : enum_names<episode_strategy>().values) {
        const bool on_cpu = runs_on(device_kind::cpu, strategy);
        const bool on_cuda = runs_on(device_kind::cuda, strategy);
        if (on_cpu || on_cuda)
            text += fmt::format("{:<20} {:<8} {}\n", name,
                                on_cpu && on_cuda ? "cpu,cuda"
                                : on_cpu          ? "cpu"
                                                  : "cuda",
                                help);
    }
    return text + "All are exact and give the same counts.\n";
}

// Says where the result is, how large its table has become, and what makes a huge one smaller.
std::string written_text(const std::filesystem::path& folder, const episode_table& table) {
    constexpr std::uintmax_t large = 10'000'000;
    std::error_code unknown;
    const auto bytes = std::filesystem::file_size(folder / "episodes.tsv", unknown);
    std::string text =
        fmt::format("written to {}: episodes.tsv has {} episodes, {}\n", folder.string(),
                    grouped(table.episodes.size()), format_memory(unknown ? 0 : bytes));
    if (std::filesystem::exists(folder / "report.html", unknown))
        text += "report.html shows the result in a browser\n";
    if (!unknown && bytes > large)
        text +=
            "--max-size or a larger --min-count gives fewer episodes, --surrogates tells bursts "
            "from chains\n";
    return text;
}

void print(const episodes_command& options, const episode_report& report) {
    const bool is_search = options.count_only.empty();
    const auto& delays = options.analysis.mining.delays;
    std::string text = with_command_line_names(
        summarize_search(report, is_search ? std::span(delays) : std::span(delays).first(0)));
    text += is_search ? summarize(report) : summarize_counts(report);
    if (!options.to.empty()) text += written_text(options.to, report.table);
    write_stdout(text);
}

void find(episodes_command& options, const memory_guard& memory, session& now) {
    if (!options.to.empty()) check_output_place(options.to, options.overwrite);
    const execution run = now.run(options.analysis.run.threads);
    auto [spikes, has_recorded_span, record] = read_input(options.input, now, run);
    now.warn(record.warnings);
    now.warn(record, check_episodes(spikes, options.analysis));

    episode_result result =
        options.count_only.empty()
            ? find_episodes(spikes, options.analysis, run)
            : count_and_test_episodes(spikes, read_episodes(options.count_only, spikes),
                                      options.analysis, run);
    now.warn(record, result.warnings);
    result.warnings = record.warnings;
    episode_report report = report_of(std::move(spikes), std::move(result), run);
    report.with_occurrences = options.occurrences;
    report.with_page = options.report;
    record_input(report.run, std::move(record), now);
    add_parameters(report.run.parameters, describe(options),
                   {"format", "time_unit", "allow_negative", "drop_duplicates_of_units",
                    "only_units", "count_only"});
    report.run.seconds = now.seconds();
    if (!options.to.empty()) write_episode_report(options.to, report, options.overwrite, run);
    now.progress.clear();
    if (options.json) {
        memory.expect(json_bytes(report));
        write_stdout(to_json(report) + "\n");
    } else if (!now.quiet) {
        print(options, report);
    }
}

// The memory is watched, because what counting, tests and files take is not known before.
void run(episodes_command& options, session& now) {
    run_within_memory(
        options.analysis.mining.max_memory_bytes,
        "a larger --min-count or a --max-size gives fewer episodes", now,
        [&](const memory_guard& memory, session& guarded) { find(options, memory, guarded); });
}

}  // namespace

void add_episodes(CLI::App& app, command& chosen) {
    const auto options = std::make_shared<episodes_command>();
    CLI::App& sub = *app.add_subcommand(
        "episodes", "Find chains of units that fire one after another at repeated delays.");
    add_spike_file(sub, options->input.path);
    add_described(sub, describe(*options));
    add_strategy_list(sub, &episode_strategy_list);
    sub.footer(
        "Examples: spikeweave episodes sym26.tsv --delays 4-6ms --min-count 200 -o chains\n"
        "          spikeweave episodes culture.spk.txt --surrogates 1000 --seed 1 -o culture");
    choose(sub, chosen, options, &run);
}

}  // namespace spikeweave::cli
