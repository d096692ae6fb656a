#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/core/random.hpp"

/// The neurons of docs/algorithms/network-model.md, on a clock of 0.1 ms.
namespace spikeweave::simulate {

constexpr std::int64_t network_step_us = 100;
constexpr std::int64_t network_steps_per_second = 1'000'000 / network_step_us;

/// The constants of all neurons of one kind.
struct neuron_kind {
    double membrane_ms;   ///< time constant
    double threshold_mv;  ///< at rest
    double fast_mv;       ///< mean rise of the threshold after a spike, which decays in 10 ms
    double fast_sd_mv;    ///< its standard deviation between neurons
    double slow_mv;       ///< the rise that decays in 200 ms
};
const neuron_kind& kind_of_neuron(bool excitatory);

/// The conductance (times a step, by the capacitance) of a synapse whose postsynaptic potential
/// has a peak of 1 mV, for a small potential at the mean background.
double conductance_of_1_mv(bool from_excitatory, bool to_excitatory);

/// The states of all neurons, and what arrives at them in the coming steps.
class network_neurons {
public:
    /// @param longest_delay  in steps
    network_neurons(std::uint64_t seed, std::span<const std::uint8_t> excitatory,
                    std::uint32_t longest_delay);

    /// Sets the mean excitatory background of a neuron, relative to the published one.
    void set_drive(std::uint32_t neuron, double relative);

    /// Adds to a conductance after `delay` steps, counted from the last step; it is at least 1.
    void send(std::uint32_t neuron, bool excitatory, std::uint32_t delay, float conductance) {
        // A division would take longer than all else here.
        const std::size_t slot = slot_ + delay < slots_ ? slot_ + delay : slot_ + delay - slots_;
        (excitatory ? excitation_ : inhibition_)[slot * padded_ + neuron] += conductance;
    }

    /// Computes one step. Returns the neurons that fire at its end, in ascending order.
    std::span<const std::uint32_t> step();

    double potential_mv(std::uint32_t neuron) const;

private:
    static constexpr std::size_t width = 64;

    // Neurons side by side, so that a processor computes several of them at once.
    struct block {
        std::array<float, width> potential;
        std::array<float, width> synaptic_excitation;
        std::array<float, width> synaptic_inhibition;
        std::array<float, width> excitation_noise;  // of the background, around its mean
        std::array<float, width> inhibition_noise;
        std::array<float, width> mean_excitation;
        std::array<float, width> leak;
        std::array<float, width> floor;  // the threshold at rest
        std::array<float, width> fast;   // the contribution of spikes
        std::array<float, width> slow;
        std::array<std::uint32_t, width> excitation_coins;  // one bit is used a step
        std::array<std::uint32_t, width> inhibition_coins;
    };
    friend struct network_kernel;

    void toss_coins();
    void fire(std::uint32_t neuron);
    void end_refractory_periods();

    std::size_t neurons_;
    std::size_t padded_;
    std::size_t slots_;
    std::uint64_t now_ = 0;  // steps done
    std::size_t slot_ = 0;   // of the last step
    std::vector<block> blocks_;
    std::vector<random_stream> noise_;
    std::vector<float> rise_mv_;  // of the fast threshold, for each neuron
    std::vector<std::uint8_t> excitatory_;
    std::vector<float> excitation_;  // the arriving input, a row for each coming step
    std::vector<float> inhibition_;
    std::vector<std::vector<std::uint32_t>> refractory_;  // by the step in which they recover
    std::vector<std::uint32_t> fired_;
};

}  // namespace spikeweave::simulate
