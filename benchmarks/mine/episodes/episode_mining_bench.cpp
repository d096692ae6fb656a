// Whole level-wise mining of Sym26 (26 units, 60 s, 51,444 spikes) with four intervals and a
// threshold of 300. Every strategy is compared with the state machine, and two threads with one.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "benchmarks/support/ratios.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace {

using namespace spikeweave;
using namespace std::chrono_literals;

const spike_sequence& sym26() {
    static const spike_sequence spikes = simulate_sym26({.seed = 1}).spikes;
    return spikes;
}

episode_table mine(episode_strategy strategy, int threads) {
    return mine_episodes(sym26(),
                         {.delays = {{1ms, 4ms}, {4ms, 6ms}, {6ms, 8ms}, {8ms, 11ms}},
                          .min_count = 300,
                          .strategy = strategy},
                         {.threads = threads});
}

void mine_sym26(benchmark::State& state, episode_strategy strategy, int threads) {
    static const episode_table expected = mine(episode_strategy::state_machine, 1);
    if (mine(strategy, threads).episodes != expected.episodes) {
        state.SkipWithError("the answer differs from the state machine's");
        return;
    }
    std::uint64_t candidates = 0;
    for (const episode_level& level : expected.levels) candidates += level.candidates;
    for (auto _ : state) benchmark::DoNotOptimize(mine(strategy, threads));
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(candidates));
    state.counters["candidates"] = static_cast<double>(candidates);
    state.counters["episodes"] = static_cast<double>(expected.episodes.size());
}

const ratios_to by_strategy("mine_sym26", "state-machine");
const ratios_to by_threads("mine_sym26_threads", "1");

const bool registered = [] {
    for (const episode_strategy strategy : available_episode_strategies()) {
        // The reference tries every occurrence, and the segments also run the published machines.
        const int repetitions =
            strategy == episode_strategy::reference || strategy == episode_strategy::segments ? 1
                                                                                              : 5;
        benchmark::RegisterBenchmark(fmt::format("mine_sym26/{}", to_string(strategy)).c_str(),
                                     mine_sym26, strategy, 1)
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime()
            ->Repetitions(repetitions);
    }
    for (const int threads : {1, 2}) {
        benchmark::RegisterBenchmark(fmt::format("mine_sym26_threads/{}", threads).c_str(),
                                     mine_sym26, episode_strategy::latest_start, threads)
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime()
            ->Repetitions(5);
    }
    return true;
}();

}  // namespace
