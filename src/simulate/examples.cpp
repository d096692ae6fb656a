#include "spikeweave/simulate/examples.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/core/nearest_name.hpp"

namespace spikeweave {

using namespace std::chrono_literals;

std::span<const example_recording> example_recordings() {
    static const std::array<example_recording, 5> all{{
        {"culture", "5 minutes of 60 electrodes in a culture that fires in bursts",
         "one chain, 0 → 1 → 2 → 3, and nothing else in spite of the bursts", "episodes {}",
         "culture.tsv", "culture", culture_options{.chains = {4}, .seed = 1}},
        {"network", "10 minutes of 20 neurons of a network of 100",
         "a part of the 63 weak synapses, and no connection that is not a synapse", "episodes {}",
         "network.tsv", "network",
         network_options{.neurons = 100, .units = 20, .length = 10min, .seed = 1}},
        {"chains", "a minute of 26 units that excite each other",
         "two chains, n0 to n3 and n4 to n11", "episodes {}", "chains.tsv", "sym26",
         sym26_options{.seed = 1}},
        {"patterns", "10 seconds of 50 independent units",
         "a pattern of five spikes, n0 to n4, and one of three, n5 to n7",
         "spade {} --surrogates 1000 --spectrum '3d#' --reduce 2,2,2", "patterns.tsv", "patterns",
         patterns_options{
             .units = 50, .patterns = {5, 3}, .occurrences = 15, .rate_hz = 8, .seed = 1}},
        {"recording", "30 seconds of voltages on a probe of 32 channels",
         "12 units, which fire independently: no connection", "run {}", "recording", "recording",
         recording_options{.length = 30s, .units = 12, .low_uv = 40, .seed = 3}},
    }};
    return all;
}

const example_recording& find_example(std::string_view name) {
    const auto all = example_recordings();
    const auto found = std::ranges::find(all, name, &example_recording::name);
    if (found != all.end()) return *found;
    std::vector<std::string> names;
    for (const example_recording& one : all) names.emplace_back(one.name);
    throw invalid_argument(fmt::format("there is no example '{}', expected one of {}{}", name,
                                       fmt::join(names, ", "),
                                       did_you_mean(nearest_name(name, names))));
}

}  // namespace spikeweave
