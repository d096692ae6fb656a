#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "report/spade/view.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/report/spade.hpp"

namespace spikeweave::report {
namespace {

constexpr std::size_t most_patterns = 12;
constexpr std::size_t most_signatures = 12;

class pattern_page : terminal_text {
public:
    pattern_page(const pattern_view& p, bool colour) : terminal_text(colour), p_(p) {}

    std::string written() {
        heading();
        patterns();
        signatures();
        funnel();
        return taken();
    }

private:
    void heading() {
        const pattern_report& report = p_.report;
        const pattern_axes& axes = report.axes;
        line("{}", bold(verdict_of(p_)));
        std::string what =
            report.axes.timed
                ? fmt::format("{} spikes of {} units in {}; ", core::grouped(report.input.spikes),
                              core::grouped(axes.unit_names.size()), time_text(report.input.length))
                : fmt::format("{} units; ", core::grouped(axes.unit_names.size()));
        line("{}{} windows of {} × {} ms; {}", what, core::grouped(report.input.windows),
             axes.window_bins, milliseconds(axes.bin), p_.how_tested());
        if (!report.replication) return;
        const spade_replication& other = *report.replication;
        line("Replicated: {} of {} patterns, in {} {}.", core::grouped(other.replicated),
             core::grouped(other.tested), time_text(other.observed),
             other.confirmed_elsewhere ? "of the recording that confirms" : "that were held out");
        if (const std::size_t untested = other.tests.size() - other.tested; untested > 0)
            line("{} not tested there, because units are missing.",
                 plural(untested, "pattern is", "patterns are"));
    }

    std::string title() const {
        return fmt::format("{}{} ({})", p_.tested() ? "Significant patterns" : "Patterns",
                           p_.tested() ? "" : ", most spikes first", p_.report.patterns);
    }

    void patterns() {
        if (p_.report.patterns == 0) return;  // the first line states it
        line("\n{}", bold(title()));
        const std::size_t shown = std::min(p_.order.size(), most_patterns);
        for (std::size_t k = 0; k < shown; ++k) {
            const std::size_t i = p_.order[k];
            std::string note = fmt::format("{} times", p_.report.table.counts[i]);
            if (const signature_test* test = p_.tests[i]) note += test_text(*test);
            if (const pattern_replication* other = p_.replicated(i))
                note += fmt::format("; elsewhere {} times, {} expected, q {}", other->count,
                                    shown_number(other->expected), p_text(other->q));
            line("  {}  ({})", bold(p_.chain(i)), note);
        }
        if (p_.report.patterns > shown) line("  … and {} more", p_.report.patterns - shown);
    }

    // A signature that is kept without a test has a p of 0, and no q.
    std::string test_text(const signature_test& test) const {
        if (test.p == 0) return fmt::format(", p {}", p_.p_words(test.p));
        return fmt::format(", p {}, q {}", p_text(test.p), p_text(test.q));
    }

    void signatures() {
        if (!p_.tested()) return;
        std::vector<const signature_test*> all;
        for (const signature_test& test : p_.report.assessment->tests.signatures)
            all.push_back(&test);
        if (all.empty()) return;
        const auto significant =
            std::ranges::count_if(all, [](const auto* test) { return test->significant; });
        std::ranges::stable_sort(all, {}, [](const auto* test) { return test->p; });
        line("\n{}", bold(fmt::format("Signatures ({}, {} significant)", all.size(), significant)));
        const std::size_t shown = std::min(all.size(), most_signatures);
        for (std::size_t k = 0; k < shown; ++k) line("  {}", signature_text(*all[k]));
        if (all.size() > shown) line("  … and {} more", all.size() - shown);
    }

    std::string signature_text(const signature_test& test) const {
        const std::string lasting =
            p_.report.spectrum == spectrum_kind::size_count
                ? ""
                : fmt::format(", {} ms", milliseconds(p_.report.axes.bin * test.what.duration));
        const std::string what_of_it = test.tested   ? fmt::format("q {}", p_text(test.q))
                                       : test.p == 0 ? "kept without a test"
                                                     : std::string(to_string(test.reason));
        return fmt::format("{} spikes, {} times{}: {}, p {}, {}{}", test.what.size, test.what.count,
                           lasting, plural(test.patterns, "pattern", "patterns"),
                           p_.p_words(test.p), what_of_it,
                           test.significant ? "" : ", not significant");
    }

    void funnel() {
        line("\n{}", bold("Steps"));
        for (const funnel_step& step : p_.report.funnel)
            line("  {:<28} {:>12}{}", step.step, step.left,
                 step.removed == 0 ? "" : fmt::format("  {} removed: {}", step.removed, step.why));
    }

    const pattern_view& p_;
};

}  // namespace

std::string verdict_of(const pattern_view& p) {
    const std::string_view tested = p.tested() ? "significant " : "";
    std::string text = p.report.patterns == 0
                           ? fmt::format("No {}pattern", tested)
                           : fmt::format("{} {}{}", core::grouped(p.report.patterns), tested,
                                         p.report.patterns == 1 ? "pattern" : "patterns");
    if (p.report.patterns > 0 && !p.streamed()) {
        std::size_t least = p.report.table.items.size();
        std::size_t most = 0;
        for (std::size_t i = 0; i < p.report.table.size(); ++i) {
            const std::size_t size = p.report.table.pattern(i).size();
            least = std::min(least, size);
            most = std::max(most, size);
        }
        text += fmt::format(" of {} spikes", range_text(least, most));
    }
    text += fmt::format(" among {}", plural(p.report.axes.unit_names.size(), "unit", "units"));
    text +=
        p.tested()
            ? fmt::format(
                  "; {} tested against {}, {}",
                  plural(p.report.assessment->tests.signatures.size(), "signature", "signatures"),
                  plural(p.report.assessment->spectrum.surrogates, "surrogate", "surrogates"),
                  level_text(p.report.testing.correction, p.report.testing.alpha))
            : ", not tested";
    if (const auto& other = p.report.replication)
        text += fmt::format("; {} of {} replicated", core::grouped(other->replicated),
                            core::grouped(other->tested));
    return with_warnings(text + ".", p.report.run.warnings.size());
}

}  // namespace spikeweave::report

namespace spikeweave {

std::string verdict_of(const pattern_report& report) {
    return report::verdict_of(report::pattern_view(report));
}

std::string summarize(const pattern_report& report, bool colour) {
    const report::pattern_view p(report);
    return report::pattern_page(p, colour).written();
}

namespace {

// Shows rules as "86 (2 spikes of 2 or more units); 25 (3 or more spikes of as many units)"
std::string rules_text(const std::vector<pattern_rule>& rules) {
    const auto of_one_size_each_another_unit = [](const pattern_rule& rule) {
        return rule.min_neu == rule.min_spikes &&
               (rule.max_spikes == rule.min_spikes || rule.max_spikes == 0);
    };
    std::string text;
    for (auto rule = rules.begin(); rule != rules.end(); ++rule) {
        // The estimate has a rule for each size; the rules of the larger sizes are the same.
        auto last = rule;
        if (of_one_size_each_another_unit(*rule))
            while (last->max_spikes != 0 && std::next(last) != rules.end() &&
                   of_one_size_each_another_unit(*std::next(last)) &&
                   std::next(last)->min_spikes == last->min_spikes + 1 &&
                   std::next(last)->min_occ == last->min_occ)
                ++last;
        const std::string sizes = last->max_spikes == 0
                                      ? fmt::format("{} or more", rule->min_spikes)
                                  : last->max_spikes == rule->min_spikes
                                      ? fmt::format("{}", rule->min_spikes)
                                      : fmt::format("{} to {}", rule->min_spikes, last->max_spikes);
        const std::string units =
            rule == last ? fmt::format("{} or more", rule->min_neu) : "as many";
        text += fmt::format("{}{} ({} spikes of {} units)", text.empty() ? "" : "; ", rule->min_occ,
                            sizes, units);
        rule = last;
    }
    return text;
}

std::string why_method(const pattern_report& report, const spade_options& asked) {
    if (asked.method) return "";
    if (report.surrogate.method == surrogate_method::trial_shifting)
        return " (chosen because there are trials)";
    if (follows_elephant(asked.compat)) return " (Elephant's default, because of `compat`)";
    return " (the default without trials)";
}

std::string devices_text(const run_record& run) {
    if (run.devices.empty()) return {};
    std::vector<int> ordinals;
    ordinals.reserve(run.devices.size());
    for (const device_info& one : run.devices) ordinals.push_back(one.ordinal);
    return fmt::format(", on {}", format_devices(ordinals));
}

}  // namespace

// The values are what nlohmann::json takes for a pattern with its numbers, for an item and for an
// occurrence, and their text.
std::uint64_t json_bytes(const pattern_report& report) {
    constexpr std::uint64_t per_pattern = 1500;
    constexpr std::uint64_t per_item = 250;
    constexpr std::uint64_t per_occurrence = 60;
    return per_pattern * report.table.size() + per_item * report.table.items.size() +
           per_occurrence * report.table.occurrences.size();
}

std::string summarize_search(const pattern_report& report, const spade_options& asked) {
    const bool estimated =
        asked.rules.empty() && std::holds_alternative<auto_min_occ>(asked.min_occ);
    std::string text =
        fmt::format("\nat least   {}{}\n", rules_text(report.mining.rules),
                    estimated ? " (estimated from the rates; `min_occ` sets others)" : "") +
        fmt::format("strategy   {}{}\n", to_string(report.ran_on),
                    asked.is_tested() ? "" : devices_text(report.run));
    if (asked.is_tested())
        text += fmt::format("surrogates {} by {}, dither {}{}{}\n", report.surrogate.surrogates,
                            to_string(report.surrogate.method),
                            format_duration(report.surrogate.dither), why_method(report, asked),
                            devices_text(report.run));
    return text;
}

}  // namespace spikeweave
