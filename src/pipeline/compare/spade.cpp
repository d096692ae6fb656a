#include "spikeweave/pipeline/compare/spade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "core/text.hpp"
#include "parallel/parallel_for.hpp"
#include "pipeline/call_facts.hpp"
#include "pipeline/compare/findings.hpp"
#include "spikeweave/assess/spade/support.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/spade.hpp"
#include "spikeweave/mine/spade/detector.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {
namespace {

// The patterns with units in all recordings, as a table of these units.
struct patterns_to_count {
    pattern_table table{};
    std::vector<named_pattern> names{};
    std::size_t left_out = 0;
};

patterns_to_count patterns_in(const spike_sequence& spikes, const named_patterns& given) {
    if (given.bin <= duration{0}) throw invalid_argument("patterns have a bin above 0");
    std::map<std::string_view, std::size_t> units;
    for (std::size_t u = 0; u < spikes.unit_count(); ++u) units.emplace(spikes.unit_names()[u], u);
    patterns_to_count out;
    for (const named_pattern& pattern : given.patterns)
        for (const named_spike& one : pattern) {
            if (one.lag > pattern_detector::most_lag)
                throw invalid_argument(fmt::format("the lag of {} bins is above {}", one.lag,
                                                   pattern_detector::most_lag));
            out.table.window_bins = std::max(out.table.window_bins, one.lag + 1);
        }
    if (spikes.unit_count() * out.table.window_bins > std::numeric_limits<std::int32_t>::max())
        throw invalid_argument("too many units for patterns that are so long");
    for (const named_pattern& pattern : given.patterns) {
        std::vector<std::pair<std::uint32_t, std::size_t>> items;
        for (const auto& [unit, lag] : pattern)
            if (const auto found = units.find(unit); found != units.end())
                items.emplace_back(lag, found->second);
        if (items.size() < pattern.size()) {
            ++out.left_out;
            continue;
        }
        std::sort(items.begin(), items.end());
        if (items.empty() || items.front().first != 0)
            throw invalid_argument("the first spike of a pattern has lag 0");
        std::vector<pattern_item> of_table;
        named_pattern& named = out.names.emplace_back();
        for (const auto& [lag, unit] : items) {
            of_table.push_back(static_cast<pattern_item>(unit * out.table.window_bins + lag));
            named.push_back({spikes.unit_names()[unit], lag});
        }
        out.table.append(of_table, 0);
    }
    if (out.names.empty())
        throw invalid_argument(given.patterns.empty()
                                   ? "no pattern is given to compare"
                                   : "no pattern has only units that are in all recordings");
    return out;
}

using counted_patterns = std::vector<pipeline::counted_in_sample>;

counted_patterns count_in(const spike_sequence& spikes, std::span<const time_span> epochs,
                          const pattern_table& patterns, duration bin,
                          const pattern_comparison_options& options, const std::stop_token& stop) {
    const spike_sequence joined =
        concatenate_epochs(spikes, epochs, 2 * bin * patterns.window_bins).spikes;
    const binning_options bins{.bin = bin};
    const binned_spikes binned = bin_spikes(joined, bins).spikes;
    const surrogate_maker maker(joined,
                                {.surrogates = options.surrogates,
                                 .method = surrogate_method::dither_spikes_with_refractory_period,
                                 .dither = options.dither,
                                 .seed = options.permutation.seed},
                                bins);
    const std::vector<pattern_support> found =
        test_support(binned, patterns, [&](std::uint32_t which) { return maker.make(which); },
                     options.surrogates, {.threads = 1, .stop = stop});
    counted_patterns out;
    out.reserve(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::size_t first = binned.bins(patterns.unit(patterns.pattern(i).front())).size();
        out.push_back({found[i].count, first, found[i].expected, static_cast<double>(first)});
    }
    return out;
}

}  // namespace

option_list describe(pattern_comparison_options& options) {
    option_list list;
    list.begin_group("Comparison");
    pipeline::describe_changes(list, options.block, options.permutation, options.change_alpha,
                               options.change_correction);
    list.add("surrogates", options.surrogates,
             "number of surrogates of each sample; the mean count in them is what the rates of the "
             "units predict")
        .at_least(1);
    list.add("dither", options.dither, "how far surrogates may move spikes").above(0).at_most(3600);
    list.add_all(describe_threads(options.run));
    return list;
}

pattern_comparison compare_patterns(const compared_recordings& recordings,
                                    const named_patterns& given,
                                    const pattern_comparison_options& options,
                                    const execution& run) {
    const pipeline::stop_watch watch;
    check_options(options);
    const pipeline::compared_samples taken = pipeline::take_samples(recordings, options.block);
    const pipeline::change_rules rules{options.permutation, options.change_alpha,
                                       options.change_correction};
    pattern_comparison out{.unit_names = taken.spikes.unit_names(),
                           .conditions = taken.conditions,
                           .samples = taken.kind,
                           .labellings = pipeline::labellings_of(taken, rules),
                           .bin = given.bin,
                           .options = options,
                           .warnings = taken.warnings};
    const patterns_to_count patterns = patterns_in(taken.spikes, given);
    if (patterns.left_out > 0)
        out.warnings.push_back(fmt::format(
            "{} of {} patterns have a unit that is not in all recordings, and are left out.",
            core::grouped(patterns.left_out), core::grouped(given.patterns.size())));

    execution counting = run;
    counting.threads = options.run.threads;
    std::vector<counted_patterns> counted(taken.samples.size());
    parallel::parallel_for(counted.size(), counting, "counting in both conditions",
                           [&](std::size_t s) {
                               counted[s] = count_in(taken.spikes, taken.samples[s], patterns.table,
                                                     given.bin, options, run.stop);
                           });
    out.findings.resize(patterns.names.size());
    std::vector<condition_change*> findings;
    findings.reserve(out.findings.size());
    for (std::size_t f = 0; f < out.findings.size(); ++f) {
        out.findings[f].what = patterns.names[f];
        findings.push_back(&out.findings[f]);
    }
    pipeline::test_changes(
        findings, taken, [&](std::size_t f, std::size_t s) { return counted[s][f]; }, rules,
        counting);
    pipeline::add_new_warnings(out.warnings,
                               pipeline::warnings_of_few(findings.size(), out.labellings, rules));
    pipeline::add_new_warnings(out.warnings, recordings.warnings);
    out.seconds = watch.seconds();
    return out;
}

}  // namespace spikeweave
