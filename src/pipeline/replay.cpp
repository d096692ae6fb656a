#include "spikeweave/pipeline/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "pipeline/call_facts.hpp"
#include "spikeweave/assess/shared_rates.hpp"
#include "spikeweave/assess/surrogate_numbers.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

void check_events(const std::vector<time_span>& events) {
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (events[i].end <= events[i].begin)
            throw invalid_argument("events", fmt::format("event {} is empty", i + 1));
        if (i > 0 && events[i].begin < events[i - 1].end)
            throw invalid_argument("events",
                                   fmt::format("event {} begins before event {} ends", i + 1, i));
    }
}

// The given events that lie in what was observed, or those that are found there.
std::vector<time_span> events_in(const spike_sequence& spikes, replay_result& result) {
    const replay_analysis_options& options = result.options;
    std::vector<time_span> events = options.events;
    if (events.empty()) {
        events = find_population_events(spikes, options.population_events);
        if (events.empty())
            throw invalid_argument(
                "no event was found: a lower `event_threshold` or a larger `event_max` may find "
                "more, and `events` accepts a list");
        return events;
    }
    check_events(events);
    const std::vector<time_span> observed = spikes.observed();
    const auto is_outside = [&](const time_span& event) {
        return std::ranges::none_of(observed, [&](const time_span& part) {
            return part.begin <= event.begin && event.end <= part.end + duration{1};
        });
    };
    const std::size_t outside = std::erase_if(events, is_outside);
    if (events.empty())
        throw invalid_argument("events", "none of them is within the part that is analysed");
    if (outside > 0)
        result.warnings.push_back(fmt::format(
            "{} of {} events are not within the part that is analysed and are left out.",
            core::grouped(outside), core::grouped(options.events.size())));
    return events;
}

// A short chain can be in perfect order by chance more often than alpha allows.
void warn_of_short_chains(std::span<const episode> chains, replay_result& result) {
    const auto most = std::ranges::max(chains, {}, &episode::size).size();
    double orders = 1;
    for (std::size_t n = 2; n <= most; ++n) orders *= static_cast<double>(n);
    if (1 / orders > result.options.test.alpha)
        result.warnings.push_back(
            fmt::format("The longest chain has {} units, which have {:.0f} orders, so no single "
                        "event can be significant at `alpha` {}. Only the counts are tested.",
                        most, orders, result.options.test.alpha));
}

// Corrected, as in `test_replay`, for the two directions of all chains.
test_level level_of(const replay_options& options) {
    return {options.alpha, correction_method::benjamini_hochberg, level_rule::below};
}

void warn_of_few_shuffles(replay_result& result) {
    const replay_options& options = result.options.test;
    const std::vector<replay_test>& tests = result.scores.tests;
    const std::uint64_t shuffles = options.surrogates.surrogates;
    std::optional<std::string> warning = warn_of_few_surrogates(shuffles, level_of(options));
    const auto is_significant = [&](const replay_test& one) { return one.q < options.alpha; };
    if (!warning && std::ranges::none_of(tests, is_significant))
        warning = warn_of_many_tests("count of a chain", shuffles, tests.size(), level_of(options));
    if (warning) result.warnings.push_back(std::move(*warning));
}

// Surrogates of all spikes have no bursts, in which chains occur whatever their order is.
void warn_of_bursts(const spike_sequence& spikes, replay_result& result) {
    const replay_options& options = result.options.test;
    if (options.null != replay_null::surrogates) return;
    const surrogate_method method = options.surrogates.method;
    const bool is_local =
        method == surrogate_method::spike_dithering || method == surrogate_method::interval_jitter;
    const duration width = 2 * options.surrogates.dither;
    const shared_rates rates =
        is_local ? measure_rates_within_cells(spikes, width) : measure_shared_rates(spikes);
    if (!rates.certain) return;
    result.warnings.push_back(fmt::format(
        "The units' rates rise and fall together{}, as in bursts of the network, which surrogates "
        "do not keep: the number of spikes of all units varies {:.3g} times as much as that of "
        "independent units. Chains of any order are then significant. Use `null=identities`, the "
        "default, which keeps the bursts.",
        is_local ? fmt::format(" within {}", format_duration(width)) : "", rates.ratio));
}

}  // namespace

option_list describe(replay_analysis_options& options) {
    option_list list = describe(options.time);
    list.begin_group("Events");
    list.add("events", options.events, "the events in which chains are searched for")
        .basic()
        .written("EVENTS")
        .by_default("detected from the spikes of all units")
        .not_with({"event_threshold", "event_min", "event_max"});
    list.add_all(describe(options.population_events));
    list.add_all(describe(options.test));
    list.add_all(describe_threads(options.run));
    return list;
}

replay_result find_replay(const spike_sequence& recording, std::span<const episode> chains,
                          const replay_analysis_options& options, const execution& run) {
    const pipeline::stop_watch watch;
    check_options(options);
    replay_result result{.options = options};
    chosen_time chosen = choose_time(recording, options.time);
    result.warnings = std::move(chosen.warnings);
    result.chosen = std::move(chosen.spikes);
    const spike_sequence& spikes = result.chosen ? *result.chosen : recording;
    result.events = events_in(spikes, result);
    execution testing = run;
    testing.threads = options.run.threads;
    result.scores = test_replay(spikes, chains, result.events, options.test, testing);
    warn_of_short_chains(chains, result);
    warn_of_few_shuffles(result);
    warn_of_bursts(spikes, result);
    result.seconds = watch.seconds();
    return result;
}

}  // namespace spikeweave
