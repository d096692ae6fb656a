#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli.hpp"
#include "episodes_options.hpp"
#include "given_episodes.hpp"
#include "output.hpp"
#include "spike_source.hpp"
#include "spikeweave/spikeweave.hpp"
#include "values.hpp"

namespace spikeweave::cli {
namespace {

// Counts what was given, as a table that can be assessed like a mined one: as many hypotheses of
// each size as were given.
episode_table count_given(const spike_sequence& spikes, const episodes_options& options,
                          const execution& run) {
    const std::vector<episode> given = read_given_episodes(options.count_only, spikes);
    const auto began = std::chrono::steady_clock::now();
    const episode_count_result counted = count_episodes(spikes, given,
                                                        {.ties = options.mining.ties,
                                                         .strategy = options.mining.strategy,
                                                         .split = options.mining.split,
                                                         .compaction = options.mining.compaction},
                                                        run);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;

    episode_table table{.threshold = 0,
                        .ties = options.mining.ties,
                        .ran_on = counted.ran_on,
                        .merge_misses = counted.merge_misses,
                        .ran_on_devices = counted.ran_on_devices,
                        .compacted_by = counted.compacted_by,
                        .warnings = counted.warnings};
    std::map<std::size_t, std::uint64_t> of_size;
    for (std::size_t i = 0; i < given.size(); ++i) {
        table.episodes.push_back({given[i], counted.counts[i]});
        ++of_size[given[i].size()];
    }
    for (const auto& [size, number] : of_size)
        table.levels.push_back({size, number, number, 0, seconds.count(), 0});
    return table;
}

std::string chain_text(const spike_sequence& spikes, const episode& what) {
    std::string text = spikes.name(what.units.front());
    for (std::size_t i = 0; i < what.delays.size(); ++i)
        text += fmt::format(" →{}→ {}", format_delay_interval(what.delays[i]),
                            spikes.name(what.units[i + 1]));
    return text;
}

std::string counts_text(const episode_report& report) {
    std::string text;
    const bool surrogates = !report.surrogates.empty();
    text += fmt::format("{:>10} {:>12} {:>10} {:>10} {:>9}  episode\n", "count", "expected", "p",
                        "q", "strength");
    const std::vector<episode_test> judged =
        surrogates ? with_surrogate_tests(report.assessed, report.surrogates) : report.assessed;
    for (std::size_t i = 0; i < judged.size(); ++i) {
        const counted_episode& counted = report.table.episodes[i];
        text += fmt::format("{:>10} {:>12.2f} {:>10.2g} {:>10.2g} {:>9.2f}  {}\n", counted.count,
                            judged[i].expected, judged[i].p, judged[i].q, judged[i].strength,
                            chain_text(report.spikes, counted.what));
    }
    return text;
}

// What ran, and on which GPUs.
std::string strategy_text(const episode_table& table) {
    std::string text(to_string(table.ran_on));
    if (!table.ran_on_devices.empty())
        text += fmt::format(" on {}", format_devices(table.ran_on_devices));
    return text;
}

std::string how_counted(const episode_table& table, const episodes_options& options,
                        bool default_delays) {
    std::string text;
    if (options.count_only.empty())
        text += fmt::format(
            "delays     {}{}\nthreshold  {}\n", format_delays(options.mining.delays),
            default_delays ? " (the default; --delays sets others)" : "", grouped(table.threshold));
    return text + fmt::format("ties       {}\nstrategy   {}\n\n", to_string(table.ties),
                              strategy_text(table));
}

// Replaces the default by what it comes to; says whether it did.
bool fill_in_delays(episodes_options& options) {
    if (!options.count_only.empty() || !options.mining.delays.empty()) return false;
    options.mining.delays = default_delays();
    return true;
}

void assess(episode_report& report, const episodes_options& options, session& now) {
    report.significance = options.significance;
    report.surrogate = options.surrogates;
    report.circuit_rules.alpha = options.significance.alpha;
    episode_test_result findings = test_episodes(report.spikes, report.table, options.significance,
                                                 options.surrogates, now.run(options.threads));
    report.assessed = std::move(findings.assessed);
    report.surrogates = std::move(findings.surrogates);
    report.circuit = std::move(findings.circuit);
    now.warn(report.run, findings.warnings);
}

// What can be said before the work.
void warn_before(const episodes_options& options, episode_report& report, const session& now) {
    if (options.count_only.empty())
        now.warn(report.run, check_delays(report.spikes, options.mining.delays));
    now.warn(report.run, check_tests(report.spikes, options.significance, options.surrogates));
}

// A document is made whole before it is printed: what nlohmann::json takes for an episode, and its
// text.
std::uint64_t bytes_of_document(const episode_table& table) {
    constexpr std::uint64_t per_episode = 2000;
    constexpr std::uint64_t per_unit = 500;
    std::uint64_t bytes = 0;
    for (const counted_episode& one : table.episodes)
        bytes += per_episode + per_unit * one.what.units.size();
    return bytes;
}

// Where the result is, and how large its table has become; what makes a huge one smaller.
std::string written_text(const std::string& folder, const episode_table& table) {
    constexpr std::uintmax_t large = 10'000'000;
    std::error_code unknown;
    const auto bytes =
        std::filesystem::file_size(std::filesystem::path(folder) / "episodes.tsv", unknown);
    std::string text =
        fmt::format("written to {}: episodes.tsv has {} episodes, {}\n", folder,
                    grouped(table.episodes.size()), format_memory(unknown ? 0 : bytes));
    if (!unknown && bytes > large)
        text +=
            "--max-size or a larger --min-count gives fewer episodes, --surrogates tells bursts "
            "from chains\n";
    return text;
}

std::vector<device_info> used_devices(const episode_table& table) {
    std::vector<device_info> used;
    if (table.ran_on_devices.empty()) return used;
    for (const device_info& one : devices()) {
        if (std::find(table.ran_on_devices.begin(), table.ran_on_devices.end(), one.ordinal) !=
            table.ran_on_devices.end())
            used.push_back(one);
    }
    return used;
}

// What counting, tests and files hold of episodes is not known before: the guard looks on.
void find_episodes(episodes_options options, const memory_guard& memory, session& now) {
    const auto began = std::chrono::steady_clock::now();
    if (!options.to.empty()) check_output_place(options.to, options.overwrite);
    const bool own_delays = fill_in_delays(options);
    const execution run = now.run(options.threads);

    const spike_source source(options.path, now.stop);
    spike_file file = source.read(options.how, run);
    episode_report report{};
    now.warn(report.run, warnings_of(file));
    report.spikes = std::move(file.spikes);
    report.run.duplicates = file.duplicates;
    report.run.stimuli = file.stimulus_us.size();
    if (!options.only_units.empty()) report.spikes = only_units(report.spikes, options.only_units);
    warn_before(options, report, now);
    report.run.input = source.describe(run);
    now.stop_if_asked();
    const execution counting = now.run(
        options.threads, options.devices ? *options.devices : recommended_devices(report.spikes));
    report.table = options.count_only.empty()
                       ? mine_episodes(report.spikes, options.mining, counting)
                       : count_given(report.spikes, options, counting);
    now.warn(report.run, report.table.warnings);
    assess(report, options, now);

    report.with_occurrences = options.occurrences;
    report.run.command = now.command_line;
    report.run.parameters = resolved_parameters(options, report.table);
    report.run.version = version();
    report.run.seed = options.surrogates.seed;
    report.run.threads = thread_count(run);
    report.run.devices = used_devices(report.table);
    report.run.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    report.run.peak_memory_bytes = peak_memory_bytes();
    if (!options.to.empty()) write_episode_report(options.to, report, options.overwrite, run);
    now.progress.clear();

    if (options.json) {
        memory.expect(bytes_of_document(report.table));
        write_stdout(to_json(report) + "\n");
    }
    if (options.json || now.quiet) return;
    std::string text = how_counted(report.table, options, own_delays);
    text += options.count_only.empty() ? summarize(report) : counts_text(report);
    if (!options.to.empty()) text += written_text(options.to, report.table);
    write_stdout(text);
}

void episodes(const episodes_options& options, session& now) {
    const memory_guard memory(
        options.mining.max_memory_bytes, now.stop,
        {.bound = "--max-memory",
         .advice = "a larger --min-count or a --max-size gives fewer episodes"});
    session guarded = now;
    guarded.stop = memory.stop();
    try {
        find_episodes(options, memory, guarded);
    } catch (const cancelled&) {
        memory.check();
        throw;
    }
}

}  // namespace

void add_episodes(CLI::App& app, verb& chosen) {
    const auto options = std::make_shared<episodes_options>();
    CLI::App& sub = *app.add_subcommand(
        "episodes", "Find chains of units that fire one after another at repeated delays.");
    add_options(sub, *options);
    sub.footer(
        "Examples: spikeweave episodes sym26.tsv --delays 4-6ms --min-count 200 -o chains\n"
        "          spikeweave episodes culture.spk.txt --surrogates 1000 --seed 1 -o culture");
    sub.callback(
        [options, &chosen] { chosen = [options](session& now) { episodes(*options, now); }; });
}

}  // namespace spikeweave::cli
