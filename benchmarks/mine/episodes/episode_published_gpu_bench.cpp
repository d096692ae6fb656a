// The published strategies compared with each other on one GPU: the measurements that their authors
// made on GPUs of 2008.
//
//   mapping      one thread or many segments per episode, and the choice between them, by the
//                number of episodes and their size: 64 units of 20 Hz over 60 s
//   passes       with and without the upper bound first, level by level, on typical searches and on
//                the published load (43,656 candidates of size 4, nearly all of them rare)
//   compaction   the three methods to make a list of occurrences, for one episode, by its size and
//                the number of its occurrences: 64 units of 50 Hz over 20 s to 2,000 s
//
// Times are those of whole calls with all copies; for levels, those that mining measured. `kernels`
// is the kernel time of a call in seconds. Speeds are in episodes per second.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "benchmarks/support/ratios.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/published/hybrid.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace {

using namespace spikeweave;
using namespace std::chrono_literals;

constexpr std::uint32_t units = 64;
constexpr std::size_t most_episodes = 100'000;

execution on_the_first() {
    return {.devices = {0}};
}

const spike_sequence& poisson(double rate_hz, duration length) {
    static std::map<std::pair<double, duration>, spike_sequence> streams;
    const auto known = streams.find({rate_hz, length});
    if (known != streams.end()) return known->second;
    return streams
        .emplace(std::pair{rate_hz, length},
                 simulate_poisson({.units = units, .length = length, .rate_hz = rate_hz, .seed = 1})
                     .spikes)
        .first->second;
}

std::vector<episode> random_episodes(std::size_t size, std::size_t number, delay_interval delay) {
    random_stream random(2, random_purpose::poisson_spikes, UINT32_MAX,
                         static_cast<std::uint32_t>(size));
    std::vector<episode> all(number);
    for (episode& one : all) {
        for (std::size_t k = 0; k < size; ++k)
            one.units.push_back(unit_id{static_cast<std::uint32_t>(random.below(units))});
        one.delays.assign(size - 1, delay);
    }
    return all;
}

// Measures whole calls. Counts are first compared with those of the CPU, once for each group and
// strategy.
void count(benchmark::State& state, const std::string& group, const spike_sequence& spikes,
           const std::vector<episode>& what, const std::vector<std::uint64_t>& expected,
           const episode_count_options& options) {
    static std::map<std::tuple<std::string, episode_strategy, compaction_method>, std::uint64_t>
        compared;
    const std::tuple key{group, options.strategy, options.compaction};
    if (!compared.contains(key)) {
        const episode_count_result first = count_episodes(spikes, what, options, on_the_first());
        for (std::size_t i = 0; i < what.size(); ++i) {
            if (expected[i] < options.at_least ? first.counts[i] < options.at_least
                                               : first.counts[i] == expected[i])
                continue;
            state.SkipWithError("a count differs from the CPU's");
            return;
        }
        compared.emplace(key, first.merge_misses);
    }
    double kernels = 0;
    for (auto _ : state)
        kernels += count_episodes(spikes, what, options, on_the_first()).kernel_seconds;
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(what.size()));
    state.counters["kernels"] = benchmark::Counter(kernels, benchmark::Counter::kAvgIterations);
    state.counters["spikes"] = static_cast<double>(spikes.size());
    state.counters["merge_misses"] = static_cast<double>(compared[key]);
}

// All episodes of one size; smaller cases use the first of these.
struct counted {
    std::vector<episode> what;
    std::vector<std::uint64_t> counts;
};

const counted& counted_of(std::size_t size) {
    static std::map<std::size_t, counted> all;
    counted& one = all[size];
    if (one.what.empty()) {
        one.what = random_episodes(size, most_episodes, {1ms, 6ms});
        one.counts = count_episodes(poisson(20, 60s), one.what).counts;
    }
    return one;
}

void mapping(benchmark::State& state, const std::string& group, episode_strategy strategy,
             std::size_t size, std::size_t number) {
    // Hybrid needs its calibration, which is not measured here.
    if (strategy == episode_strategy::hybrid && !load_hybrid_calibration(devices().front()))
        calibrate_hybrid(0);
    const counted& all = counted_of(size);
    const auto end = static_cast<std::ptrdiff_t>(number);
    count(state, group, poisson(20, 60s), {all.what.begin(), all.what.begin() + end},
          {all.counts.begin(), all.counts.begin() + end}, {.strategy = strategy});
    state.counters["size"] = static_cast<double>(size);
    state.counters["episodes"] = static_cast<double>(number);
}

struct mined {
    const spike_sequence& spikes;
    episode_mining_options options;
};

mined what_is_mined(std::string_view name) {
    if (name == "sym26") {
        static const spike_sequence sym26 = simulate_sym26({.seed = 3}).spikes;
        return {sym26,
                {.delays = {{1ms, 4ms}, {4ms, 8ms}, {8ms, 12ms}, {12ms, 16ms}}, .min_count = 300}};
    }
    static const spike_sequence culture = simulate_culture({.length = 120s, .seed = 4}).spikes;
    return {culture, {.delays = {{0ms, 5ms}, {5ms, 10ms}}, .min_count = 90, .max_size = 4}};
}

// Mines everything and reports the time of one level.
void mine_level(benchmark::State& state, std::string_view name, std::size_t size,
                episode_strategy strategy) {
    auto [spikes, options] = what_is_mined(name);
    const episode_table expected = mine_episodes(spikes, options);
    options.strategy = strategy;
    if (mine_episodes(spikes, options, on_the_first()).episodes != expected.episodes) {
        state.SkipWithError("the table differs from the CPU's");
        return;
    }
    if (expected.levels.size() < size || expected.levels[size - 1].candidates == 0) {
        state.SkipWithError("nothing is counted at this level");
        return;
    }
    double kernels = 0;
    for (auto _ : state) {
        const episode_level level = mine_episodes(spikes, options, on_the_first()).levels[size - 1];
        state.SetIterationTime(level.seconds);
        kernels += level.kernel_seconds;
    }
    const episode_level& level = expected.levels[size - 1];
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(level.candidates));
    state.counters["kernels"] = benchmark::Counter(kernels, benchmark::Counter::kAvgIterations);
    state.counters["candidates"] = static_cast<double>(level.candidates);
    state.counters["frequent"] = static_cast<double>(level.frequent);
}

// The threshold keeps 22 episodes.
void published_load(benchmark::State& state, episode_strategy strategy) {
    static const std::vector<episode> what = random_episodes(4, 43'656, {0ms, 5ms});
    static const std::vector<std::uint64_t> expected =
        count_episodes(poisson(50, 20s), what).counts;
    static const std::uint64_t threshold = [] {
        std::vector<std::uint64_t> sorted = expected;
        std::sort(sorted.rbegin(), sorted.rend());
        return sorted[21];
    }();
    count(state, "passes/published-load", poisson(50, 20s), what, expected,
          {.strategy = strategy, .at_least = threshold});
    state.counters["threshold"] = static_cast<double>(threshold);
}

void compacted(benchmark::State& state, const std::string& group, compaction_method how,
               std::size_t size, duration length) {
    std::vector<unit_id> chain;
    for (std::uint32_t k = 0; k < size; ++k) chain.push_back(unit_id{k});
    const std::vector<episode> what{
        {chain, std::vector<delay_interval>(size - 1, delay_interval{0ms, 25ms})}};
    const spike_sequence& spikes = poisson(50, length);
    const auto expected = count_episodes(spikes, what).counts;
    count(state, group, spikes, what, expected,
          {.strategy = episode_strategy::occurrences, .compaction = how});
    state.counters["count"] = static_cast<double>(expected.front());
}

// Groups and their baselines live as long as the program.
template <class Run>
void add(const std::string& group, std::string_view variant, const Run& run, bool manual = false) {
    auto* const one =
        benchmark::RegisterBenchmark(fmt::format("{}/{}", group, variant).c_str(), run);
    one->Unit(benchmark::kMillisecond)->MinTime(0.02)->Repetitions(3);
    manual ? one->UseManualTime() : one->UseRealTime();
}

std::vector<ratios_to> register_all() {
    std::vector<ratios_to> ratios;
    for (std::size_t size = 2; size <= 8; ++size) {
        for (const std::size_t number :
             {1U, 3U, 10U, 32U, 100U, 316U, 1'000U, 3'162U, 10'000U, 31'623U, 100'000U}) {
            const auto group = fmt::format("mapping/size:{}/episodes:{}", size, number);
            ratios.emplace_back(group, "thread-per-episode");
            for (const auto strategy :
                 {episode_strategy::thread_per_episode, episode_strategy::segments_per_episode,
                  episode_strategy::hybrid})
                add(group, to_string(strategy), [=](benchmark::State& state) {
                    mapping(state, group, strategy, size, number);
                });
        }
    }
    constexpr std::array passes{std::pair{"one-pass", episode_strategy::thread_per_episode},
                                std::pair{"two-pass", episode_strategy::two_pass}};
    for (const auto& [name, levels] : {std::pair{"sym26", 6U}, std::pair{"culture", 4U}}) {
        for (std::size_t size = 2; size <= levels; ++size) {
            const auto group = fmt::format("passes/{}/size:{}", name, size);
            ratios.emplace_back(group, passes[0].first);
            for (const auto& [variant, strategy] : passes)
                add(
                    group, variant,
                    [what = name, size, counting = strategy](benchmark::State& state) {
                        mine_level(state, what, size, counting);
                    },
                    true);
        }
    }
    ratios.emplace_back("passes/published-load", passes[0].first);
    for (const auto& [variant, strategy] : passes)
        add("passes/published-load", variant,
            [counting = strategy](benchmark::State& state) { published_load(state, counting); });
    for (const duration length : {duration{20s}, duration{200s}, duration{2000s}}) {
        for (const std::size_t size : {2U, 4U, 6U, 8U}) {
            const auto group =
                fmt::format("compaction/size:{}/seconds:{}", size, length / duration{1s});
            ratios.emplace_back(group, "count-scan-write");
            for (const auto how : {compaction_method::atomic, compaction_method::select,
                                   compaction_method::count_scan_write})
                add(group, to_string(how),
                    [=](benchmark::State& state) { compacted(state, group, how, size, length); });
        }
    }
    return ratios;
}

const bool registered = [] {
    if (!devices().empty()) {
        register_all();
        return true;
    }
    const char* const required = std::getenv("SPIKEWEAVE_REQUIRE_GPU");
    fmt::print(stderr, "skipped mapping, passes and compaction: {}\n", device_unavailable_reason());
    if (required != nullptr && std::string_view(required) == "1")
        benchmark::RegisterBenchmark("gpu", [](benchmark::State& state) {
            state.SkipWithError("a GPU is required, and there is none");
        });
    return false;
}();

}  // namespace
