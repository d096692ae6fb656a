// The inner loop of SPADE's search, which counts items in selected windows, compared with reading
// the same words once. This shows how close the loop is to the limit of a core.

#include <benchmark/benchmark.h>

#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "benchmarks/support/ratios.hpp"
#include "mine/spade/first_bin/bit_kernels.hpp"

namespace {

using namespace spikeweave;

// A root of the benchmark recording has about a thousand items in some 300 windows.
constexpr std::size_t items = 1000;

struct node {
    explicit node(std::size_t windows) : planes(windows / 64), words(items * planes), mask(planes) {
        std::mt19937_64 random(1);
        for (std::uint64_t& word : words) word = random() & random() & random() & random();
        for (std::uint64_t& word : mask) word = random() & random() & random();
    }
    std::size_t planes;
    std::vector<std::uint64_t> words;
    std::vector<std::uint64_t> mask;
};

void count(benchmark::State& state, const spade::bit_kernels& kernels, std::size_t windows) {
    const node at(windows);
    std::vector<std::uint32_t> numbers(items + 8);
    std::vector<std::uint32_t> counts(items + 8);
    for (auto _ : state)
        benchmark::DoNotOptimize(kernels.find(at.words.data(), at.planes, at.mask.data(), 0, items,
                                              10, numbers.data(), counts.data()));
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(at.words.size()));
}

void read(benchmark::State& state, std::size_t windows) {
    const node at(windows);
    for (auto _ : state)
        benchmark::DoNotOptimize(
            std::accumulate(at.words.begin(), at.words.end(), std::uint64_t{0}));
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(at.words.size()));
}

std::vector<ratios_to> ratios;

const bool registered = [] {
    for (const std::size_t windows : {std::size_t{320}, std::size_t{1472}}) {
        const std::string group = "spade_count_" + std::to_string(windows) + "_windows";
        ratios.emplace_back(group, "read");
        benchmark::RegisterBenchmark((group + "/read").c_str(), read, windows);
        for (const spade::bit_kernels& kernels : spade::runnable_bit_kernels())
            benchmark::RegisterBenchmark((group + "/" + std::string(kernels.name)).c_str(), count,
                                         kernels, windows);
    }
    return true;
}();

}  // namespace
