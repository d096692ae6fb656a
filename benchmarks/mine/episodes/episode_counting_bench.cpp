// The published load: about 43,656 candidates of size 4 on 64 units of 50 Hz over 1,000 s (3.2
// million spikes). The candidates are those that a level-wise search makes from a sparse graph of
// frequent pairs: all walks of three steps in it.
//
// The state machine counts one candidate in 200, evenly spread, because all would take it a minute
// per repetition. Speeds are in candidates per second.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <numeric>

#include "benchmarks/support/published_load.hpp"
#include "benchmarks/support/ratios.hpp"
#include "mine/episodes/latest_start/step_table.hpp"
#include "mine/episodes/latest_start/survivors.hpp"
#include "mine/episodes/latest_start/train_index.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace {

using namespace spikeweave;
using namespace std::chrono_literals;

constexpr std::uint32_t units = published_units;
constexpr std::size_t sampled_one_in = 200;

const spike_sequence& stream() {
    static const spike_sequence spikes =
        simulate_poisson({.units = units, .length = 1000s, .rate_hz = 50, .seed = 1}).spikes;
    return spikes;
}

const std::vector<episode>& candidates() {
    static const std::vector<episode> all = published_candidates({0ms, 5ms});
    return all;
}

std::vector<episode> sample() {
    std::vector<episode> some;
    for (std::size_t i = 0; i < candidates().size(); i += sampled_one_in)
        some.push_back(candidates()[i]);
    return some;
}

void count_size_4(benchmark::State& state, episode_strategy strategy, int threads) {
    const bool all = strategy == episode_strategy::latest_start;
    const std::vector<episode> counted = all ? candidates() : sample();
    const auto run = [&] {
        return count_episodes(stream(), counted, {.strategy = strategy}, {.threads = threads});
    };
    static const std::vector<std::uint64_t> expected =
        count_episodes(stream(), sample(), {.strategy = episode_strategy::state_machine},
                       {.threads = 1})
            .counts;
    const std::vector<std::uint64_t> counts = run().counts;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (counts[all ? i * sampled_one_in : i] == expected[i]) continue;
        state.SkipWithError("a count differs from the state machine's");
        return;
    }
    for (auto _ : state) benchmark::DoNotOptimize(run());
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(counted.size()));
    state.counters["candidates"] = static_cast<double>(counted.size());
    state.counters["spikes"] = static_cast<double>(stream().size());
}

// The inner loop alone: the survivors of one pair are extended to a third unit. An element is a
// survivor of the prefix. The baseline reads the prefix's two lists once, which is the limit set by
// the memory bandwidth of one core.
void extend(benchmark::State& state, const std::string& how) {
    using namespace spikeweave::episodes;
    const train_index trains(stream());
    const interval_us step{0, 5000};
    const indexed_train& a = trains[unit_id{0}];
    const indexed_train& b = trains[unit_id{1}];
    const indexed_train& c = trains[unit_id{2}];
    step_table::builder builder;
    collect_step(b, c, step, builder);
    const step_table table(builder);
    survivor_buffer prefix;
    survivor_buffer walked;
    survivor_buffer tabled;
    begin_survivors(a, b, step, prefix);
    extend_survivors(b, prefix.view(), c, step, walked);
    extend_survivors(prefix.view(), table, c.size, tabled);
    if (!std::equal(walked.view().ends.begin(), walked.view().ends.end(),
                    tabled.view().ends.begin(), tabled.view().ends.end())) {
        state.SkipWithError("walk and table differ");
        return;
    }
    for (auto _ : state) {
        if (how == "walk") {
            extend_survivors(b, prefix.view(), c, step, walked);
        } else if (how == "table") {
            extend_survivors(prefix.view(), table, c.size, tabled);
        } else {
            const auto& [ends, starts] = prefix.view();
            benchmark::DoNotOptimize(std::accumulate(ends.begin(), ends.end(), std::uint32_t{0}));
            benchmark::DoNotOptimize(
                std::accumulate(starts.begin(), starts.end(), std::uint32_t{0}));
        }
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(prefix.view().size()));
    state.SetBytesProcessed(
        state.iterations() *
        static_cast<std::int64_t>(prefix.view().size() * 2 * sizeof(std::uint32_t)));
}

const ratios_to by_strategy("count_size_4", "state-machine");
const ratios_to by_threads("count_size_4_threads", "1");
const ratios_to by_inner_loop("extend_survivors", "read-once");

const bool registered = [] {
    const auto add = [](const std::string& name, episode_strategy strategy, int threads) {
        benchmark::RegisterBenchmark(name.c_str(), count_size_4, strategy, threads)
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime()
            ->Repetitions(3);
    };
    add("count_size_4/latest-start", episode_strategy::latest_start, 1);
    add("count_size_4/state-machine", episode_strategy::state_machine, 1);
    add("count_size_4/two-pass", episode_strategy::two_pass, 1);
    add("count_size_4/occurrences", episode_strategy::occurrences, 1);
    for (const int threads : {1, 2})
        add(fmt::format("count_size_4_threads/{}", threads), episode_strategy::latest_start,
            threads);
    for (const std::string how : {"walk", "table", "read-once"})
        benchmark::RegisterBenchmark(("extend_survivors/" + how).c_str(), extend, how)
            ->Repetitions(3);
    return true;
}();

}  // namespace
