#include "spikeweave/pipeline/episodes/conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "parallel/parallel_for.hpp"
#include "pipeline/episodes/condition_samples.hpp"
#include "pipeline/episodes/finding_counts.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {

using pipeline::condition_samples;
using pipeline::count_sample;
using pipeline::direct_edges_and_chains;
using pipeline::most_expected;
using pipeline::sample_counts;

namespace {

using found_episodes = std::map<episode, std::array<std::size_t, 2>>;

void add_new_warnings(std::vector<std::string>& to, const std::vector<std::string>& more) {
    for (const std::string& one : more)
        if (std::ranges::find(to, one) == to.end()) to.push_back(one);
}

void check_levels(const condition_samples& taken, const condition_options& options,
                  const label_permutations& labellings) {
    if (labellings.smallest_p < options.change_alpha) return;
    throw invalid_argument(fmt::format(
        "{} and {} {} are too few: the smallest p that their labellings can give is {:.3g}, and "
        "`change_alpha` is {}",
        taken.conditions[0].samples, taken.conditions[1].samples, to_string(taken.kind),
        labellings.smallest_p, options.change_alpha));
}

// Searches these spikes for direct edges and chains.
void search(const spike_sequence& spikes, const episode_options& how, const execution& run,
            condition_comparison& out, const std::function<void(const episode&)>& found) {
    const episode_result result = find_episodes(spikes, how, run);
    add_new_warnings(out.warnings, result.warnings);
    for (const episode& one : direct_edges_and_chains(result)) found(one);
}

// The threshold is the same for all searches: the lowest that one of them would have.
found_episodes find_in(const condition_samples& taken, condition_comparison& out,
                       const execution& run) {
    episode_options how;
    how.mining = out.options.mining;
    how.significance = out.options.significance;
    how.run = out.options.run;
    execution counting = run;
    counting.threads = how.run.threads;
    found_episodes found;
    if (out.options.findings == findings_source::together) {
        how.mining.min_count = resolve_threshold(taken.spikes, how.mining, counting);
    } else {
        std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
        for (const auto& [condition, epochs] : taken.searches)
            least = std::min(least, resolve_threshold(within_epochs(taken.spikes, epochs),
                                                      how.mining, counting));
        how.mining.min_count = least;
    }
    how.mining.min_fraction.reset();
    how.mining.min_rate.reset();
    out.options.mining = how.mining;
    if (out.options.findings == findings_source::together)
        search(taken.spikes, how, run, out, [&](const episode& what) { found[what]; });
    else
        for (const auto& [condition, epochs] : taken.searches)
            search(within_epochs(taken.spikes, epochs), how, run, out,
                   [&, c = condition](const episode& what) { ++found[what][c]; });
    return found;
}

std::vector<sample_counts> count_all(const condition_samples& taken,
                                     std::span<const episode> findings,
                                     const condition_options& options, execution run) {
    run.threads = options.run.threads;
    std::vector<sample_counts> out(taken.samples.size());
    parallel::parallel_for(out.size(), run, "counting in both conditions", [&](std::size_t s) {
        out[s] = count_sample(within_epochs(taken.spikes, taken.samples[s]), findings,
                              options.mining.ties, options.significance.jitter_window, run.stop);
    });
    return out;
}

// Recordings weigh the same, whatever their length.
ratio_sample sample_of(double amount, double per, sample_kind kind) {
    if (kind != sample_kind::recordings) return {amount, per};
    return per > 0 ? ratio_sample{amount / per, 1} : ratio_sample{};
}

// The quantities to test: the rates of all findings, then their excesses.
std::vector<std::vector<ratio_sample>> quantities_of(std::span<const sample_counts> samples,
                                                     const condition_samples& taken,
                                                     std::vector<episode_change>& findings) {
    std::vector<std::vector<ratio_sample>> out(2 * findings.size());
    for (std::size_t f = 0; f < findings.size(); ++f) {
        episode_change& finding = findings[f];
        const std::size_t turned = most_expected(samples, f, finding.what.size());
        for (std::size_t s = 0; s < samples.size(); ++s) {
            const std::size_t condition = s < taken.samples_a ? 0 : 1;
            const auto count = static_cast<double>(samples[s].counts[f]);
            const double expected = samples[s].expected[f][turned];
            finding.counts[condition] += samples[s].counts[f];
            finding.first_spikes[condition] += samples[s].first_spikes[f];
            finding.expected[condition] += expected;
            out[f].push_back(sample_of(count, samples[s].seconds, taken.kind));
            out[findings.size() + f].push_back(sample_of(
                count - expected, static_cast<double>(samples[s].first_spikes[f]), taken.kind));
        }
    }
    return out;
}

void test_changes(condition_comparison& out, std::span<const std::vector<ratio_sample>> quantities,
                  std::size_t samples_a, execution run) {
    run.threads = out.options.run.threads;
    const std::vector<ratio_change> changes =
        compare_ratios(quantities, samples_a, out.options.permutation, run);
    const std::size_t n = out.findings.size();
    const auto corrected = [&](std::size_t from) {
        std::vector<double> p;
        for (std::size_t f = 0; f < n; ++f) p.push_back(changes[from + f].p);
        return adjust_p_values(p, n, out.options.change_correction);
    };
    const std::vector<double> rate_q = corrected(0);
    const std::vector<double> excess_q = corrected(n);
    const double alpha = out.options.change_alpha;
    for (std::size_t f = 0; f < n; ++f) {
        episode_change& finding = out.findings[f];
        finding.rate = changes[f];
        finding.excess = changes[n + f];
        finding.rate_q = rate_q[f];
        finding.excess_q = excess_q[f];
        finding.change = excess_q[f] < alpha ? change_kind::excess
                         : rate_q[f] < alpha ? change_kind::rate
                                             : change_kind::none;
    }
}

}  // namespace

template <>
enum_table<findings_source> enum_names<findings_source>() {
    static constexpr std::array<named_value<findings_source>, 2> values{{
        {findings_source::together, "together", "all spikes of both conditions"},
        {findings_source::either, "either", "each recording or condition by itself"},
    }};
    return {"source of findings", values};
}

template <>
enum_table<sample_kind> enum_names<sample_kind>() {
    static constexpr std::array<named_value<sample_kind>, 3> values{{
        {sample_kind::blocks, "blocks", "blocks of time"},
        {sample_kind::epochs, "epochs", "epochs of one recording"},
        {sample_kind::recordings, "recordings", "whole recordings"},
    }};
    return {"kind of samples", values};
}

template <>
enum_table<change_kind> enum_names<change_kind>() {
    static constexpr std::array<named_value<change_kind>, 3> values{{
        {change_kind::none, "none", "no significant change"},
        {change_kind::rate, "rate", "as the rates of the units explain"},
        {change_kind::excess, "excess", "beyond what rates explain"},
    }};
    return {"kind of change", values};
}

option_list describe(condition_options& options) {
    option_list list;
    list.begin_group("Comparison");
    list.add("findings", options.findings,
             "where the episodes to compare are searched for: in the spikes of both conditions "
             "together, or in those of either condition, which also finds episodes that only one "
             "of them has, but then weak ones look changed too often");
    list.add("block", options.block,
             "two recordings are compared in blocks of this length; a block must be longer than "
             "anything that lasts, such as a burst or a state")
        .above(0);
    list.add_all(describe(options.permutation));
    for (const char* const name : {"permutations", "seed", "confidence"})
        list.change(name).group = "Comparison";
    list.add("change_alpha", options.change_alpha,
             "significance level of changes: a change is significant if its q is below this")
        .above(0)
        .at_most(1)
        .written("Q");
    option& correction = list.add("change_correction", options.change_correction,
                                  "correction for multiple testing, over the findings");
    std::erase_if(correction.choices, [](const std::string& name) {
        return is_two_stage(value_named<correction_method>(name));
    });
    correction.obeys([&method = options.change_correction] {
        if (is_two_stage(method))
            throw invalid_argument(
                fmt::format("the q-values of {} hold for one alpha only", to_string(method)));
    });
    list.add_all(describe(options.mining));
    list.add_all(describe(options.significance));
    list.add_all(describe(options.run,
                          "where to search: cpu, cuda (the first GPU), cuda:0,1 (these), cuda:all, "
                          "or automatic (the first GPU for many spikes)"));
    return list;
}

condition_comparison compare_conditions(std::span<const spike_sequence> a,
                                        std::span<const spike_sequence> b,
                                        const condition_options& options, const execution& run) {
    const auto began = std::chrono::steady_clock::now();
    check_options(options);
    const condition_samples taken = pipeline::take_samples(a, b, options.block);
    condition_comparison out{.unit_names = taken.spikes.unit_names(),
                             .conditions = taken.conditions,
                             .samples = taken.kind,
                             .options = options,
                             .warnings = taken.warnings};
    out.labellings = permutations_of(taken.conditions[0].samples, taken.conditions[1].samples,
                                     options.permutation);
    check_levels(taken, options, out.labellings);

    std::vector<episode> findings;
    for (const auto& [what, found] : find_in(taken, out, run)) {
        findings.push_back(what);
        out.findings.push_back({.what = what, .found = found});
    }
    const std::vector<sample_counts> samples = count_all(taken, findings, out.options, run);
    test_changes(out, quantities_of(samples, taken, out.findings), taken.samples_a, run);
    if (const auto n = static_cast<double>(findings.size());
        n * out.labellings.smallest_p >= options.change_alpha)
        out.warnings.push_back(fmt::format(
            "With {} findings, one that changes alone cannot be significant, because no p is below "
            "{:.3g}: {}.",
            findings.size(), out.labellings.smallest_p,
            out.labellings.exact ? "there are too few samples" : "give more `permutations`"));
    std::ranges::stable_sort(out.findings, {},
                             [](const episode_change& one) { return one.what.size(); });
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return out;
}

condition_comparison compare_epochs(const spike_sequence& spikes, std::span<const time_span> a,
                                    std::span<const time_span> b, const condition_options& options,
                                    const execution& run) {
    for (const time_span& one : a)
        for (const time_span& other : b)
            if (one.begin < other.end && other.begin < one.end)
                throw invalid_argument(
                    fmt::format("an epoch of each condition overlap: {} to {}, and {} to {}",
                                format_duration(one.begin), format_duration(one.end),
                                format_duration(other.begin), format_duration(other.end)));
    std::vector<std::string> warnings;
    const auto taken = [&](std::span<const time_span> epochs) {
        if (epochs.empty()) throw invalid_argument("each condition needs epochs");
        epoch_options these;
        these.epochs.assign(epochs.begin(), epochs.end());
        chosen_time chosen = choose_time(spikes, these);
        // That spikes are in no epoch of one condition says nothing.
        if (chosen.warnings.size() > 1) add_new_warnings(warnings, {chosen.warnings.front()});
        return std::move(*chosen.spikes);
    };
    const spike_sequence part_a = taken(a);
    const spike_sequence part_b = taken(b);
    condition_comparison out = compare_conditions({&part_a, 1}, {&part_b, 1}, options, run);
    out.conditions[0].recordings = out.conditions[1].recordings = 1;
    add_new_warnings(out.warnings, warnings);
    return out;
}

}  // namespace spikeweave
