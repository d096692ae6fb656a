#pragma once

#include <cstdint>

#include "spikeweave/core/export.hpp"

namespace spikeweave {

/// A number of events, and for how long they were counted.
struct event_count {
    std::uint64_t events = 0;
    double seconds = 0;
};

/// The p-value of the hypothesis that two Poisson processes have the same rate. Given both counts
/// together, the second one is then binomial with the second one's share of the time (Przyborowski
/// and Wilenski 1940, Biometrika 31:313). Returns twice the smaller tail, at most 1; a p-value that
/// is too small for a double is 0. Counts with a variance above the mean, as those of bursts have,
/// have p-values that are too small.
/// @throws invalid_argument unless both times are above 0 and finite.
SPIKEWEAVE_API double rate_change_p_value(const event_count& one, const event_count& other);

}  // namespace spikeweave
