// The search of SPADE's surrogates on GPUs compared with the CPU's threads, on the same machine in
// the same run: surrogates of the recording of Porrmann et al. 2021 (doi:10.3389/fninf.2021.723406)
// with the thresholds that are estimated from its rates. Surrogates are made, binned and searched;
// each thread of the CPU searches its own surrogates. The tallies are compared first.
//
// SPIKEWEAVE_SHARED_DATA names the folder of recordings.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "benchmarks/support/ratios.hpp"
#include "spikeweave/assess/spade.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/spikes/files.hpp"

namespace {

using namespace spikeweave;
using namespace std::chrono_literals;

constexpr std::uint32_t window_bins = 20;

std::filesystem::path recording_file() {
    const char* const folder = std::getenv("SPIKEWEAVE_SHARED_DATA");
    return std::filesystem::path(folder != nullptr ? folder : "../shared/data") /
           "spade/movement_pghf.spikes.tsv.gz";
}

const surrogate_maker& maker() {
    static const surrogate_maker made(
        read_spikes(recording_file()).spikes,
        {.method = surrogate_method::dither_spikes_with_refractory_period,
         .dither = 15ms,
         .seed = 1},
        {.bin = 5ms});
    return made;
}

pattern_mining_options options() {
    pattern_mining_options out{
        .rules = {{86, 2, 2, 2}, {25, 3, 3, 3}, {12, 4, 4, 4}, {10, 5, 5, 5}}};
    for (std::uint32_t size = 6; size <= 9; ++size) out.rules.push_back({10, size, size, size});
    out.rules.push_back({10, 10, 0, 10});
    return out;
}

maxima_tally tally(std::uint32_t surrogates, spectrum_kind kind, const execution& run) {
    return tally_surrogates([](std::uint32_t which) { return maker().make(which); }, surrogates,
                            window_bins, options(), kind, run);
}

template <spectrum_kind kind>
void threads(benchmark::State& state) {
    const auto surrogates = static_cast<std::uint32_t>(state.range(0));
    for (auto _ : state) benchmark::DoNotOptimize(tally(surrogates, kind, {}));
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <spectrum_kind kind>
void on(benchmark::State& state, const std::vector<int>& devices) {
    constexpr std::uint32_t compared = 32;
    const auto surrogates = static_cast<std::uint32_t>(state.range(0));
    if (tally(compared, kind, {.devices = devices}) != tally(compared, kind, {}))
        return state.SkipWithError("the tally differs from the CPU's");
    for (auto _ : state) benchmark::DoNotOptimize(tally(surrogates, kind, {.devices = devices}));
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <spectrum_kind kind>
void gpu(benchmark::State& state) {
    on<kind>(state, {0});
}

template <spectrum_kind kind>
void two_gpus(benchmark::State& state) {
    if (devices().size() < 2) return state.SkipWithError("there is one GPU");
    on<kind>(state, {0, 1});
}

[[maybe_unused]] const bool declared = [] {
    constexpr auto by_count = spectrum_kind::size_count;
    constexpr auto by_duration = spectrum_kind::size_count_duration;
    const auto declare = [](const char* name, auto* run, std::int64_t surrogates) {
        benchmark::RegisterBenchmark(name, run)
            ->Arg(surrogates)
            ->Iterations(1)
            ->UseRealTime()
            ->Unit(benchmark::kSecond);
    };
    declare("spade_surrogates/threads", threads<by_count>, 128);
    for (const std::int64_t surrogates : {100, 1000, 5000})
        declare("spade_surrogates/gpu", gpu<by_count>, surrogates);
    declare("spade_surrogates_3d/threads", threads<by_duration>, 128);
    declare("spade_surrogates_3d/gpu", gpu<by_duration>, 5000);
    if (devices().size() > 1) {
        declare("spade_surrogates/two_gpus", two_gpus<by_count>, 5000);
        declare("spade_surrogates_3d/two_gpus", two_gpus<by_duration>, 5000);
    }
    return true;
}();

const ratios_to by_threads("spade_surrogates", "threads");
const ratios_to by_threads_3d("spade_surrogates_3d", "threads");

}  // namespace
