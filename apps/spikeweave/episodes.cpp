#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli.hpp"
#include "episodes_options.hpp"
#include "given_episodes.hpp"
#include "output.hpp"
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
    const episode_counts counted = count_episodes(spikes, given,
                                                  {.ties = options.mining.ties,
                                                   .strategy = options.mining.strategy,
                                                   .split = options.mining.split,
                                                   .compact = options.mining.compact},
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
    const std::vector<assessed_episode> judged =
        surrogates ? by_surrogates(report.assessed, report.surrogates) : report.assessed;
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
    episode_findings findings = judge_episodes(report.spikes, report.table, options.significance,
                                               options.surrogates, now.run(options.threads));
    report.assessed = std::move(findings.assessed);
    report.surrogates = std::move(findings.surrogates);
    report.found = std::move(findings.found);
}

// Adds to what the reader said what a colleague would say after a look, and tells all of it.
void report_warnings(spike_file& file, const episodes_options& options) {
    for (std::string& warning : check_spikes(file.spikes))
        file.warnings.push_back(std::move(warning));
    if (file.duplicates > 0)
        file.warnings.push_back(
            fmt::format("{} spikes stood twice and were dropped.", grouped(file.duplicates)));
    if (!file.stimulus_us.empty())
        file.warnings.push_back(
            fmt::format("{} stimulus markers are not mined.", grouped(file.stimulus_us.size())));
    const std::uint32_t surrogates = options.surrogates.surrogates;
    if (surrogates > 0 && 1.0 / (1.0 + surrogates) >= options.significance.alpha)
        file.warnings.push_back(fmt::format(
            "With {} surrogates nothing can be significant at alpha {}: no p is below {:.2g}.",
            surrogates, options.significance.alpha, 1.0 / (1.0 + surrogates)));
    for (const std::string& warning : file.warnings)
        write_stderr(fmt::format("spikeweave: warning: {}\n", warning));
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

void episodes(episodes_options options, session& now) {
    const auto began = std::chrono::steady_clock::now();
    if (!options.to.empty()) check_output_place(options.to, options.overwrite);
    const bool own_delays = fill_in_delays(options);
    const execution run = now.run(options.threads);

    spike_file file = read_spikes(options.path, options.how, run);
    report_warnings(file, options);
    episode_report report{.spikes = std::move(file.spikes)};
    report.run.warnings = file.warnings;
    report.run.duplicates = file.duplicates;
    report.run.stimuli = file.stimulus_us.size();
    if (!options.only_units.empty()) report.spikes = only_units(report.spikes, options.only_units);
    report.run.input = describe_input(options.path, run);
    now.stop_if_asked();
    const execution counting = now.run(
        options.threads, options.devices ? *options.devices : devices_that_pay(report.spikes));
    report.table = options.count_only.empty()
                       ? mine_episodes(report.spikes, options.mining, counting)
                       : count_given(report.spikes, options, counting);
    for (const std::string& warning : report.table.warnings) {
        report.run.warnings.push_back(warning);
        write_stderr(fmt::format("spikeweave: warning: {}\n", warning));
    }
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

    if (options.json) write_stdout(to_json(report) + "\n");
    if (options.json || now.quiet) return;
    std::string text = how_counted(report.table, options, own_delays);
    text += options.count_only.empty() ? summarize(report) : counts_text(report);
    if (!options.to.empty()) text += fmt::format("written to {}\n", options.to);
    write_stdout(text);
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
