// The time for a new spike in an incremental sorting by the number of earlier spikes: 1,000 spikes
// of 96 features with a model of 30 units that is not fitted again. It does not grow.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "benchmarks/support/ratios.hpp"
#include "sort/masked_gmm/steps.hpp"
#include "spikeweave/simulate/features.hpp"
#include "spikeweave/sort/incremental.hpp"

namespace {

using namespace spikeweave;

constexpr std::uint32_t most_before = 160'000;
constexpr std::uint32_t piece = 1'000;
constexpr std::uint32_t fitted = 10'000;

const simulated_features& spikes() {
    static const simulated_features made =
        simulate_features({.spikes = most_before + 50 * piece, .of_no_unit = 0, .seed = 1});
    return made;
}

spike_features part(std::uint32_t begin, std::uint32_t count) {
    std::vector<std::uint32_t> wanted(count);
    std::iota(wanted.begin(), wanted.end(), begin);
    return select_spikes(spikes().features, wanted);
}

const sorting_model& model() {
    static const sorting_model made =
        fit_model(part(0, fitted), {spikes().truth.begin(), spikes().truth.begin() + fitted});
    return made;
}

// Compares with the reference's E-step for the same labels.
bool agrees() {
    constexpr std::uint32_t few = 300;
    const spike_features some = part(0, few);
    const std::vector<std::uint32_t> labels(spikes().truth.begin(), spikes().truth.begin() + few);
    const auto steps = masked_gmm::make_reference(some, {});
    const auto expected = steps->assign(masked_gmm::start_from(labels, few), {});
    const assignment_result found = fit_model(some, labels).assign(some);
    for (std::size_t n = 0; n < few; ++n)
        if (std::abs(found.costs[n] - expected.best_cost[n]) > 1e-8) return false;
    return true;
}

void add_spikes(benchmark::State& state, std::uint32_t before) {
    if (!agrees()) {
        state.SkipWithError("the answer differs from the reference's");
        return;
    }
    constexpr double never = std::numeric_limits<double>::infinity();
    incremental_sorter sorter(model(), {.refit_above = never, .growth = never});
    const execution alone{.threads = 1};
    sorter.add(part(0, before), alone);
    std::vector<spike_features> pieces;
    for (std::uint32_t p = 0; p < 50; ++p) pieces.push_back(part(before + p * piece, piece));
    std::size_t at = 0;
    for (auto _ : state) benchmark::DoNotOptimize(sorter.add(pieces[at++ % pieces.size()], alone));
    state.SetItemsProcessed(state.iterations() * piece);
}

const ratios_to by_history("sort_new_spikes", "10000");

const bool registered = [] {
    for (const std::uint32_t before : {10'000U, 40'000U, most_before})
        benchmark::RegisterBenchmark(fmt::format("sort_new_spikes/{}", before).c_str(), add_spikes,
                                     before)
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime()
            ->Iterations(50)
            ->Repetitions(5);
    return true;
}();

}  // namespace
