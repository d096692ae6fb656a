// Windows over a stream of 1,000 units of 20 Hz, 10 s long, one a second, and of 60 s over Sym26.
// Speeds are in windows per second; the baseline is `mine_episodes` in slices that were cut before,
// so a ratio below 1 is what collecting and cutting takes. The counter `busy` is the share of the
// recording's time that one thread takes, which must be below 1 to keep up.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "benchmarks/support/ratios.hpp"
#include "spikeweave/mine/episodes/windows.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace {

using namespace spikeweave;
using namespace std::chrono_literals;

struct stream {
    spike_sequence spikes;
    episode_window_options options;
};

const stream& thousand_units() {
    static const stream one{
        simulate_poisson({.units = 1000, .length = 20s, .rate_hz = 20, .seed = 1}).spikes,
        {10s, 1s, {.delays = default_delays(), .min_count = 40, .max_size = 4}}};
    return one;
}

const stream& sym26() {
    static const stream one{simulate_sym26({.seed = 1}).spikes,
                            {10s, 1s, {.delays = default_delays(), .min_count = 50}}};
    return one;
}

execution one_thread() {
    return execution{.threads = 1};
}

std::vector<episode_window> windows_of(const stream& given) {
    episode_windows windows(given.spikes.unit_names(), given.options);
    std::vector<episode_window> all;
    for (std::size_t i = 0; i < given.spikes.size(); ++i) {
        windows.add(given.spikes.times_us()[i], given.spikes.units()[i]);
        while (auto window = windows.next(one_thread())) all.push_back(std::move(*window));
    }
    return all;
}

std::vector<spike_sequence> slices_of(const stream& given,
                                      const std::vector<episode_window>& windows) {
    std::vector<spike_sequence> slices;
    slices.reserve(windows.size());
    for (const auto& [bounds, spikes, table] : windows) {
        std::vector<std::pair<std::int64_t, unit_id>> inside;
        for (std::size_t i = 0; i < given.spikes.size(); ++i) {
            const std::int64_t time = given.spikes.times_us()[i];
            if (time >= bounds.begin.count() && time < bounds.end.count())
                inside.emplace_back(time, given.spikes.units()[i]);
        }
        slices.push_back(
            sequence_of(inside, given.spikes.unit_names(), {bounds.begin, bounds.end}));
    }
    return slices;
}

void mine(benchmark::State& state, const stream& (*of)(), const std::string& how) {
    const stream& given = of();
    const std::vector<episode_window> expected = windows_of(given);
    const std::vector<spike_sequence> slices = slices_of(given, expected);
    std::size_t frequent = 0;
    for (std::size_t k = 0; k < slices.size(); ++k) {
        frequent += expected[k].table.episodes.size();
        if (mine_episodes(slices[k], given.options.mining).episodes == expected[k].table.episodes)
            continue;
        state.SkipWithError("a window differs from its slice");
        return;
    }
    for (auto _ : state) {
        if (how == "windows") {
            benchmark::DoNotOptimize(windows_of(given));
        } else {
            for (const spike_sequence& slice : slices)
                benchmark::DoNotOptimize(mine_episodes(slice, given.options.mining, one_thread()));
        }
    }
    const auto windows = static_cast<double>(slices.size());
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(slices.size()));
    state.counters["frequent"] = static_cast<double>(frequent) / windows;
    state.counters["busy"] = benchmark::Counter(
        windows * to_seconds(given.options.hop),
        benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

const ratios_to by_thousand_units("windows_of_1000_units", "mine_episodes");
const ratios_to by_sym26("windows_of_sym26", "mine_episodes");

const bool registered = [] {
    const auto add = [](const std::string& name, const stream& (*of)(), const std::string& how) {
        benchmark::RegisterBenchmark(name.c_str(), mine, of, how)
            ->Unit(benchmark::kMillisecond)
            ->Repetitions(3);
    };
    for (const std::string how : {"windows", "mine_episodes"}) {
        add("windows_of_1000_units/" + how, thousand_units, how);
        add("windows_of_sym26/" + how, sym26, how);
    }
    return true;
}();

}  // namespace
