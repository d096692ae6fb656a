#pragma once

#include <cstdint>
#include <span>

namespace spikeweave::templates {

/// Number of pairs of a time of `a` and one of `b` that are `least` to `most` frames apart, in
/// either order.
/// @param a,b  ascending
std::uint64_t count_pairs(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                          std::int64_t least, std::int64_t most);

/// Number of such pairs to be expected of units of so many spikes that fire independently of each
/// other over the recording.
double expected_pairs(double a, double b, std::int64_t least, std::int64_t most,
                      double recording_frames);

/// Where fewer pairs are expected of independent units, few do not tell whether two are one neuron.
inline constexpr double least_telling_pairs = 4;
/// Whether two units fire together as independent neurons do: a neuron with itself, cut in two,
/// does not, because of its refractory period.
bool fire_independently(std::uint64_t found, double expected);

/// The spikes of two units that may be one neuron.
struct train_pair {
    std::span<const std::int64_t> a;  ///< ascending
    std::span<const std::int64_t> b;
    double rate_hz = 0;
    double recording_frames = 0;
};

/// Lags at which one neuron has no pairs with itself.
struct lag_range {
    std::int64_t least = 0;
    std::int64_t most = 0;

    bool operator==(const lag_range&) const = default;
};
struct pair_counts {
    std::uint64_t found = 0;
    double expected = 0;  ///< of units that fire independently
};
pair_counts pairs_at(const train_pair& units, const lag_range& lags);

/// From 0.6 ms, because a spike may be found twice and spikes that are nearer hide each other, to
/// the longest of some times up to 15 ms in which each unit has at most a tenth of the pairs that
/// chance makes; to 2.5 ms where chance makes too few.
lag_range refractory_lags(const train_pair& units);

/// Whether two units have one refractory period: of ten or more pairs that their rates around the
/// time lead one to expect at these lags, there is at most a tenth.
bool is_one_train(const train_pair& units, const lag_range& refractory);
/// The same with the pairs of the next 10 ms, which are many if both units have spikes of the
/// bursts of one neuron, and at most one more than a tenth of those by chance. A neuron that
/// excites another makes many pairs, too.
bool is_one_burst(const train_pair& units, const lag_range& refractory);

/// Whether spikes of both follow each other within 5 ms far more often than by chance, three times
/// and by ten pairs, and not at one lag, as remainders of spikes do. A synapse passes too few
/// spikes for that; the bursts of one neuron do it.
bool fire_in_bursts(const train_pair& units);

/// Whether one unit fires when the other does not, and both together more evenly than each alone:
/// a neuron whose waveform changes, as drift does it, is found as one unit and then as the other.
bool take_turns(const train_pair& units);

/// The largest share of spikes, beyond chance, that have a spike of the others at one lag of at
/// most 3 ms, give or take a quarter of a millisecond.
double share_at_one_lag(std::span<const std::int64_t> spikes, std::span<const std::int64_t> others,
                        double rate_hz);
/// The share of spikes, of those that do not by chance, that have one of the others within 2 ms.
/// Chance is that of the same spikes 20 ms before and after.
double share_beside(std::span<const std::int64_t> spikes, std::span<const std::int64_t> others,
                    double rate_hz);

}  // namespace spikeweave::templates
