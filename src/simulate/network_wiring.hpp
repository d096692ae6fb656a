#pragma once

#include <cstdint>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/simulate/network.hpp"

namespace spikeweave::simulate {

/// A synapse onto neuron `to`, with its delay in steps.
struct wire {
    std::uint32_t to;
    std::uint32_t delay_steps;
    float conductance;
    float weight_mv;  ///< negative for inhibition
};

/// The numbers drawn before the network runs: everything but the noise.
struct network_wiring {
    std::vector<std::uint8_t> excitatory{};  ///< for each neuron
    std::vector<std::vector<wire>> wires{};  ///< of each neuron, by `to`
    std::vector<std::uint32_t> recorded{};   ///< the neuron of each unit
    std::vector<double> drive{};             ///< of each neuron, without rhythms
    std::vector<std::uint32_t> rhythm{};     ///< index of its rhythm
    std::vector<double> depth{};             ///< of its rhythm; 0 for none
    std::uint32_t longest_delay = 1;
};
network_wiring draw_wiring(const network_options& options, const execution& run);

/// Converts to steps, to the nearest one.
std::uint32_t network_steps(duration d);

/// Returns e^x by a power series, in exactly rounded operations, for |x| < 100.
double exponential_of(double x);
/// Returns the sine of a full turn's part, in exactly rounded operations, for 0 <= turns <= 1.
double sine_of_turns(double turns);

}  // namespace spikeweave::simulate
