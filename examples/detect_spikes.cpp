// Finds the spikes of a simulated recording and counts the true ones among them.
#include <cmath>
#include <cstdio>
#include <spikeweave/spikeweave.hpp>

int main() {
    // [detect]
    using namespace std::chrono_literals;
    const spikeweave::simulated_recording simulated =
        spikeweave::simulate_recording({.channels = 16, .length = 10s, .units = 6, .seed = 1});

    const spikeweave::detection_result found = spikeweave::detect_spikes(simulated.traces);
    for (std::size_t n = 0; n < 3; ++n)
        std::printf("%.6f s on channel %u, %zu channels unmasked\n",
                    static_cast<double>(found.time_us(n)) / 1e6, found.peak_channels[n],
                    found.mask_offsets[n + 1] - found.mask_offsets[n]);
    // [detect]

    std::size_t hits = 0;
    const auto truth = simulated.truth.spikes.times_us();
    std::size_t n = 0;
    for (const std::int64_t time_us : truth) {
        while (n < found.size() && found.time_us(n) < time_us - 300) ++n;
        if (n < found.size() && found.time_us(n) <= time_us + 300) ++hits;
    }
    std::printf("%zu of %zu true spikes are among %zu found\n", hits, truth.size(), found.size());
    // Two neurons that fire together make one event. This program is also a test.
    return hits * 100 >= truth.size() * 95 ? 0 : 1;
}
