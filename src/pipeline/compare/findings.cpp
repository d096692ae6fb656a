#include "pipeline/compare/findings.hpp"

#include <fmt/format.h>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

// An excess is known where it is divided by more than this share of the spikes of the first unit.
// Where these fire so fast that a rotation removes hardly any follower, rounding would decide.
constexpr double least_known = 0.01;

// Recordings weigh the same, whatever their length.
ratio_sample sample_of(double amount, double per, sample_kind kind) {
    if (kind != sample_kind::recordings) return {amount, per};
    return per > 0 ? ratio_sample{amount / per, 1} : ratio_sample{};
}

// The quantities to test: the rates of all findings, then their excesses.
std::vector<std::vector<ratio_sample>> quantities_of(std::span<condition_change* const> findings,
                                                     const pipeline::compared_samples& taken,
                                                     const pipeline::finding_counter& counted) {
    std::vector<std::vector<ratio_sample>> out(2 * findings.size());
    for (std::size_t f = 0; f < findings.size(); ++f)
        for (std::size_t s = 0; s < taken.samples.size(); ++s) {
            const std::size_t condition = s < taken.samples_a ? 0 : 1;
            const auto [count, first_spikes, expected, per] = counted(f, s);
            findings[f]->counts[condition] += count;
            findings[f]->first_spikes[condition] += first_spikes;
            findings[f]->expected[condition] += expected;
            const auto occurrences = static_cast<double>(count);
            out[f].push_back(sample_of(occurrences, to_seconds(taken.observed[s]), taken.kind));
            const bool is_known = per > least_known * static_cast<double>(first_spikes);
            out[findings.size() + f].push_back(
                is_known ? sample_of(occurrences - expected, per, taken.kind) : ratio_sample{});
        }
    return out;
}

}  // namespace

template <>
enum_table<sample_kind> enum_names<sample_kind>() {
    using enum sample_kind;
    static constexpr named_value<sample_kind> values[]{
        {blocks, "blocks", "blocks of time"},
        {epochs, "epochs", "epochs of one recording"},
        {recordings, "recordings", "whole recordings"}};
    return {"kind of samples", values};
}

namespace pipeline {

void describe_changes(option_list& list, duration& block, permutation_options& permutation,
                      double& alpha, correction_method& correction) {
    list.add("block", block,
             "two recordings are compared in blocks of this length; a block must be longer than "
             "anything that lasts, such as a burst or a state")
        .basic()
        .above(0);
    list.add_all(describe(permutation));
    for (const char* const name : {"permutations", "seed", "confidence"})
        list.change(name).group = "Comparison";
    list.add("change_alpha", alpha,
             "significance level of changes: a change is significant if its q is below this")
        .above(0)
        .at_most(1)
        .written("Q");
    option& corrected = list.add("change_correction", correction,
                                 "correction for multiple testing, over the findings");
    std::erase_if(corrected.choices, [](const std::string& name) {
        return is_two_stage(value_named<correction_method>(name));
    });
    corrected.obeys([&correction] {
        if (is_two_stage(correction))
            throw invalid_argument(
                fmt::format("the q-values of {} hold for one alpha only", to_string(correction)));
    });
}

label_permutations labellings_of(const compared_samples& taken, const change_rules& rules) {
    const std::size_t samples_b = taken.samples.size() - taken.samples_a;
    const label_permutations out = permutations_of(taken.samples_a, samples_b, rules.permutation);
    if (out.smallest_p < rules.alpha) return out;
    throw invalid_argument(fmt::format(
        "{} and {} {} are too few: the smallest p that their labellings can give is {:.3g}, and "
        "`change_alpha` is {}{}",
        taken.samples_a, samples_b, to_string(taken.kind), out.smallest_p, rules.alpha,
        taken.kind == sample_kind::blocks ? "; a shorter `block` gives more of them" : ""));
}

void test_changes(std::span<condition_change* const> findings, const compared_samples& taken,
                  const finding_counter& counted, const change_rules& rules, const execution& run) {
    const std::vector<ratio_change> changes = compare_ratios(
        quantities_of(findings, taken, counted), taken.samples_a, rules.permutation, run);
    const std::size_t n = findings.size();
    const auto corrected = [&](std::size_t from) {
        std::vector<double> p;
        p.reserve(n);
        for (std::size_t f = 0; f < n; ++f) p.push_back(changes[from + f].p);
        return adjust_p_values(p, n, rules.correction);
    };
    const std::vector<double> rate_q = corrected(0);
    const std::vector<double> excess_q = corrected(n);
    for (std::size_t f = 0; f < n; ++f) {
        condition_change& finding = *findings[f];
        finding.rate = changes[f];
        finding.excess = changes[n + f];
        finding.rate_q = rate_q[f];
        finding.excess_q = excess_q[f];
        finding.change = excess_q[f] < rules.alpha ? change_kind::excess
                         : rate_q[f] < rules.alpha ? change_kind::rate
                                                   : change_kind::none;
    }
}

std::vector<std::string> warnings_of_few(std::size_t findings, const label_permutations& labellings,
                                         const change_rules& rules) {
    if (static_cast<double>(findings) * labellings.smallest_p < rules.alpha) return {};
    return {fmt::format(
        "With {} findings, one that changes alone cannot be significant, because no p is below "
        "{:.3g}: {}.",
        findings, labellings.smallest_p,
        labellings.exact ? "there are too few samples" : "give more `permutations`")};
}

}  // namespace pipeline
}  // namespace spikeweave
