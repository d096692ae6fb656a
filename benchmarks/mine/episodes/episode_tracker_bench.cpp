// Counts of episodes in the last 10 s of Sym26 and of 1,000 units of 20 Hz, ten times a second. The
// baseline counts the same episodes in each of these windows, which are cut before; its results are
// compared first. `ns_per_spike` is what taking a spike costs, `ns_per_count` a count.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <chrono>
#include <string>
#include <vector>

#include "benchmarks/support/ratios.hpp"
#include "spikeweave/mine/episodes/tracker.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace {

using namespace spikeweave;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr duration length = 10s;
constexpr duration every = 100ms;
constexpr std::size_t compared_windows = 20;

struct stream {
    spike_sequence spikes;
    std::vector<episode> tracked;  // the most frequent ones
};

std::vector<episode> frequent_in(const spike_sequence& spikes, std::uint64_t min_count,
                                 std::size_t most) {
    std::vector<episode> found;
    for (counted_episode& one :
         mine_episodes(spikes, {.delays = default_delays(), .min_count = min_count, .max_size = 4})
             .episodes)
        if (one.what.size() > 1 && found.size() < most) found.push_back(std::move(one.what));
    return found;
}

const stream& sym26() {
    static const stream one = [] {
        spike_sequence spikes = simulate_sym26({.seed = 1}).spikes;
        std::vector<episode> tracked = frequent_in(spikes, 300, episode_tracker::most_episodes);
        return stream{std::move(spikes), std::move(tracked)};
    }();
    return one;
}

const stream& thousand_units() {
    static const stream one = [] {
        spike_sequence spikes =
            simulate_poisson({.units = 1000, .length = 20s, .rate_hz = 20, .seed = 1}).spikes;
        std::vector<episode> tracked = frequent_in(spikes, 40, episode_tracker::most_episodes);
        return stream{std::move(spikes), std::move(tracked)};
    }();
    return one;
}

struct course {
    std::vector<std::vector<std::uint64_t>> counts{};  // of each window
    double adding = 0;                                 // seconds
    double counting = 0;
};

course track(const stream& given) {
    course seen;
    episode_tracker tracker(given.tracked, given.spikes.unit_count(), length);
    const auto times = given.spikes.times_us();
    const auto units = given.spikes.units();
    std::size_t at = 0;
    for (duration end = every; end.count() <= times.back(); end += every) {
        const auto begin = clock_type::now();
        for (; at < times.size() && times[at] < end.count(); ++at)
            tracker.add(times[at], units[at]);
        const auto added = clock_type::now();
        tracker.advance(end.count());
        auto& counts = seen.counts.emplace_back(given.tracked.size());
        for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = tracker.count(i);
        seen.adding += std::chrono::duration<double>(added - begin).count();
        seen.counting += std::chrono::duration<double>(clock_type::now() - added).count();
    }
    return seen;
}

spike_sequence window_of(const stream& given, duration end) {
    std::vector<std::pair<std::int64_t, unit_id>> inside;
    for (std::size_t i = 0; i < given.spikes.size(); ++i) {
        const duration time{given.spikes.times_us()[i]};
        if (time >= end - length && time < end)
            inside.emplace_back(time.count(), given.spikes.units()[i]);
    }
    return sequence_of(inside, given.spikes.unit_names(), {end - length, end});
}

void run(benchmark::State& state, const stream& (*of)(), const std::string& how) {
    const stream& given = of();
    const course seen = track(given);
    const std::size_t step = seen.counts.size() / compared_windows;
    std::vector<spike_sequence> windows;
    for (std::size_t k = step - 1; k < seen.counts.size(); k += step) {
        windows.push_back(window_of(given, every * static_cast<std::int64_t>(k + 1)));
        if (count_episodes(windows.back(), given.tracked).counts == seen.counts[k]) continue;
        state.SkipWithError("a count differs from that of the window alone");
        return;
    }
    double adding = 0, counting = 0;
    for (auto _ : state) {
        if (how == "tracker") {
            const course now = track(given);
            adding += now.adding;
            counting += now.counting;
        } else {
            for (const spike_sequence& window : windows)
                benchmark::DoNotOptimize(count_episodes(window, given.tracked, {}, {.threads = 1}));
        }
    }
    const bool tracks = how == "tracker";
    const auto rounds = static_cast<double>(state.iterations());
    const auto counted =
        static_cast<double>(given.tracked.size() * (tracks ? seen.counts.size() : windows.size()));
    state.SetItemsProcessed(static_cast<std::int64_t>(rounds * counted));
    state.counters["tracked"] = static_cast<double>(given.tracked.size());
    if (!tracks) return;
    state.counters["ns_per_spike"] =
        1e9 * adding / rounds / static_cast<double>(given.spikes.size());
    state.counters["ns_per_count"] = 1e9 * counting / rounds / counted;
}

const ratios_to by_sym26("sym26", "count_episodes");
const ratios_to by_thousand_units("1000_units", "count_episodes");

const bool registered = [] {
    for (const std::string how : {"tracker", "count_episodes"}) {
        benchmark::RegisterBenchmark(("sym26/" + how).c_str(), run, sym26, how)
            ->Unit(benchmark::kMillisecond)
            ->Repetitions(3);
        benchmark::RegisterBenchmark(("1000_units/" + how).c_str(), run, thousand_units, how)
            ->Unit(benchmark::kMillisecond)
            ->Repetitions(3);
    }
    return true;
}();

}  // namespace
