// The search for SPADE's patterns in the data on a GPU compared with the CPU's threads, on the same
// machine in the same run: the windows of Porrmann et al. 2021 (doi:10.3389/fninf.2021.723406) with
// the thresholds of their eight jobs, in one pass. Blocks of patterns with their occurrences are
// handed on in order and thrown away (spade_search), or joined into one table (spade_table). The
// patterns are compared first, in their order.
//
// SPIKEWEAVE_SHARED_DATA names the folder of recordings.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>

#include "benchmarks/support/ratios.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/mine/spade.hpp"

namespace {

using namespace spikeweave;

const spade_windows& windows() {
    static const spade_windows given = [] {
        const char* const folder = std::getenv("SPIKEWEAVE_SHARED_DATA");
        return read_transactions(
            std::filesystem::path(folder != nullptr ? folder : "../shared/data") /
                "spade/movement_pghf.transactions.txt.gz",
            20);
    }();
    return given;
}

pattern_mining_options options() {
    pattern_mining_options out{.rules = {{88, 2, 0, 2}, {25, 3, 0, 3}, {12, 4, 0, 4}}};
    for (std::uint32_t size = 5; size <= 9; ++size) out.rules.push_back({10, size, 0, size});
    return out;
}

// The number of patterns, and a digest of all their numbers in order.
struct answer {
    std::uint64_t patterns = 0;
    std::uint64_t digest = 0xCBF29CE484222325U;

    void add(std::uint32_t value) { digest = (digest ^ value) * 0x100000001B3U; }
    void add(const pattern_table& block) {
        patterns += block.size();
        for (std::size_t i = 0; i < block.size(); ++i) {
            for (const pattern_item item : block.pattern(i)) add(item);
            for (const std::uint32_t start : block.occurrences_of(i)) add(start);
            add(block.counts[i]);
        }
    }
    friend bool operator==(const answer&, const answer&) = default;
};

answer answer_of(const execution& run) {
    answer out;
    mine_patterns(
        windows(), options(), [&](const pattern_table& block) { out.add(block); }, run);
    return out;
}

std::uint64_t mine(const execution& run) {
    std::uint64_t patterns = 0;
    mine_patterns(
        windows(), options(), [&](const pattern_table& block) { patterns += block.size(); }, run);
    return patterns;
}

std::uint64_t mine_table(const execution& run) {
    return mine_patterns(windows(), options(), run).table.size();
}

void search(benchmark::State& state, const execution& run,
            std::uint64_t (*mine_all)(const execution&)) {
    static const answer expected = answer_of({});
    if (!run.devices.empty() && answer_of(run) != expected)
        return state.SkipWithError("the patterns differ from the CPU's");
    for (auto _ : state) benchmark::DoNotOptimize(mine_all(run));
    state.SetItemsProcessed(state.iterations());
    state.counters["patterns"] = static_cast<double>(expected.patterns);
}

[[maybe_unused]] const bool declared = [] {
    const auto declare = [](const char* name, const execution& run,
                            std::uint64_t (*mine_all)(const execution&)) {
        benchmark::RegisterBenchmark(name, search, run, mine_all)
            ->Iterations(1)
            ->Repetitions(5)
            ->UseRealTime()
            ->Unit(benchmark::kSecond);
    };
    declare("spade_search/threads", {}, mine);
    declare("spade_table/threads", {}, mine_table);
    if (devices().empty()) return true;
    declare("spade_search/gpu", {.devices = {0}}, mine);
    declare("spade_table/gpu", {.devices = {0}}, mine_table);
    return true;
}();

const ratios_to by_threads("spade_search", "threads");
const ratios_to tables_by_threads("spade_table", "threads");

}  // namespace
