// Spikes of a session that are recorded per second, in blocks of 20 (1 ms of 20,000 spikes a
// second) and of 2,000, until all of them are on the disk; the baseline writes the same bytes of
// the same blocks with fwrite. `log` waits for the disk at each commit, `log_without_power_failure`
// leaves that to the operating system. `give` is what the thread that analyses spends on a spike.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "benchmarks/support/ratios.hpp"
#include "live/log/entries.hpp"
#include "live/log/session_file.hpp"
#include "live/log/session_log.hpp"

namespace {

using namespace spikeweave;
using namespace spikeweave::live;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t spike_count = 2'000'000;

std::filesystem::path place() {
    return std::filesystem::temp_directory_path() / "session_log_bench.session";
}

std::vector<source_block> blocks_of(std::size_t size) {
    std::vector<source_block> blocks(spike_count / size);
    std::int64_t now = 0;
    for (source_block& block : blocks) {
        for (std::size_t i = 0; i < size; ++i, now += 50)
            block.spikes.push_back({now, unit_id{static_cast<std::uint32_t>(now / 50 % 997)}});
        block.watermark_us = now;
    }
    return blocks;
}

session_header header() {
    session_header made;
    for (int i = 0; i < 997; ++i) made.unit_names.push_back(fmt::format("n{}", i));
    return made;
}

/// Returns the seconds until the last block had been given.
double log_blocks(const std::vector<source_block>& blocks, bool survive_power_failure) {
    std::filesystem::remove(place());
    session_log log(place(), header(), {.survive_power_failure = survive_power_failure});
    const auto begin = clock_type::now();
    for (const source_block& block : blocks) log.record(block);
    const std::chrono::duration<double> given = clock_type::now() - begin;
    log.end({});
    return given.count();
}

double write_blocks(const std::vector<source_block>& blocks) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(place().c_str(), "wb"),
                                                               std::fclose);
    if (!file) throw std::runtime_error("cannot write " + place().string());
    const auto begin = clock_type::now();
    entry_encoder encoder;
    for (const source_block& block : blocks) {
        encoder.begin(entry_kind::block);
        encoder.add(*block.watermark_us);
        encoder.add(block.spikes);
        const auto bytes = encoder.finish();
        std::fwrite(bytes.data(), 1, bytes.size(), file.get());
    }
    std::fflush(file.get());
    return std::chrono::duration<double>(clock_type::now() - begin).count();
}

bool holds(const std::vector<source_block>& blocks) {
    session_file file(place());
    for (const source_block& block : blocks) {
        const auto read = file.next_block();
        if (!read || read->block != block) return false;
    }
    return !file.next_block();
}

void record(benchmark::State& state, std::size_t size, const std::string& how) {
    const std::vector<source_block> blocks = blocks_of(size);
    if (log_blocks(blocks, false); !holds(blocks)) {
        state.SkipWithError("the file does not hold the blocks");
        return;
    }
    double giving = 0;
    for (auto _ : state) {
        if (how == "read")
            benchmark::DoNotOptimize(holds(blocks));
        else
            giving += how == "fwrite" ? write_blocks(blocks) : log_blocks(blocks, how == "log");
    }
    const auto spikes = static_cast<double>(spike_count * state.iterations());
    state.SetItemsProcessed(static_cast<std::int64_t>(spikes));
    state.counters["give_ns"] = giving / spikes * 1e9;
    std::filesystem::remove(place());
}

const ratios_to by_small_blocks("blocks_of_20", "fwrite");
const ratios_to by_large_blocks("blocks_of_2000", "fwrite");

const bool registered = [] {
    for (const std::size_t size : {20U, 2000U})
        for (const std::string how : {"log", "log_without_power_failure", "fwrite", "read"})
            benchmark::RegisterBenchmark(fmt::format("blocks_of_{}/{}", size, how).c_str(), record,
                                         size, how)
                ->Unit(benchmark::kMillisecond)
                ->UseRealTime()
                ->Iterations(1)
                ->Repetitions(3);
    return true;
}();

}  // namespace
