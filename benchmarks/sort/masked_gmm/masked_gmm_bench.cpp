// One iteration of masked Gaussian mixtures (M-step, E-step, gains of deletions) on 96 features
// from the start by masks: the sparse strategy compared with the reference, two threads with one,
// and by the number of features. benchmarks/sort/against_klustakwik2.py compares with klustakwik2.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cmath>

#include "benchmarks/support/ratios.hpp"
#include "sort/masked_gmm/steps.hpp"
#include "tests/support/spike_clouds.hpp"

namespace {

using namespace spikeweave;
using masked_gmm::assignment;
using masked_gmm::mixture;
using masked_gmm::partition;

constexpr std::uint32_t start_clusters = 172;

// The data for a strategy, as many spikes as it can handle; speed is in spikes per second.
struct load {
    spike_cloud cloud;
    partition start;
    std::unique_ptr<mixture> steps;

    load(std::size_t spikes, std::size_t channels, std::size_t units, sort_strategy strategy,
         int threads, std::uint32_t clusters = start_clusters)
        : cloud(make_cloud({.spikes = spikes, .units = units, .channels = channels})),
          start(masked_gmm::start_by_masks(cloud.features, clusters)),
          steps(strategy == sort_strategy::reference
                    ? masked_gmm::make_reference(cloud.features, {})
                    : masked_gmm::make_cpu(cloud.features, {}, {.threads = threads})) {}

    double iterate(int threads) const {
        const assignment found = steps->assign(start, {.threads = threads});
        double cost = 0;
        for (const double one : found.best_cost) cost += one;
        benchmark::DoNotOptimize(
            steps->deletion_gains(found, start.clusters, {.threads = threads}));
        return cost;
    }
};

// Few spikes and clusters are compared, because the reference inverts a matrix of all features for
// each cluster.
bool agree(std::size_t channels, std::size_t units, sort_strategy strategy, int threads) {
    constexpr std::size_t spikes = 200;
    constexpr std::uint32_t clusters = 4;
    const load one(spikes, channels, units, strategy, threads, clusters);
    const load other(spikes, channels, units, sort_strategy::reference, 1, clusters);
    const double expected = other.iterate(1);
    return std::abs(one.iterate(threads) - expected) <= 1e-9 * std::abs(expected);
}

void iterate(benchmark::State& state, std::size_t spikes, std::size_t channels, std::size_t units,
             sort_strategy strategy, int threads) {
    if (!agree(channels, units, strategy, threads)) {
        state.SkipWithError("the answer differs from the reference's");
        return;
    }
    const load one(spikes, channels, units, strategy, threads);
    for (auto _ : state) benchmark::DoNotOptimize(one.iterate(threads));
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(spikes));
    state.counters["clusters"] = static_cast<double>(one.start.clusters - 1);
}

const ratios_to by_strategy("sort_iteration", "reference");
const ratios_to by_threads("sort_iteration_threads", "1");
const ratios_to by_features("sort_iteration_features", "96");

void add(const std::string& name, std::size_t spikes, std::size_t channels, std::size_t units,
         sort_strategy strategy, int threads, int repetitions) {
    benchmark::RegisterBenchmark(name.c_str(), iterate, spikes, channels, units, strategy, threads)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime()
        ->Repetitions(repetitions);
}

const bool registered = [] {
    add("sort_iteration/reference", 300, 32, 60, sort_strategy::reference, 1, 1);
    add("sort_iteration/cpu", 50'000, 32, 60, sort_strategy::cpu, 1, 5);
    for (const int threads : {1, 2})
        add(fmt::format("sort_iteration_threads/{}", threads), 50'000, 32, 60, sort_strategy::cpu,
            threads, 5);
    // The number of units per channel is fixed: the cost of a spike depends on its unmasked
    // features, not on all of them.
    for (const std::size_t channels : {32U, 128U})
        add(fmt::format("sort_iteration_features/{}", 3 * channels), 10'000, channels, 2 * channels,
            sort_strategy::cpu, 1, 3);
    return true;
}();

}  // namespace
