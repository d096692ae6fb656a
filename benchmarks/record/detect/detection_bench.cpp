// Samples (of one channel) per second from a recording to detected spikes with features, compared
// with a textbook method: filter each channel as a whole forward and backward, estimate the noise
// from the median and count troughs beyond the threshold. The textbook method finds no sets, masks
// or features.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "benchmarks/support/ratios.hpp"
#include "spikeweave/record/detection.hpp"
#include "spikeweave/simulate/recording.hpp"

namespace {

using namespace spikeweave;
using namespace std::chrono_literals;

const simulated_recording& simulated() {
    static const simulated_recording made =
        simulate_recording({.channels = 32, .length = 60s, .units = 20, .seed = 1});
    return made;
}

void set_items(benchmark::State& state) {
    const recording& from = simulated().traces;
    state.SetItemsProcessed(state.iterations() *
                            static_cast<std::int64_t>(from.frame_count() * from.channel_count()));
}

std::vector<double> filtered_twice(const std::vector<band_section>& sections,
                                   std::vector<double> trace) {
    for (int direction = 0; direction < 2; ++direction) {
        for (const band_section& section : sections) {
            double x1 = 0;
            double x2 = 0;
            double y1 = 0;
            double y2 = 0;
            for (double& x : trace) {
                const double y = section.gain * (x - x2) - section.a1 * y1 - section.a2 * y2;
                x2 = x1;
                x1 = x;
                y2 = y1;
                y1 = y;
                x = y;
            }
        }
        std::reverse(trace.begin(), trace.end());
    }
    return trace;
}

std::size_t troughs_of_channel(const recording& from, std::size_t channel,
                               const std::vector<std::int16_t>& samples,
                               const std::vector<band_section>& sections) {
    std::vector<double> trace(from.frame_count());
    for (std::size_t f = 0; f < trace.size(); ++f)
        trace[f] = from.channels()[channel].gain_uv * samples[f * from.channel_count() + channel];
    trace = filtered_twice(sections, std::move(trace));
    std::vector<double> sizes(trace.size());
    std::transform(trace.begin(), trace.end(), sizes.begin(), [](double x) { return std::abs(x); });
    const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
    std::nth_element(sizes.begin(), middle, sizes.end());
    const double threshold = -4.5 * *middle / 0.6745;
    std::size_t troughs = 0;
    for (std::size_t f = 1; f + 1 < trace.size(); ++f)
        if (trace[f] < threshold && trace[f] < trace[f - 1] && trace[f] <= trace[f + 1]) ++troughs;
    return troughs;
}

void channel_by_channel(benchmark::State& state) {
    const recording& from = simulated().traces;
    const auto sections = butterworth_band(3, 300, 6000, from.rate_hz());
    for (auto _ : state) {
        std::vector<std::int16_t> samples(from.frame_count() * from.channel_count());
        from.read(0, samples);
        std::size_t troughs = 0;
        for (std::size_t c = 0; c < from.channel_count(); ++c)
            troughs += troughs_of_channel(from, c, samples, sections);
        // Several channels record each spike.
        if (troughs < simulated().truth.spikes.size())
            return state.SkipWithError("the baseline lost spikes");
    }
    set_items(state);
}

// The result is checked first: nearly every true spike must have a detected one within 0.3 ms.
bool is_right(const detection_result& found) {
    const auto truth = simulated().truth.spikes.times_us();
    std::size_t hits = 0;
    std::size_t n = 0;
    for (const std::int64_t time_us : truth) {
        while (n < found.size() && found.time_us(n) < time_us - 300) ++n;
        if (n < found.size() && found.time_us(n) <= time_us + 300) ++hits;
    }
    return hits * 100 >= truth.size() * 97 && found.size() * 10 <= truth.size() * 12;
}

void detect(benchmark::State& state, int threads, common_reference reference) {
    const detection_options options{.preprocessing = {.reference = reference}};
    for (auto _ : state) {
        const detection_result found =
            detect_spikes(simulated().traces, options, {.threads = threads});
        if (!is_right(found)) return state.SkipWithError("spikes were lost or made up");
        benchmark::DoNotOptimize(found.features.data());
    }
    set_items(state);
}

const ratios_to to_textbook("detect_spikes", "channel-by-channel");

}  // namespace

BENCHMARK(channel_by_channel)
    ->Name("detect_spikes/channel-by-channel")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(detect, one_thread, 1, common_reference::none)
    ->Name("detect_spikes/one-thread")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(detect, with_median, 1, common_reference::median)
    ->Name("detect_spikes/one-thread-with-median")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(detect, all_cores, 0, common_reference::none)
    ->Name("detect_spikes/all-cores")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
