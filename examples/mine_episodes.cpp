// Finds the two chains that are hidden in a minute of simulated spikes.
#include <cstdio>
#include <spikeweave/spikeweave.hpp>

int main() {
    // [mine]
    using namespace std::chrono_literals;
    const spikeweave::simulated_spikes recording = spikeweave::simulate_sym26({.seed = 1});
    const spikeweave::spike_sequence& spikes = recording.spikes;

    const auto table =
        spikeweave::mine_episodes(spikes, {.delays = {{4ms, 6ms}}, .min_count = 200});
    const auto assessed = spikeweave::test_against_null(spikes, table);
    const auto circuit = spikeweave::find_circuit(spikes, table, assessed);
    // [mine]

    // [print]
    for (const std::size_t chain : circuit.chains) {
        for (const spikeweave::unit_id unit : table.episodes[chain].what.units)
            std::printf("%s ", spikes.name(unit).c_str());
        std::printf(" %llu times, %.1f expected\n",
                    static_cast<unsigned long long>(table.episodes[chain].count),
                    assessed[chain].expected);
    }
    // [print]

    // The two planted chains must have been found. This program is also a test.
    std::size_t found = 0;
    for (const auto& planted : recording.chains)
        for (const std::size_t chain : circuit.chains)
            if (table.episodes[chain].what.units == planted) ++found;
    return found == recording.chains.size() ? 0 : 1;
}
