#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// Recordings whose units share at most their rates: any connection that is found is false.
namespace null_recordings {

struct null {
    std::string_view name;
    std::vector<spikeweave::delay_interval> delays;
};

/// Returns all nulls.
std::vector<null> all();
/// Four of them, unlike each other.
inline constexpr std::array<std::string_view, 4> usual_nulls{"poisson", "slow", "own-bursts",
                                                             "gamma"};
/// Recordings whose units fire in an order that is faster than a cell, without connections: the
/// test of pairs cannot distinguish them from connections, so a warning must be given.
///   "stimulus"  each unit answers each of two stimuli a second at a latency of its own, to 1.5 ms
///   "ripples"   ripples of 150 Hz, in which each unit prefers a phase of its own
///   "gamma-rhythm"  a rhythm of 40 Hz all the time, with a phase for each unit
inline constexpr std::array<std::string_view, 3> ordered_nulls{"stimulus", "ripples",
                                                               "gamma-rhythm"};
/// Makes a recording of one of them; or of "own-bursts-denser", which is "own-bursts" with mean
/// intervals in bursts of 4 ms instead of 12 ms in the first half, and as many spikes.
/// @throws invalid_argument for an unknown name
spikeweave::spike_sequence make(std::string_view name, std::int64_t length_s, std::uint32_t seed);

/// The seeds of the recordings of a measurement, or its rows.
struct seed_range {
    std::size_t first = 0;
    std::size_t count = 0;
};
/// Reads a number of recordings, or the seeds FROM:TO without TO.
/// @throws invalid_argument if there is no seed
seed_range seeds_of(const std::string& recordings);

/// From one unit to another; the strength is the probability that a spike is followed.
struct connection {
    std::uint32_t from;
    std::uint32_t to;
    double strength;
};
/// Adds connections: spikes of the first unit are followed by one of the second after 4.2 to
/// 5.8 ms.
spikeweave::spike_sequence with_connections(const spikeweave::spike_sequence& null,
                                            std::span<const connection> connections,
                                            std::uint32_t seed);

/// The same in the first `planted_pairs` pairs of units.
inline constexpr std::uint32_t planted_pairs = 5;
using pair_strengths = std::array<double, planted_pairs>;
spikeweave::spike_sequence with_connections(const spikeweave::spike_sequence& null,
                                            const pair_strengths& strengths, std::uint32_t seed);
/// The same with one strength for all.
spikeweave::spike_sequence with_connections(const spikeweave::spike_sequence& null, double strength,
                                            std::uint32_t seed);
/// One recording after another, of the same units.
spikeweave::spike_sequence joined(const spikeweave::spike_sequence& one,
                                  const spikeweave::spike_sequence& next);
/// Keeps each spike with this probability.
spikeweave::spike_sequence thinned(const spikeweave::spike_sequence& spikes, double kept,
                                   std::uint32_t seed);

}  // namespace null_recordings
