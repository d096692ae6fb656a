// Windows over streams: 1,000 units of 20 Hz, Sym26, and a culture that bursts. Speeds are in
// windows per second. The baseline is `mine_episodes` in slices that were cut before, so for
// `remine` a ratio below 1 is what collecting and cutting takes; for `incremental` a ratio above 1
// is what the window before is worth. The counter `busy` is the share of the recording's time that
// one thread takes, which must be below 1 to keep up, and `slowest_ms` is the time of the slowest
// window.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
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

const stream& long_sym26() {
    static const stream one{simulate_sym26({.length = 80s, .seed = 1}).spikes,
                            {60s, 1s, {.delays = default_delays(), .min_count = 300}}};
    return one;
}

const stream& short_hops() {
    static const stream one{simulate_sym26({.length = 64s, .seed = 1}).spikes,
                            {60s, 100ms, {.delays = default_delays(), .min_count = 300}}};
    return one;
}

const stream& culture() {
    static const stream one{
        simulate_culture({.length = 100s, .seed = 1}).spikes,
        {60s, 1s, {.delays = default_delays(), .min_count = 60, .max_size = 3}}};
    return one;
}

execution one_thread() {
    return execution{.threads = 1};
}

struct all_windows {
    std::vector<episode_window> windows{};
    double slowest_ms = 0;
};

all_windows windows_of(const stream& given, window_method method) {
    episode_window_options options = given.options;
    options.method = method;
    episode_windows windows(given.spikes.unit_names(), options);
    all_windows all;
    for (std::size_t i = 0; i < given.spikes.size(); ++i) {
        windows.add(given.spikes.times_us()[i], given.spikes.units()[i]);
        while (windows.complete()) {
            const auto begin = std::chrono::steady_clock::now();
            all.windows.push_back(*windows.next(one_thread()));
            const std::chrono::duration<double, std::milli> taken =
                std::chrono::steady_clock::now() - begin;
            // The first window is mined by itself with either method.
            if (all.windows.size() > 1) all.slowest_ms = std::max(all.slowest_ms, taken.count());
        }
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
    const auto method = how == "incremental" ? window_method::incremental : window_method::remine;
    const std::vector<episode_window> expected = windows_of(given, method).windows;
    const std::vector<spike_sequence> slices = slices_of(given, expected);
    std::size_t frequent = 0;
    for (std::size_t k = 0; k < slices.size(); ++k) {
        frequent += expected[k].table.episodes.size();
        if (mine_episodes(slices[k], given.options.mining).episodes == expected[k].table.episodes)
            continue;
        state.SkipWithError("a window differs from its slice");
        return;
    }
    double slowest_ms = 0;
    for (auto _ : state) {
        if (how == "mine_episodes") {
            for (const spike_sequence& slice : slices)
                benchmark::DoNotOptimize(mine_episodes(slice, given.options.mining, one_thread()));
        } else {
            slowest_ms = windows_of(given, method).slowest_ms;
        }
    }
    const auto windows = static_cast<double>(slices.size());
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(slices.size()));
    state.counters["frequent"] = static_cast<double>(frequent) / windows;
    state.counters["busy"] = benchmark::Counter(
        windows * to_seconds(given.options.hop),
        benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
    if (slowest_ms > 0) state.counters["slowest_ms"] = slowest_ms;
}

const ratios_to by_thousand_units("windows_of_1000_units", "mine_episodes");
const ratios_to by_sym26("windows_of_sym26", "mine_episodes");
const ratios_to by_long_sym26("long_windows_of_sym26", "mine_episodes");
const ratios_to by_short_hops("short_hops_of_sym26", "mine_episodes");
const ratios_to by_culture("windows_of_culture", "mine_episodes");

const bool registered = [] {
    const auto add = [](const std::string& name, const stream& (*of)()) {
        for (const std::string how : {"remine", "incremental", "mine_episodes"})
            benchmark::RegisterBenchmark((name + "/" + how).c_str(), mine, of, how)
                ->Unit(benchmark::kMillisecond)
                ->Repetitions(3);
    };
    add("windows_of_1000_units", thousand_units);
    add("windows_of_sym26", sym26);
    add("long_windows_of_sym26", long_sym26);
    add("short_hops_of_sym26", short_hops);
    add("windows_of_culture", culture);
    return true;
}();

}  // namespace
