// Episodes counted in surrogates on GPUs compared with the CPU's threads, on the same machine in
// the same run: the frequent episodes of up to four units of culture 2-1-20 (Wagenaar, Pine, Potter
// 2006, doi:10.1186/1471-2202-7-11) at the default delays. Surrogates are made and counted; each
// thread of the CPU counts in its own surrogates. `making` only makes them. The tallies are
// compared first.
//
// SPIKEWEAVE_SHARED_DATA names the folder of recordings.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "benchmarks/support/ratios.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/assess/episodes.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/spikes/files.hpp"

namespace {

using namespace spikeweave;

std::filesystem::path recording_file() {
    const char* const folder = std::getenv("SPIKEWEAVE_SHARED_DATA");
    return std::filesystem::path(folder != nullptr ? folder : "../shared/data") /
           "wagenaar2006/2-1-20.spk.txt";
}

struct searched {
    spike_sequence spikes = read_spikes(recording_file()).spikes;
    episode_table table = mine_episodes(spikes, {.delays = default_delays(), .max_size = 4});
};
const searched& culture() {
    static const searched found;
    return found;
}

surrogate_options options(std::int64_t surrogates) {
    return {.surrogates = static_cast<std::uint32_t>(surrogates), .seed = 1};
}

surrogate_tally tally(std::int64_t surrogates, const execution& run) {
    return count_in_surrogates(culture().spikes, culture().table, options(surrogates), run);
}

void making(benchmark::State& state) {
    const surrogate_maker maker(culture().spikes, options(state.range(0)));
    for (auto _ : state)
        parallel::parallel_for(
            static_cast<std::size_t>(state.range(0)), {}, "", [&](std::size_t i) {
                benchmark::DoNotOptimize(maker.make_sequence(static_cast<std::uint32_t>(i)));
            });
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

void threads(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(tally(state.range(0), {}));
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

void on(benchmark::State& state, const std::vector<int>& devices) {
    constexpr std::int64_t compared = 70;
    if (tally(compared, {.devices = devices}) != tally(compared, {}))
        return state.SkipWithError("the tally differs from the CPU's");
    for (auto _ : state) benchmark::DoNotOptimize(tally(state.range(0), {.devices = devices}));
    state.SetItemsProcessed(state.iterations() * state.range(0));
    state.counters["episodes"] = static_cast<double>(culture().table.episodes.size());
}

void gpu(benchmark::State& state) {
    on(state, {0});
}

void two_gpus(benchmark::State& state) {
    if (devices().size() < 2) return state.SkipWithError("there is one GPU");
    on(state, {0, 1});
}

[[maybe_unused]] const bool declared = [] {
    const auto declare = [](const char* name, auto* run) {
        benchmark::RegisterBenchmark(name, run)->Arg(1000)->Iterations(1)->UseRealTime()->Unit(
            benchmark::kSecond);
    };
    declare("episode_surrogates/threads", threads);
    declare("episode_surrogates/making", making);
    declare("episode_surrogates/gpu", gpu);
    if (devices().size() > 1) declare("episode_surrogates/two_gpus", two_gpus);
    return true;
}();

const ratios_to by_threads("episode_surrogates", "threads");

}  // namespace
