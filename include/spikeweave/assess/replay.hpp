#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/members.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// Replay: do chains that were found at one time occur again at another, faster or slower, in the
/// same or in the reverse order? Skaggs and McNaughton 1996, Science 271:1870; Nádasdy et al. 1999,
/// J. Neurosci. 19:9497; Lee and Wilson 2002, Neuron 36:1183. For formulas and the null models see
/// docs/algorithms/replay.md.
namespace spikeweave {

/// The factors by which all delays of a chain are multiplied, evenly spaced in their logarithm.
struct SPIKEWEAVE_API scale_grid {
    double least = 0.05;
    double most = 2;
    std::uint32_t steps = 12;

    /// The factors, ascending, to four decimals.
    std::vector<double> values() const;
    friend bool operator==(const scale_grid&, const scale_grid&) = default;
};

/// Grids are written "0.05:2:12": least, most, number of steps.
template <>
struct SPIKEWEAVE_API option_codec<scale_grid> {
    static constexpr auto kind = option_kind::text;
    static option_value show(const scale_grid& field);
    static scale_grid read(const option_value& value);
};

/// The chain with the bounds of all delays multiplied by `scale`, to the nearest microsecond. An
/// interval is at least 1 us wide.
/// @throws invalid_argument unless scale is above 0 and the delays remain below 2^62 us.
SPIKEWEAVE_API episode scaled_episode(const episode& chain, double scale);
/// The chain with the order of units and of delays reversed.
SPIKEWEAVE_API episode reversed_episode(const episode& chain);

/// The null model with which the counts of a chain are compared.
enum class replay_null : std::uint8_t {
    identities,  ///< in each event, the spike trains of the chain's active units are exchanged at
                 ///< random; occurrences are counted in events
    surrogates,  ///< surrogates of the spikes; occurrences are counted in all of the time
};
template <>
SPIKEWEAVE_API enum_table<replay_null> enum_names<replay_null>();

struct population_event_options {
    /// The smoothed spikes of all units exceed their mean by so many standard deviations.
    double threshold = 3;
    duration shortest = std::chrono::milliseconds{50};
    duration longest = std::chrono::seconds{1};
};
SPIKEWEAVE_API option_list describe(population_event_options& options);

/// Finds times in which many units fire. The spikes of all units are counted in bins of 5 ms and
/// smoothed by a triangle of ±30 ms. An event is where the count is above its mean throughout, and
/// somewhere `threshold` standard deviations above it.
/// @return half-open [begin, end), ascending; each within an epoch of the spikes
/// @throws invalid_argument if an option is out of range.
SPIKEWEAVE_API std::vector<time_span> find_population_events(
    const spike_sequence& spikes, const population_event_options& options = {});

struct replay_options {
    scale_grid scales{};
    replay_null null = replay_null::identities;
    /// Number and seed of the shuffles; the rest is for `replay_null::surrogates`.
    surrogate_options surrogates{.surrogates = 500, .dither = std::chrono::milliseconds{100}};
    tie_rule ties = tie_rule::time;
    /// An event is significant if p is at most this; chains, if q is below it.
    double alpha = 0.05;
};
SPIKEWEAVE_API option_list describe(replay_options& options);

enum class replay_direction : std::uint8_t { forward, reverse };
template <>
SPIKEWEAVE_API enum_table<replay_direction> enum_names<replay_direction>();

/// The test of a chain in one direction.
struct replay_test {
    std::size_t chain = 0;  ///< index among the given chains
    replay_direction direction = replay_direction::forward;
    /// The scale at which the count stands out most, in standard deviations of the shuffles.
    double scale = 1;
    std::uint64_t count = 0;  ///< occurrences at that scale, without overlap
    double expected = 0;      ///< mean over the shuffles
    double z = 0;             ///< (count - mean) / standard deviation
    /// The share of shuffles whose z at their own best scale is as large; at least 1/(shuffles +
    /// 1).
    double p = 1;
    double q = 1;                 ///< corrected for chains and directions (Benjamini and Hochberg)
    std::size_t scored = 0;       ///< events with at least three units of the chain
    std::size_t significant = 0;  ///< events whose order has p <= alpha
    double expected_significant = 0;
    double events_p = 1;  ///< probability of as many significant events by chance
    double events_q = 1;
};

template <>
struct members_of<replay_test> {
    static void list(const auto& to) {
        to("chain", &replay_test::chain, "the number of the chain, from 1");
        to("direction", &replay_test::direction, "`forward` or `reverse`");
        to("scale", &replay_test::scale,
           "the factor of all delays at which the count stands out most");
        to("count", &replay_test::count, "occurrences at that scale, without overlap");
        to("expected", &replay_test::expected, "mean count of the shuffles");
        to("z", &replay_test::z, "count minus mean, in standard deviations of the shuffles");
        to("p", &replay_test::p,
           "the probability of so large a z at the best scale by chance; q is corrected for chains "
           "and directions");
        to("q", &replay_test::q);
        to("events_scored", &replay_test::scored, "events with at least three units of the chain");
        to("events_significant", &replay_test::significant, "those with p of at most α");
        to("events_expected", &replay_test::expected_significant,
           "significant events that chance would give");
        to("events_p", &replay_test::events_p,
           "the probability of at least as many by chance; q is corrected as above");
        to("events_q", &replay_test::events_q);
    }
};

/// The order of a chain's units in one event.
struct replay_event {
    std::size_t event = 0;  ///< index among the events
    std::size_t chain = 0;
    std::size_t active = 0;  ///< units of the chain that fire in the event
    double tau = 0;          ///< Kendall's rank correlation with the chain's order, -1 to 1
    double p_forward = 1;  ///< share of all orders of these units that are as close to the chain's
    double p_reverse = 1;  ///< the same for the reverse order
};

template <>
struct members_of<replay_event> {
    static void list(const auto& to) {
        to("event", &replay_event::event, "the number of the event, from 1");
        to("chain", &replay_event::chain, "the number of the chain, from 1");
        to("active", &replay_event::active, "units of the chain that fire in the event");
        to("tau", &replay_event::tau, "Kendall's correlation with the chain's order, from −1 to 1");
        to("p_forward", &replay_event::p_forward,
           "share of all orders of these units that are as close to the chain's order, and to its "
           "reverse");
        to("p_reverse", &replay_event::p_reverse);
    }
};

struct replay_scores {
    std::vector<replay_test> tests{};    ///< two for each chain, forward first
    std::vector<replay_event> events{};  ///< by event, then by chain
};

/// Tests chains for replay. The result depends on the seed, but not on the number of threads.
/// @param spikes  if they have epochs, occurrences stay within an epoch
/// @param chains  found elsewhere: in the same spikes they are there by selection
/// @param events  half-open, ascending, without overlap, each within an epoch
/// @throws invalid_argument if an option is out of range, there is no chain or no event, or a chain
/// is invalid or has less than two units; cancelled.
SPIKEWEAVE_API replay_scores test_replay(const spike_sequence& spikes,
                                         std::span<const episode> chains,
                                         std::span<const time_span> events,
                                         const replay_options& options = {},
                                         const execution& run = {});

}  // namespace spikeweave
