#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// Spikes of a network with known synapses, to assess how well functional connectivity is inferred
/// from spikes. The same seed gives the same result on every machine.
namespace spikeweave {

/// Neurons with an adaptive threshold and conductance-based synapses, driven by noise, after Endo
/// et al. 2021 and Kobayashi et al. 2019 (docs/algorithms/network-model.md). Some of the neurons
/// are recorded, drawn at random. These units are named n0, n1, … in the order of the draw.
struct network_options {
    std::uint32_t neurons = 1000;
    std::uint32_t units = 60;  ///< recorded neurons
    duration length = std::chrono::minutes{30};
    /// Fraction of the neurons that are excitatory.
    double excitatory = 0.8;
    /// Mean of the lognormal distribution of EPSPs, and the standard deviation of their logarithm.
    double epsp_mv = 0.24;
    double epsp_spread = 1.3;
    /// Probability that an excitatory neuron has a synapse onto another neuron.
    double epsp_probability = 0.125;
    /// Range of the delays, in steps of 0.1 ms.
    duration epsp_low_delay = std::chrono::milliseconds{3};
    duration epsp_high_delay = std::chrono::milliseconds{5};
    /// Mean of the normal distribution from which the IPSPs are drawn; only values above 0 are
    /// kept.
    double ipsp_mv = 0.33;
    double ipsp_probability = 0.25;
    duration ipsp_low_delay = std::chrono::milliseconds{2};
    duration ipsp_high_delay = std::chrono::milliseconds{4};
    /// Mean excitatory background of all neurons, relative to the one of the published model.
    double drive = 1;
    /// Frequencies, in hertz, of rhythms in the background; each is shared by some neurons.
    std::vector<std::uint32_t> rhythms{7, 10, 20};
    double rhythmic = 0.3;       ///< fraction of the neurons that follow one of them
    double rhythm_depth = 0.03;  ///< mean amplitude, relative to the mean excitatory background
    double burst_rate_hz = 0;    ///< of network bursts; 0: none
    std::uint64_t seed = 0;
};
SPIKEWEAVE_API option_list describe(network_options& options);

/// A synapse between two recorded units.
struct synapse {
    unit_id from;
    unit_id to;
    duration delay;
    /// The peak of the postsynaptic potential at the mean background; negative for inhibition.
    double weight_mv;

    friend bool operator==(const synapse&, const synapse&) = default;
};

struct simulated_network {
    spike_sequence spikes;
    std::vector<synapse> truth{};  ///< by `from`, then `to`
};

/// @throws invalid_argument if an option is out of range, such as more units than neurons;
/// cancelled.
SPIKEWEAVE_API simulated_network simulate_network(const network_options& options = {},
                                                  const execution& run = {});

/// Writes the synapses as tab-separated text, one per line: from, to, delay_ms, weight_mv. Written
/// atomically. @throws io_error.
SPIKEWEAVE_API void write_truth(const std::filesystem::path& path,
                                const simulated_network& simulated);
/// Like the function for `simulated_spikes`.
SPIKEWEAVE_API void write_simulation(const std::filesystem::path& path,
                                     const simulated_network& simulated, const execution& run = {},
                                     bool overwrite = true);

}  // namespace spikeweave
