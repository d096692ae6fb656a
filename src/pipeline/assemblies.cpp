#include "spikeweave/pipeline/assemblies.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "pipeline/call_facts.hpp"
#include "spikeweave/assess/shared_rates.hpp"

namespace spikeweave {
namespace {

// A quarter of the pairs, or more, is worth a word.
bool lacks_pairs(const assembly_step& step) {
    return step.size == 2 && step.untested > 0 && step.untested >= step.tests / 3;
}

// The width at which three quarters of the pairs are expected together in more than five bins,
// rounded up to 1, 2 or 5 times a power of ten; null if units fire so rarely that no bins of a
// second would do.
std::optional<duration> width_that_tests(const spike_sequence& spikes, duration more_than) {
    std::vector<double> counts(spikes.unit_count());
    for (const unit_id unit : spikes.units()) ++counts[to_index(unit)];
    std::ranges::sort(counts);
    const double few = counts.empty() ? 0 : counts[counts.size() / 8];
    constexpr double expected = 6;
    const double needed_s = expected * to_seconds(spikes.observed_time()) / (few * few);
    for (const int ms : {10, 20, 50, 100, 200, 500, 1'000})
        if (const duration width = std::chrono::milliseconds{ms};
            width > more_than && to_seconds(width) >= needed_s)
            return width;
    return {};
}

void warn_of_untested_pairs(const spike_sequence& spikes, assembly_result& result) {
    std::vector<std::string> widths;
    duration widest{0};
    for (const assembly_step& step : result.found.steps) {
        if (!lacks_pairs(step)) continue;
        widest = std::max(widest, step.bin);
        widths.push_back(fmt::format("{} of {} in bins of {}", core::grouped(step.untested),
                                     core::grouped(step.tests + step.untested),
                                     format_duration(step.bin)));
    }
    if (widths.empty()) return;
    const std::optional<duration> wider = width_that_tests(spikes, widest);
    result.warnings.push_back(fmt::format(
        "Pairs of units could not be tested, because they are expected together in 5 bins at most: "
        "{}. {} longer recording makes it possible.",
        fmt::join(widths, ", "),
        wider ? fmt::format("Wider `bins`, such as {:g}ms, or a",
                            std::chrono::duration<double, std::milli>(*wider).count())
              : "A"));
}

// Units that share a rhythm, a stimulus or bursts are an assembly by the definition of the method.
void warn_of_rates(const spike_sequence& spikes, assembly_result& result) {
    if (result.found.assemblies.empty()) return;
    constexpr std::uint64_t fewest_pairs = 10;
    const auto relates_many = [](const assembly_step& step) {
        return step.size == 2 && step.significant >= fewest_pairs &&
               4 * step.significant >= step.tests + step.untested;
    };
    const shared_rates rates = measure_shared_rates(spikes);
    const auto many = std::ranges::find_if(result.found.steps, relates_many);
    std::string sign;
    if (many != result.found.steps.end())
        sign = fmt::format("{} of {} tested pairs are significant in bins of {}",
                           core::grouped(many->significant), core::grouped(many->tests),
                           format_duration(many->bin));
    else if (rates.certain)
        sign = fmt::format(
            "the number of spikes of all units in 100 ms varies {:.3g} times as much "
            "as that of independent units",
            rates.ratio);
    else
        return;
    result.warnings.push_back(fmt::format(
        "The units' rates rise and fall together: {}. Units that share a rhythm, a stimulus or "
        "bursts are assemblies by the definition of this method, so the assemblies listed here may "
        "be nothing more than that. SPADE and episodes are tested against surrogates that preserve "
        "such rates.",
        sign));
}

void warn_of_what_was_not_searched(assembly_result& result) {
    std::vector<std::string> too_wide;
    for (const duration bin : result.found.too_wide) too_wide.push_back(format_duration(bin));
    if (!too_wide.empty())
        result.warnings.push_back(
            fmt::format("The recording is too short for bins of {}, which were not searched.",
                        core::listed(too_wide)));
    for (const assembly_step& step : result.found.steps)
        if (step.too_many)
            result.warnings.push_back(fmt::format(
                "In bins of {} there are {} assemblies of {} units, more than `max_assemblies`; "
                "larger ones were not searched.",
                format_duration(step.bin), core::grouped(step.kept), step.size));
}

}  // namespace

option_list describe(assembly_analysis_options& options) {
    option_list list = describe(options.time);
    list.add_all(describe(options.search));
    list.add_all(describe_threads(options.run));
    return list;
}

assembly_result find_assemblies(const spike_sequence& recording,
                                const assembly_analysis_options& options, const execution& run) {
    const pipeline::stop_watch watch;
    check_options(options);
    assembly_result result{.options = options};
    chosen_time chosen = choose_time(recording, options.time);
    result.warnings = std::move(chosen.warnings);
    result.chosen = std::move(chosen.spikes);
    execution mining = run;
    mining.threads = options.run.threads;
    result.found =
        mine_assemblies(result.chosen ? *result.chosen : recording, options.search, mining);
    warn_of_what_was_not_searched(result);
    warn_of_untested_pairs(result.chosen ? *result.chosen : recording, result);
    warn_of_rates(result.chosen ? *result.chosen : recording, result);
    result.seconds = watch.seconds();
    return result;
}

}  // namespace spikeweave
