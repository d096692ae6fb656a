#include "spade_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "cli.hpp"
#include "output.hpp"
#include "reading.hpp"
#include "values.hpp"

namespace spikeweave::cli {
namespace {

std::string summary_of(spade_strategy strategy) {
    switch (strategy) {
        case spade_strategy::automatic:
            return "chooses";
        case spade_strategy::fp_growth:
            return "the published FP-growth (Porrmann et al. 2021), filter in the collector";
        case spade_strategy::first_bin:
            return "depth-first search of closed patterns only, from spikes in the first bin";
    }
    return {};
}

[[noreturn]] void list_spade_strategies() {
    std::string text;
    for (const spade_strategy strategy : available_spade_strategies())
        text += fmt::format("{:<14} {}\n", to_string(strategy), summary_of(strategy));
    write_stdout(text + "All are exact and give the same patterns.\n");
    throw CLI::Success();
}

std::vector<std::string> parts_of(std::string_view text, char at) {
    std::vector<std::string> parts;
    for (;;) {
        const std::size_t end = text.find(at);
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

auto whole_from(std::uint32_t least) {
    return [least](const std::string& text) { return parse_whole_32(text, least); };
}

std::optional<std::uint32_t> some_whole_from_1(const std::string& text) {
    return parse_whole_32(text, 1);
}

min_occ_choice parse_min_occ(const std::string& text) {
    if (text == "auto") return auto_min_occ{};
    if (text.find(':') == std::string::npos) {
        try {
            return parse_whole_32(text, 1);
        } catch (const invalid_argument& error) {
            throw invalid_argument(fmt::format(
                "{} (expected N, auto, or SPIKES:N,... such as 2:88,3:25,4:12)", error.what()));
        }
    }
    min_occ_by_size out;
    for (const std::string& part : parts_of(text, ',')) {
        const std::vector<std::string> pair = parts_of(part, ':');
        if (pair.size() != 2)
            throw invalid_argument(fmt::format("'{}' is not SPIKES:N, such as 3:25", part));
        out.emplace_back(parse_whole_32(pair[0], 1), parse_whole_32(pair[1], 1));
        if (out.size() > 1 && out.back().first <= out[out.size() - 2].first)
            throw invalid_argument(fmt::format("the sizes in '{}' do not ascend", text));
    }
    return out;
}

pattern_rule parse_rule(const std::string& text) {
    const std::vector<std::string> parts = parts_of(text, ',');
    if (parts.size() < 2 || parts.size() > 4)
        throw invalid_argument(
            fmt::format("'{}' is not OCC,SPIKES[,NEU[,MAXSPIKES]], such as 25,3,3", text));
    pattern_rule rule{.min_occ = parse_whole_32(parts[0], 1),
                      .min_spikes = parse_whole_32(parts[1], 1)};
    if (parts.size() > 2) rule.min_neu = parse_whole_32(parts[2], 1);
    if (parts.size() > 3) rule.max_spikes = parse_whole_32(parts[3], 1);
    return rule;
}

std::array<std::uint32_t, 3> parse_reduction(const std::string& text) {
    const std::vector<std::string> parts = parts_of(text, ',');
    if (parts.size() != 3)
        throw invalid_argument(fmt::format("'{}' is not H,K,L, such as 2,2,2", text));
    constexpr std::uint32_t most = std::numeric_limits<std::int32_t>::max();
    std::array<std::uint32_t, 3> out{};
    for (std::size_t i = 0; i < 3; ++i) {
        out[i] = parse_whole_32(parts[i]);
        if (out[i] > most) throw invalid_argument(fmt::format("'{}' is too large", parts[i]));
    }
    return out;
}

stability_options parse_stability(const std::string& text) {
    const std::vector<std::string> parts = parts_of(text, ',');
    stability_options out;
    if (parts.size() == 1)
        out.n_subsets = parse_whole(parts[0], 1);
    else if (parts.size() == 2) {
        out.delta = parse_fraction(parts[0]);
        out.epsilon = parse_fraction(parts[1]);
    } else {
        throw invalid_argument(
            fmt::format("'{}' is neither a number of subsets nor DELTA,EPSILON", text));
    }
    subset_count(out);
    return out;
}

stability parse_thresholds(const std::string& text) {
    const std::vector<std::string> parts = parts_of(text, ',');
    if (parts.size() != 2)
        throw invalid_argument(fmt::format("'{}' is not INTENSIONAL,EXTENSIONAL", text));
    return {parse_share(parts[0]), parse_share(parts[1])};
}

duration parse_not_negative_duration(const std::string& text) {
    const duration value = parse_duration(text);
    if (value < duration{0}) throw invalid_argument(fmt::format("'{}' is below 0", text));
    return value;
}

template <class Value>
auto one_of(std::string_view option, std::vector<std::pair<std::string_view, Value>> names) {
    return [option, names = std::move(names)](const std::string& text) {
        std::string known;
        for (const auto& [name, value] : names) {
            if (name == text) return value;
            known += (known.empty() ? "" : ", ") + std::string(name);
        }
        throw invalid_argument(fmt::format("'{}' is no {} (there are {})", text, option, known));
    };
}

std::string surrogate_names() {
    std::string text;
    for (const surrogate_method method : values_of<surrogate_method>())
        text += fmt::format("{}{}", text.empty() ? "" : ", ", to_string(method));
    return text;
}

void add_windows(CLI::App& app, spade_choices& choices) {
    add_value(app, "--bin", choices.bin, parse_positive_duration, "width of a bin [5 ms]")
        ->type_name("TIME");
    add_value(app, "--window", choices.window, whole_from(1), "bins of a window [20]")
        ->type_name("N");
    CLI::Option* transactions =
        app.add_flag("--transactions", choices.transactions,
                     "FILE holds windows, one a line: items UNIT * WINDOW + BIN as numbers");
    CLI::Option* from =
        add_value(
            app, "--from", choices.from,
            [](const std::string& text) -> std::optional<duration> { return parse_duration(text); },
            "leave out what is earlier [the beginning of the recording]")
            ->type_name("TIME")
            ->excludes(transactions);
    CLI::Option* until =
        add_value(
            app, "--to", choices.until,
            [](const std::string& text) -> std::optional<duration> { return parse_duration(text); },
            "leave out what is later [the end of the recording]")
            ->type_name("TIME")
            ->excludes(transactions);
    CLI::Option* epochs =
        add_value(app, "--epochs", choices.epochs_path, parse_path,
                  "only these epochs of the recording, one after another: a table of begin and end "
                  "in seconds")
            ->type_name("EPOCHS")
            ->excludes(from)
            ->excludes(until)
            ->excludes(transactions);
    add_value(
        app, "--separation", choices.separation,
        [](const std::string& text) -> std::optional<duration> {
            return parse_not_negative_duration(text);
        },
        "between two epochs [two windows]")
        ->type_name("TIME")
        ->needs(epochs);
    add_value(app, "--only-units", choices.only_units, parse_names, "leave out all other units")
        ->type_name("A,B,...")
        ->excludes(transactions);
}

void add_rules(CLI::App& app, spade_choices& choices) {
    CLI::Option* rule = app.add_option_function<std::vector<std::string>>(
        "--rule",
        [&choices](const std::vector<std::string>& texts) {
            try {
                for (const std::string& text : texts) choices.rules.push_back(parse_rule(text));
            } catch (const invalid_argument& error) {
                throw CLI::ValidationError("--rule", error.what());
            }
        },
        "instead of --min-occ, --min-spikes, --max-spikes and --min-neu, and as often as you like: "
        "a "
        "pattern is wanted when one rule takes it");
    rule->type_name("OCC,SPIKES[,NEU[,MAXSPIKES]]")->allow_extra_args(false);
    add_value(
        app, "--min-occ", choices.min_occ, parse_min_occ,
        "occurrences that a pattern must have: a number, one for each size (the last also for "
        "all above, none below the first), or auto, the published estimate from the rates "
        "[auto]")
        ->type_name("N|auto|SPIKES:N,...")
        ->excludes(rule);
    add_value(app, "--min-spikes", choices.min_spikes, some_whole_from_1, "spikes of a pattern [2]")
        ->type_name("N")
        ->excludes(rule);
    add_value(app, "--max-spikes", choices.max_spikes, whole_from(1), "the same at most [no bound]")
        ->type_name("N")
        ->excludes(rule);
    add_value(app, "--min-neu", choices.min_neu, some_whole_from_1,
              "different units of a pattern [1; with auto as many as spikes]")
        ->type_name("N")
        ->excludes(rule);
    add_value(app, "--max-occ", choices.max_occ, whole_from(1),
              "leave out what occurs more often [no bound]")
        ->type_name("N");
    app.add_flag("--no-subset-filter", choices.keep_window_subsets,
                 "keep what is a part of a longer pattern that begins earlier");
}

void add_strategy(CLI::App& app, spade_choices& choices) {
    add_value(app, "--strategy", choices.strategy, value_named<spade_strategy>,
              "how to search; the result says what ran [automatic]")
        ->type_name("NAME");
    app.add_flag_callback("--list-strategies", list_spade_strategies,
                          "list the ways to search and stop");
}

void add_surrogates(CLI::App& app, spade_choices& choices) {
    surrogate_options& surrogates = choices.surrogates;
    CLI::Option* number = add_value(app, "--surrogates", surrogates.surrogates, whole_from(1),
                                    "test against this many surrogates [none]")
                              ->type_name("N")
                              ->excludes("--transactions");
    const auto add = [&](const char* name, auto& into, auto parse, const char* type,
                         const std::string& help) {
        add_value(app, name, into, parse, help)->type_name(type)->needs(number);
    };
    add(
        "--surrogate-method", choices.method,
        [](const std::string& text) -> std::optional<surrogate_method> {
            return value_named<surrogate_method>(text);
        },
        "NAME",
        "how a surrogate is made: " + surrogate_names() +
            " [trial_shifting with trials, else dither_spikes_with_refractory_period; with "
            "--compat dither_spikes]");
    add("--dither", surrogates.dither, parse_positive_duration, "TIME",
        "how far a surrogate moves spikes [15 ms]");
    add_value(
        app, "--seed", surrogates.seed, [](const std::string& text) { return parse_whole(text); },
        "of the surrogates and of --stability [0]")
        ->type_name("N");
    add("--edges", surrogates.edges,
        one_of<surrogate_edges>(
            "way with edges", {{"drop", surrogate_edges::drop}, {"clamp", surrogate_edges::clamp}}),
        "drop|clamp", "dither_spikes, dither_spike_train: spikes moved out of the span [drop]");
    add(
        "--refractory", surrogates.refractory_period,
        [](const std::string& text) -> std::optional<duration> {
            return parse_positive_duration(text);
        },
        "TIME", "dither_spikes_with_refractory_period: spikes stay this far apart [the bin]");
    app.add_flag("--sliding", surrogates.sliding, "bin_shuffling: blocks begin at every bin")
        ->needs(number);
    CLI::Option* trial =
        add_value(
            app, "--trial-length", choices.trial_length,
            [](const std::string& text) -> std::optional<duration> {
                return parse_positive_duration(text);
            },
            "trial_shifting: the recording is trials of this length, from its beginning (0 s "
            "where the file does not say) [the epochs]")
            ->type_name("TIME")
            ->needs(number)
            ->excludes("--epochs");
    add_value(app, "--trial-separation", choices.trial_separation, parse_not_negative_duration,
              "between two trials [0]")
        ->type_name("TIME")
        ->needs(trial);
}

void add_intervals(CLI::App& app, joint_isi_options& joint) {
    CLI::Option* number = app.get_option("--surrogates");
    const auto add = [&](const char* name, auto& into, auto parse, const char* type,
                         const char* help) {
        add_value(app, name, into, parse, help)->type_name(type)->needs(number);
    };
    add("--isi-truncation", joint.truncation_limit, parse_positive_duration, "TIME",
        "joint_isi_dithering, isi_dithering: longest interval in the distribution [100 ms]");
    add("--isi-bins", joint.bins, whole_from(2), "N", "the same: bins of the distribution [100]");
    add("--isi-sigma", joint.sigma, parse_not_negative_duration, "TIME",
        "the same: width of the filter [2 ms]");
    add("--isi-steps", joint.steps,
        one_of<joint_isi_steps>(
            "way of steps", {{"window", joint_isi_steps::window}, {"fast", joint_isi_steps::fast}}),
        "window|fast", "the same: at most the dither far, or to the neighbours [window]");
    add("--isi-refractory", joint.refractory_period, parse_positive_duration, "TIME",
        "the same: dead time at most [4 ms]");
    app.add_flag("--isi-sqrt", joint.use_sqrt, "the same: square root of the counts")
        ->needs(number);
    app.add_flag_callback(
           "--isi-in-turn", [&joint] { joint.alternate = false; },
           "the same: one spike after another, not every second first")
        ->needs(number);
    app.add_flag_callback(
           "--isi-no-cutoff", [&joint] { joint.cutoff = false; },
           "the same: also intervals below the dead time")
        ->needs(number);
}

void add_tests(CLI::App& app, spade_choices& choices) {
    add_value(app, "--spectrum", choices.spectrum, value_named<spectrum_kind>,
              "signatures: # (spikes, occurrences) or 3d# (also duration) [#]")
        ->type_name("#|3d#");
    add_value(app, "--alpha", choices.alpha, parse_fraction, "significance level [0.01]")
        ->type_name("P");
    add_value(app, "--correction", choices.correction, value_named<correction_method>,
              "for the number of signatures: none, bonferroni, sidak, holm-sidak, holm, "
              "simes-hochberg, hommel, fdr_bh, fdr_by, fdr_tsbh or fdr_tsbky [fdr_bh]")
        ->type_name("NAME");
    add_value(
        app, "--reduce", choices.reduce,
        [](const std::string& text) -> std::optional<std::array<std::uint32_t, 3>> {
            return parse_reduction(text);
        },
        "take away patterns that others explain; H, K, L of the pattern set reduction, such as "
        "2,2,2 [all are kept]")
        ->type_name("H,K,L");
    CLI::Option* stable =
        add_value(
            app, "--stability", choices.stable,
            [](const std::string& text) -> std::optional<stability_options> {
                return parse_stability(text);
            },
            "how stable patterns are, by this many random subsets, or as many as an error of "
            "EPSILON with probability DELTA asks for [not computed]")
            ->type_name("N|DELTA,EPSILON");
    add_value(app, "--stability-threshold", choices.least_stable, parse_thresholds,
              "keep patterns of which one stability is above this [all are kept]")
        ->type_name("INTENSIONAL,EXTENSIONAL")
        ->needs(stable);
    add_value(
        app, "--compat", choices.elephant,
        one_of<elephant_mode>("compatibility", {{"elephant", elephant_mode::seconds},
                                                {"elephant-ms", elephant_mode::milliseconds}}),
        "decide as Elephant does of trains in seconds (elephant) or in ms (elephant-ms): "
        "bins at edges, masked signatures, reduction [what is right]")
        ->type_name("NAME");
}

}  // namespace

void add_options(CLI::App& app, spade_choices& choices) {
    app.option_defaults()->group("Input");
    add_reading(app, choices.path, choices.how);
    app.option_defaults()->group("Output");
    CLI::Option* folder =
        add_value(app, "-o,--output", choices.to, parse_path,
                  "folder to write: patterns.tsv, signatures.tsv, spectrum.tsv, funnel.tsv, "
                  "patterns.svg, spectrum.svg and run.json")
            ->type_name("OUT_DIR");
    app.add_flag("--overwrite", choices.overwrite, "replace OUT_DIR if it exists")->needs(folder);
    app.add_flag("--occurrences", choices.occurrences,
                 "when patterns occur also where they are not tested: patterns.tsv may get large")
        ->needs(folder);
    app.add_flag("--nwb", choices.nwb, "also write patterns.nwb")->needs(folder);
    app.add_flag("--json", choices.json, "print one JSON document");
    app.option_defaults()->group("Bins and windows");
    add_windows(app, choices);
    app.option_defaults()->group("Which patterns are wanted");
    add_rules(app, choices);
    app.option_defaults()->group("Surrogates");
    add_surrogates(app, choices);
    app.option_defaults()->group("Surrogates by intervals");
    add_intervals(app, choices.surrogates.joint_isi);
    app.option_defaults()->group("Significance");
    add_tests(app, choices);
    app.option_defaults()->group("Computation");
    add_strategy(app, choices);
    add_value(app, "--threads", choices.threads, parse_threads, "worker threads [all cores]")
        ->type_name("N");
    add_value(app, "--max-memory", choices.max_memory_bytes, parse_memory,
              "stop when more is needed, such as 2GB [four fifths of what is free]")
        ->type_name("SIZE");
}

namespace {

// Options that some ways to make surrogates do not ask for.
struct method_option {
    std::string_view name;
    std::vector<surrogate_method> methods;
};

const std::vector<method_option>& method_options() {
    using enum surrogate_method;
    static const std::vector<method_option> all = [] {
        std::vector<method_option> options{{"--sliding", {bin_shuffling}},
                                           {"--refractory", {dither_spikes_with_refractory_period}},
                                           {"--edges", {dither_spikes, dither_spike_train}},
                                           {"--trial-length", {trial_shifting}}};
        for (const std::string_view name :
             {"--isi-truncation", "--isi-bins", "--isi-sigma", "--isi-steps", "--isi-refractory",
              "--isi-sqrt", "--isi-in-turn", "--isi-no-cutoff"})
            options.push_back({name, {joint_isi_dithering, isi_dithering}});
        return options;
    }();
    return all;
}

// Elephant refuses what a method does not know, too.
void check_method(const spade_choices& choices) {
    const surrogate_method method = choices.method.value_or(choices.usual_method());
    for (const method_option& option : method_options()) {
        if (!choices.was_given(std::string(option.name)) ||
            std::ranges::find(option.methods, method) != option.methods.end())
            continue;
        std::vector<std::string_view> names;
        for (const surrogate_method known : option.methods) names.push_back(to_string(known));
        throw invalid_argument(
            fmt::format("{} is for --surrogate-method {}, and surrogates are made by {}{}",
                        option.name, fmt::join(names, " or "), to_string(method),
                        choices.method ? "" : " unless another is named"));
    }
}

}  // namespace

std::string spade_choices::option_name(std::string_view field) {
    if (field == "until") return "--to";
    if (field == "stable") return "--stability";
    if (field == "least_stable") return "--stability-threshold";
    std::string name = "--" + std::string(field);
    std::ranges::replace(name, '_', '-');
    return name;
}

void check(const spade_choices& choices) {
    check_request(choices, !choices.transactions);
    if (choices.is_tested()) check_method(choices);
    if (choices.was_given("--seed") && choices.surrogates.surrogates == 0 && !choices.stable)
        throw invalid_argument("--seed needs --surrogates or --stability: nothing else is random");
}

std::vector<std::string> warnings_of(const spade_choices& choices) {
    std::vector<std::string> warnings;
    for (const char* const name : {"--alpha", "--correction"})
        if (choices.surrogates.surrogates == 0 && choices.was_given(name))
            warnings.push_back(
                fmt::format("Nothing is tested without --surrogates: {} changes nothing.", name));
    if (choices.transactions && choices.elephant != elephant_mode::none && !choices.reduce)
        warnings.emplace_back(
            "Windows are given: --compat changes nothing without spikes to bin or --reduce.");
    return warnings;
}

}  // namespace spikeweave::cli
