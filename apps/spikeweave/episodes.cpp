#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli.hpp"
#include "described_options.hpp"
#include "episodes_text.hpp"
#include "given_episodes.hpp"
#include "output.hpp"
#include "reading.hpp"
#include "spike_source.hpp"
#include "spikeweave/core/memory.hpp"
#include "values.hpp"

namespace spikeweave::cli {
namespace {

/// The options of the analysis, and those of the command itself.
struct episodes_command {
    std::string path{};
    spike_read_options how{};
    std::vector<std::string> only_units{};
    std::string count_only{};  ///< a file of episodes; empty: mine
    std::string to{};          ///< empty: the terminal's result is all
    bool overwrite = false;
    bool json = false;
    bool occurrences = false;
    episode_options analysis{};
};

// Each with where it runs, in the words of --device.
[[noreturn]] void list_strategies() {
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
    write_stdout(text + "All are exact and give the same counts.\n");
    throw CLI::Success();
}

void declare(CLI::App& app, episodes_command& options) {
    app.option_defaults()->group("Input");
    add_reading(app, options.path, options.how);
    add_value(app, "--only-units", options.only_units, parse_names, "leave out all other units")
        ->type_name("A,B,...");
    app.option_defaults()->group("Output");
    CLI::Option* folder =
        add_value(app, "-o,--output", options.to, parse_path,
                  "folder to write: episodes.tsv, circuit.tsv, circuit.graphml, circuit.svg "
                  "and run.json")
            ->type_name("OUT_DIR");
    app.add_flag("--overwrite", options.overwrite, "replace OUT_DIR if it exists")->needs(folder);
    app.add_flag("--occurrences", options.occurrences,
                 "also write occurrences.tsv: when the chains and direct edges occur")
        ->needs(folder);
    app.add_flag("--json", options.json, "print one JSON document");
    add_described(app, std::make_shared<option_list>(describe(options.analysis)));
    add_value(app, "--count-only", options.count_only, parse_path,
              "do not search: count the episodes of this file, one a line, such as "
              "n0 4-6ms n1 4-6ms n2")
        ->type_name("EPISODES")
        ->group("Search")
        ->excludes("--delays", "--delay-grid", "--min-count", "--min-fraction", "--min-rate",
                   "--max-size", "--self-repeats", "--pairs");
    app.add_flag_callback("--list-strategies", list_strategies, "list the ways to count and stop")
        ->group(app.get_option("--strategy")->get_group());
}

// Parameters of the command that are not the analysis's.
void add_parameters(const episodes_command& options, parameter_list& list) {
    list.emplace_back("only_units", options.only_units.empty()
                                        ? parameter_value(nullptr)
                                        : fmt::format("{}", fmt::join(options.only_units, ",")));
    list.emplace_back("count_only", options.count_only.empty()
                                        ? parameter_value(nullptr)
                                        : parameter_value(options.count_only));
}

void print(const episodes_command& options, const episode_report& report) {
    const bool mined = options.count_only.empty();
    std::string text = how_counted(report, options.analysis, mined);
    text += mined ? summarize(report) : counts_text(report);
    if (!options.to.empty()) text += written_text(options.to, report.table);
    write_stdout(text);
}

// The memory that counting, tests and files take is not known before: the guard watches it.
void find(const episodes_command& options, const memory_guard& memory, session& now) {
    const auto began = std::chrono::steady_clock::now();
    if (!options.to.empty()) check_output_place(options.to, options.overwrite);
    const execution run = now.run(options.analysis.run.threads);

    const spike_source source(options.path, now.stop);
    spike_file file = source.read(options.how, run);
    run_record record;
    now.warn(record, warnings_of(file));
    spike_sequence spikes = options.only_units.empty()
                                ? std::move(file.spikes)
                                : only_units(file.spikes, options.only_units);
    now.warn(record, check_episodes(spikes, options.analysis));
    record.input = source.describe(run);
    now.stop_if_asked();

    episode_result result =
        options.count_only.empty()
            ? find_episodes(spikes, options.analysis, run)
            : count_and_test_episodes(spikes, read_given_episodes(options.count_only, spikes),
                                      options.analysis, run);
    now.warn(record, result.warnings);
    result.warnings = std::move(record.warnings);
    episode_report report = report_of(std::move(spikes), std::move(result), run);
    report.with_occurrences = options.occurrences;
    report.run.command = now.command_line;
    report.run.input = std::move(record.input);
    report.run.duplicates = file.duplicates;
    report.run.stimuli = file.stimulus_us.size();
    add_parameters(options, report.run.parameters);
    report.run.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (!options.to.empty()) write_episode_report(options.to, report, options.overwrite, run);
    now.progress.clear();

    if (options.json) {
        memory.expect(bytes_of_document(report.table));
        write_stdout(to_json(report) + "\n");
    } else if (!now.quiet) {
        print(options, report);
    }
}

void episodes(const episodes_command& options, session& now) {
    const memory_guard memory(
        options.analysis.mining.max_memory_bytes, now.stop,
        {.bound = "--max-memory",
         .advice = "a larger --min-count or a --max-size gives fewer episodes"});
    session guarded = now;
    guarded.stop = memory.stop();
    try {
        find(options, memory, guarded);
    } catch (const cancelled&) {
        memory.check();
        throw;
    }
}

}  // namespace

void add_episodes(CLI::App& app, verb& chosen) {
    const auto options = std::make_shared<episodes_command>();
    CLI::App& sub = *app.add_subcommand(
        "episodes", "Find chains of units that fire one after another at repeated delays.");
    declare(sub, *options);
    sub.footer(
        "Examples: spikeweave episodes sym26.tsv --delays 4-6ms --min-count 200 -o chains\n"
        "          spikeweave episodes culture.spk.txt --surrogates 1000 --seed 1 -o culture");
    sub.callback(
        [options, &chosen] { chosen = [options](session& now) { episodes(*options, now); }; });
}

}  // namespace spikeweave::cli
