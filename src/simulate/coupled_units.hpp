#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::simulate {

/// A spike of `from` reaches `to` after `delay_ticks` ± `jitter_ticks`, each with equal
/// probability.
struct coupling {
    unit_id from;
    unit_id to;
    std::uint32_t delay_ticks;
    std::uint32_t jitter_ticks;
    /// The probability of at least one spike in the tick of arrival, without other input.
    double probability;
};

struct coupled_units {
    std::vector<std::string> names{};
    std::vector<coupling> couplings{};
    duration length{0};
    std::uint64_t seed = 0;
    random_purpose spikes{};
    /// Writes every unit's rate without input, in hertz, for the given tick. Called for tick 0, 1,
    /// …; rates that it does not write keep their values.
    std::function<void(std::int64_t, std::span<double>)> base_rates{};
};

/// Runs Poisson units that are coupled through a sigmoid of their summed input, on a clock of 1 ms
/// (docs/algorithms/episodes.md). Within a tick spike times are continuous. Each unit is refractory
/// for 1 ms.
spike_sequence run_coupled_units(const coupled_units& units, const execution& run);

/// The largest rate, -ln(1 - 0.99) spikes per tick.
double largest_rate_hz();

/// Returns -ln(1 - p) for 0 <= p < 1 by a power series in exactly rounded operations. Unlike the C
/// library's logarithm it is the same on every machine.
double minus_log_of_complement(double p);

/// Returns "prefix0", "prefix1", …
std::vector<std::string> numbered_names(std::string_view prefix, std::uint32_t n);

/// Plants chains over consecutive units from 0: adds their members, and their steps as planted
/// edges.
/// @throws invalid_argument if they do not fit, if the delay is not a whole number of milliseconds,
/// or if the probability is 1.
void plant_chains(std::span<const std::uint32_t> lengths, std::uint32_t units, duration delay,
                  double probability, simulated_spikes& into);

/// Converts to ticks.
/// @throws invalid_argument with the option's name if `d` is not a whole number of milliseconds.
std::uint32_t whole_ticks(duration d, const std::string& option);

}  // namespace spikeweave::simulate
