// Finds the two chains that are hidden in a minute of simulated spikes.
#include <cstdio>
#include <spikeweave/spikeweave.hpp>

int main() {
    // [mine]
    using namespace std::chrono_literals;
    const spikeweave::simulated_spikes recording = spikeweave::simulate_sym26({.seed = 1});
    const spikeweave::spike_sequence& spikes = recording.spikes;

    const spikeweave::episode_result found =
        spikeweave::find_episodes(spikes, {.mining = {.delays = {{4ms, 6ms}}, .min_count = 200}});
    // [mine]

    // [print]
    for (const std::size_t chain : found.circuit.chains) {
        for (const spikeweave::unit_id unit : found.table.episodes[chain].what.units)
            std::printf("%s ", spikes.name(unit).c_str());
        std::printf(" %llu times, %.1f expected\n",
                    static_cast<unsigned long long>(found.table.episodes[chain].count),
                    found.assessed[chain].expected);
    }
    // [print]

    // The two planted chains must have been found. This program is also a test.
    std::size_t planted_found = 0;
    for (const auto& planted : recording.chains)
        for (const std::size_t chain : found.circuit.chains)
            if (found.table.episodes[chain].what.units == planted) ++planted_found;
    return planted_found == recording.chains.size() ? 0 : 1;
}
