#include "spikeweave/pipeline/compare/episodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>

#include "parallel/parallel_for.hpp"
#include "pipeline/call_facts.hpp"
#include "pipeline/compare/findings.hpp"
#include "pipeline/compare/samples.hpp"
#include "pipeline/episodes/finding_counts.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {

using pipeline::add_new_warnings;
using pipeline::change_rules;
using pipeline::compared_samples;
using pipeline::count_sample;
using pipeline::direct_edges_and_chains;
using pipeline::most_expected;
using pipeline::sample_counts;

namespace {

using found_episodes = std::map<episode, std::array<std::size_t, 2>>;

change_rules change_rules_of(const episode_comparison_options& options) {
    return {options.permutation, options.change_alpha, options.change_correction};
}

// Searches these spikes for direct edges and chains.
void search(const spike_sequence& spikes, const episode_options& how, const execution& run,
            episode_comparison& out, const std::function<void(const episode&)>& found) {
    const episode_result result = find_episodes(spikes, how, run);
    add_new_warnings(out.warnings, result.warnings);
    for (const episode& one : direct_edges_and_chains(result)) found(one);
}

// The threshold is the same for all searches: the lowest that one of them would have.
found_episodes find_in(const compared_samples& taken, episode_comparison& out,
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

std::vector<sample_counts> count_all(const compared_samples& taken,
                                     std::span<const episode> findings,
                                     const episode_comparison_options& options, execution run) {
    run.threads = options.run.threads;
    std::vector<sample_counts> out(taken.samples.size());
    parallel::parallel_for(out.size(), run, "counting in both conditions", [&](std::size_t s) {
        out[s] = count_sample(within_epochs(taken.spikes, taken.samples[s]), findings,
                              options.mining.ties, options.significance.jitter_window, run.stop);
    });
    return out;
}

void test_condition_findings(episode_comparison& out, std::span<const sample_counts> samples,
                             const compared_samples& taken, execution run) {
    run.threads = out.options.run.threads;
    std::vector<condition_change*> findings;
    std::vector<std::size_t> turned;
    findings.reserve(out.findings.size());
    turned.reserve(out.findings.size());
    for (episode_change& one : out.findings) {
        turned.push_back(most_expected(samples, findings.size(), one.what.size()));
        findings.push_back(&one);
    }
    const auto counted_in = [&](std::size_t f, std::size_t s) {
        return pipeline::counted_in_sample{samples[s].counts[f], samples[s].first_spikes[f],
                                           samples[s].expected[f][turned[f]],
                                           samples[s].removed[f][turned[f]]};
    };
    for (std::size_t f = 0; f < findings.size(); ++f)
        for (std::size_t s = 0; s < samples.size(); ++s)
            out.findings[f].removed[s < taken.samples_a ? 0 : 1] += counted_in(f, s).per;
    pipeline::test_changes(findings, taken, counted_in, change_rules_of(out.options), run);
}

}  // namespace

template <>
enum_table<findings_source> enum_names<findings_source>() {
    using enum findings_source;
    static constexpr named_value<findings_source> values[]{
        {together, "together", "all spikes of both conditions"},
        {either, "either", "each recording or condition separately"}};
    return {"source of findings", values};
}

option_list describe(episode_comparison_options& options) {
    option_list list;
    list.begin_group("Comparison");
    list.add("findings", options.findings,
             "where the episodes to compare are searched for: in the spikes of both conditions "
             "together, or in those of either condition, which also finds episodes that only one "
             "of them has, but then weak ones look changed too often");
    pipeline::describe_changes(list, options.block, options.permutation, options.change_alpha,
                               options.change_correction);
    list.add_all(describe(options.mining));
    list.add_all(describe(options.significance));
    list.add_all(describe(options.run,
                          "where to search: cpu, cuda (the first GPU), cuda:0,1 (these), cuda:all, "
                          "or automatic (the first GPU for many spikes)"));
    return list;
}

episode_comparison compare_episodes(const compared_recordings& recordings,
                                    const episode_comparison_options& options,
                                    const execution& run) {
    const pipeline::stop_watch watch;
    check_options(options);
    const compared_samples taken = pipeline::take_samples(recordings, options.block);
    episode_comparison out{.unit_names = taken.spikes.unit_names(),
                           .conditions = taken.conditions,
                           .samples = taken.kind,
                           .options = options,
                           .warnings = taken.warnings};
    out.labellings = pipeline::labellings_of(taken, change_rules_of(options));

    std::vector<episode> findings;
    for (const auto& [what, found] : find_in(taken, out, run)) {
        findings.push_back(what);
        episode_change& one = out.findings.emplace_back();
        one.what = what;
        one.found = found;
    }
    const std::vector<sample_counts> samples = count_all(taken, findings, out.options, run);
    test_condition_findings(out, samples, taken, run);
    add_new_warnings(out.warnings, pipeline::warnings_of_few(findings.size(), out.labellings,
                                                             change_rules_of(options)));
    add_new_warnings(out.warnings, recordings.warnings);
    std::ranges::stable_sort(out.findings, {},
                             [](const episode_change& one) { return one.what.size(); });
    out.seconds = watch.seconds();
    return out;
}

}  // namespace spikeweave
