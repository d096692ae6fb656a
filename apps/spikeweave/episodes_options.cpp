#include "episodes_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli.hpp"
#include "output.hpp"
#include "reading.hpp"
#include "values.hpp"

namespace spikeweave::cli {
namespace {

std::string summary_of(episode_strategy strategy) {
    switch (strategy) {
        case episode_strategy::automatic:
            return "chooses";
        case episode_strategy::reference:
            return "straight from the definition: every occurrence, then the largest set without "
                   "overlap";
        case episode_strategy::state_machine:
            return "the published Algorithm 1: one pass over the spikes for all candidates";
        case episode_strategy::two_pass:
            return "the published Algorithms 4 and 5: an upper bound first, then Algorithm 1";
        case episode_strategy::occurrences:
            return "the published Algorithms 2 and 3: a superset of occurrences, then scheduling";
        case episode_strategy::segments:
            return "the published counting in segments of time, with an exact merge";
        case episode_strategy::latest_start:
            return "lists of survivors: for every end of an occurrence only its latest start";
        case episode_strategy::thread_per_episode:
            return "the published PTPE: a thread runs Algorithm 1 for one episode";
        case episode_strategy::segments_per_episode:
            return "the published MTPE: threads count segments of time, with an exact merge";
        case episode_strategy::hybrid:
            return "the published choice between these two, by what was measured on the device";
    }
    return {};
}

// Each with where it runs, in the words of --device.
[[noreturn]] void list_episodes_strategies() {
    const auto on_cpu = available_episode_strategies(device_kind::cpu);
    const auto on_cuda = available_episode_strategies(device_kind::cuda);
    const auto has = [](const auto& list, episode_strategy strategy) {
        return std::find(list.begin(), list.end(), strategy) != list.end();
    };
    std::string text;
    for (const episode_strategy strategy : on_cpu)
        text += fmt::format("{:<20} {:<8} {}\n", to_string(strategy),
                            has(on_cuda, strategy) ? "cpu,cuda" : "cpu", summary_of(strategy));
    for (const episode_strategy strategy : on_cuda) {
        if (!has(on_cpu, strategy))
            text +=
                fmt::format("{:<20} {:<8} {}\n", to_string(strategy), "cuda", summary_of(strategy));
    }
    write_stdout(text + "All are exact and give the same counts.\n");
    throw CLI::Success();
}

void add_delays(CLI::App& app, episode_mining_options& mining) {
    CLI::Option* list =
        add_value(app, "--delays", mining.delays, parse_delays,
                  "delay intervals, each without its lower and with its upper bound "
                  "[1-4ms,4-8ms,8-12ms,12-16ms]")
            ->type_name("LOW-HIGH,...");
    CLI::Option* grid = add_value(app, "--delay-grid", mining.delays, parse_delay_grid,
                                  "delay intervals of equal width, such as 0ms:20ms:5ms")
                            ->type_name("LOW:HIGH:STEP");
    list->excludes(grid);
}

void add_threshold(CLI::App& app, episode_mining_options& mining) {
    CLI::Option* count =
        add_value(
            app, "--min-count", mining.threshold,
            [](const std::string& text) -> episode_threshold {
                return count_threshold{parse_whole(text, 1)};
            },
            "minimum number of occurrences [a twentieth of the median unit's "
            "spikes, at least 10, and such that at most 32 pairs a unit are frequent]")
            ->type_name("N");
    CLI::Option* fraction = add_value(
                                app, "--min-fraction", mining.threshold,
                                [](const std::string& text) -> episode_threshold {
                                    return fraction_threshold{parse_fraction(text)};
                                },
                                "minimum as a fraction of all spikes")
                                ->type_name("F");
    CLI::Option* rate = add_value(
                            app, "--min-rate", mining.threshold,
                            [](const std::string& text) -> episode_threshold {
                                return rate_threshold{parse_positive(text)};
                            },
                            "minimum as occurrences per second")
                            ->type_name("HZ");
    count->excludes(fraction)->excludes(rate);
    fraction->excludes(rate);
}

void add_search(CLI::App& app, episodes_options& options) {
    episode_mining_options& mining = options.mining;
    add_delays(app, mining);
    add_threshold(app, mining);
    add_value(
        app, "--max-size", mining.max_size,
        [](const std::string& text) -> std::size_t { return parse_whole(text, 1); },
        "largest episode to look for [no bound]")
        ->type_name("N");
    app.add_flag("--self-repeats", mining.self_repeats, "let a unit follow itself");
    add_value(app, "--ties", mining.ties, tie_rule_from,
              "when a spike is before another: at an earlier time, or (order) earlier in the file "
              "[time]")
        ->type_name("time|order");
    add_value(app, "--count-only", options.count_only, parse_path,
              "do not search: count the episodes of this file, one a line, such as "
              "n0 4-6ms n1 4-6ms n2")
        ->type_name("EPISODES")
        ->excludes("--delays", "--delay-grid", "--min-count", "--min-fraction", "--min-rate",
                   "--max-size", "--self-repeats");
}

void add_counting(CLI::App& app, episodes_options& options) {
    episode_mining_options& mining = options.mining;
    add_value(app, "--strategy", mining.strategy, episode_strategy_from,
              "how to count; the result says what ran [automatic]")
        ->type_name("NAME");
    add_value(app, "--compaction", mining.compaction, compaction_from,
              "how occurrences makes lists on GPUs: automatic, atomic, select or count-scan-write "
              "[automatic]")
        ->type_name("NAME");
    app.add_flag_callback("--list-strategies", list_episodes_strategies,
                          "list the ways to count and stop");
    add_value(app, "--pairs", mining.pairs, pair_method_from,
              "how latest-start counts pairs: automatic, merge or look-back [automatic]")
        ->type_name("NAME");
    add_value(app, "--split", mining.split, device_split_from,
              "what several GPUs share: automatic, candidates, or stretches of time [automatic]")
        ->type_name("NAME");
    add_value(app, "--threads", options.threads, parse_threads, "worker threads [all cores]")
        ->type_name("N");
    add_value(app, "--device", options.devices, parse_devices,
              "where to count: cpu, cuda (the first GPU), cuda:0,1 (these), cuda:all, or automatic "
              "(the first GPU for many spikes) [cpu]")
        ->type_name("DEVICE");
    add_value(app, "--max-memory", mining.max_memory_bytes, parse_memory,
              "stop when more is needed, such as 2GB [four fifths of what is free]")
        ->type_name("SIZE");
}

// No verb but spade knows of trials.
surrogate_method parse_method(const std::string& text) {
    const surrogate_method method = surrogate_method_from(text);
    if (method == surrogate_method::trial_shifting)
        throw invalid_argument(fmt::format(
            "'{}' needs trials, which episodes does not know (spikeweave spade does)", text));
    return method;
}

std::string pair_surrogate_names() {
    std::string text;
    for (const surrogate_method method : surrogate_methods())
        if (method != surrogate_method::trial_shifting)
            text += fmt::format("{}{}", text.empty() ? "" : ", ", to_string(method));
    return text;
}

void add_significance(CLI::App& app, episodes_options& options) {
    add_value(
        app, "--alpha", options.significance.alpha, parse_fraction,
        fmt::format("significance level: significant is q < Q [{}]", options.significance.alpha))
        ->type_name("Q");
    add_value(app, "--correction", options.significance.correction, one_stage_correction_from,
              "for the number of candidates: none, bonferroni, sidak, holm-sidak, holm, "
              "simes-hochberg, hommel, fdr_bh (or bh) or fdr_by [holm]")
        ->type_name("NAME");
    add_value(app, "--test", options.significance.test, significance_test_from,
              "null of the p-values: jitter (units that share rates), exact (stationary "
              "independent units), or the published chebyshev bound [jitter]")
        ->type_name("NAME");
    add_value(app, "--jitter-window", options.significance.jitter_window, parse_positive_duration,
              "what is timed more loosely than this counts as a shared rate [" +
                  format_duration(options.significance.jitter_window) + "]")
        ->type_name("TIME");
    surrogate_options& surrogates = options.surrogates;
    CLI::Option* number = add_value(
                              app, "--surrogates", surrogates.surrogates,
                              [](const std::string& text) { return parse_whole_32(text, 1); },
                              "test against this many surrogates instead: for bursty data [none]")
                              ->type_name("N");
    add_value(app, "--surrogate-method", surrogates.method, parse_method,
              fmt::format("how a surrogate is made: {} [{}]", pair_surrogate_names(),
                          to_string(surrogates.method)))
        ->type_name("NAME")
        ->needs(number);
    add_value(app, "--dither", surrogates.dither, parse_positive_duration,
              "how far a surrogate moves a spike [" + format_duration(surrogates.dither) + "]")
        ->type_name("TIME")
        ->needs(number);
    add_value(
        app, "--seed", surrogates.seed, [](const std::string& text) { return parse_whole(text); },
        "of the surrogates [0]")
        ->type_name("N")
        ->needs(number);
}

}  // namespace

void add_options(CLI::App& app, episodes_options& options) {
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
    app.option_defaults()->group("What to look for");
    add_search(app, options);
    app.option_defaults()->group("Significance");
    add_significance(app, options);
    app.option_defaults()->group("Computation (the answer does not depend on it)");
    add_counting(app, options);
    app.get_option("--count-only")->excludes("--pairs");
}

parameter_list resolved_parameters(const episodes_options& options, const episode_table& table) {
    const episode_mining_options& mining = options.mining;
    const auto or_none = [](std::uint64_t value) {
        return value > 0 ? parameter_value(value) : parameter_value(nullptr);
    };
    const auto text = [](std::string_view name) { return std::string(name); };
    parameter_list list;
    if (options.count_only.empty()) {
        list.emplace_back("delays", format_delays(mining.delays));
        list.emplace_back("threshold", table.threshold);
        list.emplace_back("max_size", or_none(mining.max_size));
        list.emplace_back("self_repeats", mining.self_repeats);
        list.emplace_back("pairs", text(to_string(mining.pairs)));
    } else {
        list.emplace_back("count_only", options.count_only);
    }
    list.emplace_back("ties", text(to_string(mining.ties)));
    list.emplace_back("strategy", text(to_string(mining.strategy)));
    list.emplace_back("compaction", text(to_string(mining.compaction)));
    list.emplace_back("device", format_devices(options.devices));
    list.emplace_back("only_units", options.only_units.empty()
                                        ? "all"
                                        : fmt::format("{}", fmt::join(options.only_units, ",")));
    list.emplace_back("max_memory_bytes", or_none(mining.max_memory_bytes));
    list.emplace_back("test", text(to_string(options.significance.test)));
    list.emplace_back("correction", text(to_string(options.significance.correction)));
    list.emplace_back("alpha", options.significance.alpha);
    if (options.significance.test == significance_test::jitter)
        list.emplace_back("jitter_window", format_duration(options.significance.jitter_window));
    list.emplace_back("tick", format_duration(options.significance.tick));
    const surrogate_options& surrogates = options.surrogates;
    list.emplace_back("surrogates", surrogates.surrogates);
    if (surrogates.surrogates > 0) {
        list.emplace_back("surrogate_method", text(to_string(surrogates.method)));
        list.emplace_back("dither", format_duration(surrogates.dither));
    }
    return list;
}

}  // namespace spikeweave::cli
