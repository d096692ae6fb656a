#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "simulate/option_parts.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/simulate/network.hpp"

namespace spikeweave {

using simulate::add_length;
using simulate::add_number_of;
using simulate::add_numbers;
using simulate::add_seed;
using simulate::option_group;

namespace {

option& add_share(option_list& list, std::string name, double& field, std::string help) {
    return list.add(std::move(name), field, std::move(help)).at_least(0).at_most(1).written("P");
}

void add_delays(option_list& list, const std::string& of, duration& low, duration& high,
                const std::string& neurons) {
    constexpr double shortest_s = 1e-4;
    constexpr double longest_delay_s = 1;
    list.add(of + "_low_delay", low, "shortest delay of a synapse of an " + neurons + " neuron")
        .at_least(shortest_s)
        .at_most(longest_delay_s);
    list.add(of + "_high_delay", high, "longest delay of a synapse of an " + neurons + " neuron")
        .at_least(shortest_s)
        .at_most(longest_delay_s);
}

void add_synapses(option_list& list, network_options& options) {
    constexpr double most_mv = 5;
    constexpr double most_spread = 3;
    const auto add_size = [&](const char* name, double& field, const char* help) {
        list.add(name, field, help).above(0).at_most(most_mv).written("MV");
    };
    add_size("epsp", options.epsp_mv,
             "mean peak of excitatory postsynaptic potentials, which are lognormal, in mV");
    list.add("epsp_spread", options.epsp_spread,
             "standard deviation of the logarithm of excitatory potentials; 0: all are the same")
        .at_least(0)
        .at_most(most_spread)
        .written("X");
    add_share(list, "epsp_probability", options.epsp_probability,
              "probability that an excitatory neuron is connected to another neuron");
    add_delays(list, "epsp", options.epsp_low_delay, options.epsp_high_delay, "excitatory");
    add_size("ipsp", options.ipsp_mv,
             "mean of the normal distribution from which the peaks of inhibitory postsynaptic "
             "potentials are drawn, in mV; only values above 0 are kept");
    add_share(list, "ipsp_probability", options.ipsp_probability,
              "probability that an inhibitory neuron is connected to another neuron");
    add_delays(list, "ipsp", options.ipsp_low_delay, options.ipsp_high_delay, "inhibitory");
}

void add_rhythms(option_list& list, std::vector<std::uint32_t>& rhythms, std::uint32_t most_hz) {
    add_numbers(list, "rhythms", rhythms,
                "frequencies of the rhythms of the background, each shared by some neurons")
        .written("HZ,HZ,...|none")
        .obeys([&rhythms, most_hz] {
            for (const std::uint32_t hz : rhythms)
                if (hz < 1 || hz > most_hz)
                    throw invalid_argument(
                        fmt::format("expected whole numbers from 1 to {}, found {}", most_hz, hz));
        });
}

void add_background(option_list& list, network_options& options) {
    constexpr double most_drive = 2;
    constexpr std::uint32_t fastest_rhythm_hz = 100;
    constexpr double most_bursts_hz = 4;
    list.add("drive", options.drive,
             "mean excitatory background of the neurons, relative to the published one; rates rise "
             "steeply with it")
        .at_least(0)
        .at_most(most_drive)
        .written("X");
    add_rhythms(list, options.rhythms, fastest_rhythm_hz);
    add_share(list, "rhythmic", options.rhythmic,
              "fraction of neurons that follow one of the rhythms");
    add_share(list, "rhythm_depth", options.rhythm_depth,
              "mean amplitude of the rhythms, as a fraction of the mean excitatory background");
    list.add("burst_rate", options.burst_rate_hz,
             "mean rate of network bursts, in which all neurons get more background for 200 ms")
        .at_least(0)
        .at_most(most_bursts_hz)
        .written("HZ");
}

}  // namespace

option_list describe(network_options& options) {
    constexpr double most_neurons = 20'000;
    option_list list;
    list.begin_group(option_group);
    add_length(list, options.length);
    list.add("neurons", options.neurons, "number of neurons").at_least(1).at_most(most_neurons);
    add_number_of(list, "units", options.units,
                  "number of neurons that are recorded, drawn at random; they are named n0, n1 and "
                  "so on");
    add_share(list, "excitatory", options.excitatory, "fraction of neurons that are excitatory");
    add_synapses(list, options);
    add_background(list, options);
    add_seed(list, options.seed);
    return list;
}

}  // namespace spikeweave
