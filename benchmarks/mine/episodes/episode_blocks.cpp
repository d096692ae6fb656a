// Recordings that are larger than memory: `mine_episodes` in blocks against the same search in
// memory. The recording is generated block by block from a seed, so that no file is needed: 64
// units of 10 Hz, with chains of four units planted 2.5 ms apart. Prints the peak of memory and the
// time for each spike of both, without that of the generation, which a recording in blocks needs
// once for each level. The searches are first compared on the recording that fits.
//
// Usage: episode_blocks [SPIKES [SPIKES_IN_MEMORY [THREADS [MIN_RATE]]]], by default 1e8, 1e7, all
//        cores and the default threshold;
//        episode_blocks FILE: spikes of a file or folder in blocks, without a comparison

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/support/process.hpp"
#include "spikeweave/mine/episodes/blocks.hpp"

namespace {

using namespace spikeweave;
using namespace std::chrono_literals;
using steady_clock = std::chrono::steady_clock;

constexpr std::uint32_t units = 64;
constexpr double gap_us = 1e6 / (units * 10.0);
constexpr std::size_t chain_every = 64;  // spikes
constexpr std::int64_t chain_step_us = 2'500;
constexpr std::uint32_t chain_size = 4;

double thread_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

class generated_blocks final : public spike_blocks {
public:
    explicit generated_blocks(std::uint64_t spikes) : spikes_(spikes) {
        for (std::uint32_t u = 0; u < units; ++u) names_.push_back(std::to_string(u));
    }

    void rewind() override {
        random_.seed(1);
        made_ = 0;
        now_us_ = 0;
        chains_.clear();
    }

    bool next(spike_block& block) override {
        const double began = thread_seconds();
        block.clear();
        constexpr std::uint64_t length = 1 << 16;
        const std::uint64_t end = std::min(spikes_, made_ + length);
        const bool more = made_ < end;
        while (made_ < end) {
            make(block);
            ++made_;
        }
        generation_ += thread_seconds() - began;
        return more;
    }

    const std::vector<std::string>& unit_names() const override { return names_; }
    double generation_seconds() const { return std::chrono::duration<double>(generation_).count(); }

private:
    struct chain {
        std::int64_t next_us;
        std::uint32_t next_unit;
        std::uint32_t left;
    };

    void make(spike_block& block) {
        // Few chains are in progress; the first of them is due first.
        if (!chains_.empty() && chains_.front().next_us <= next_us_) {
            chain one = chains_.front();
            chains_.erase(chains_.begin());
            block.append(now_us_ = one.next_us, unit_id{one.next_unit});
            one = {one.next_us + chain_step_us, (one.next_unit + 7) % units, one.left - 1};
            if (one.left > 0) chains_.push_back(one);
            return;
        }
        block.append(now_us_ = next_us_, unit_id{static_cast<std::uint32_t>(random_() % units)});
        if (random_() % chain_every == 0) {
            chains_.push_back(
                {now_us_ + chain_step_us, static_cast<std::uint32_t>(random_() % 8), chain_size});
        }
        const double uniform = static_cast<double>((random_() >> 11) + 1) * 0x1p-53;
        next_us_ = now_us_ + 1 + static_cast<std::int64_t>(-std::log(uniform) * gap_us);
    }

    std::uint64_t spikes_;
    std::vector<std::string> names_;
    std::mt19937_64 random_;
    std::uint64_t made_ = 0;
    std::int64_t now_us_ = 0;
    std::int64_t next_us_ = 0;
    std::vector<chain> chains_;
    double generation_ = 0;
};

spike_sequence in_memory(std::uint64_t spikes) {
    generated_blocks source(spikes);
    source.rewind();
    spike_sequence_builder builder;
    for (const std::string& name : source.unit_names()) builder.unit(name);
    for (spike_block block; source.next(block);)
        for (std::size_t i = 0; i < block.units.size(); ++i)
            builder.append(block.times_us[i], block.units[i]);
    return builder.finish();
}

// With the default threshold, at most 32 pairs a unit are frequent.
episode_mining_options options{.delays = default_delays()};

// Times are CPU times, which a machine that others use as well disturbs least.
struct measured {
    double seconds;
    double wall_seconds;
    double megabytes;

    double ns_each(std::uint64_t spikes) const {
        return seconds / static_cast<double>(spikes) * 1e9;
    }
};

template <class Work>
measured measure(const Work& work) {
    reset_peak_memory();
    const auto began = steady_clock::now();
    const double before = cpu_seconds();
    work();
    const double seconds = cpu_seconds() - before;
    return {seconds, std::chrono::duration<double>(steady_clock::now() - began).count(),
            peak_megabytes()};
}

void print(const char* name, const measured& took, const episode_table& table,
           std::uint64_t spikes) {
    fmt::print(
        "{}: {} spikes, threshold {}, {:.1f} s of CPU, {:.0f} ns a spike, {:.1f} s by the clock, "
        "peak {:.0f} MB\n",
        name, spikes, table.threshold, took.seconds, took.ns_each(spikes), took.wall_seconds,
        took.megabytes);
    for (const episode_level& level : table.levels)
        fmt::print("  size {}: {} candidates, {} frequent, {:.2f} s by the clock\n", level.size,
                   level.candidates, level.frequent, level.seconds);
}

int compare(std::uint64_t spikes, std::uint64_t fitting, const execution& run) {
    episode_table table;
    const auto [held, in_memory_took] = [&] {
        const spike_sequence recording = in_memory(fitting);
        return std::pair{recording.size(),
                         measure([&] { table = mine_episodes(recording, options, run); })};
    }();
    print("in memory", in_memory_took, table, held);
    for (const std::uint64_t number : {fitting, spikes}) {
        generated_blocks blocks(number);
        episodes_in_blocks found;
        measured took = measure([&] { found = mine_episodes(blocks, options, run); });
        took.seconds -= blocks.generation_seconds();
        print("in blocks", took, found.table, found.spikes);
        fmt::print(
            "  and {:.1f} s of CPU for the generation; ratio to memory for each spike: {:.2f}\n",
            blocks.generation_seconds(), took.ns_each(found.spikes) / in_memory_took.ns_each(held));
        if (number == fitting && found.table.episodes != table.episodes) {
            fmt::print("the episodes differ\n");
            return 1;
        }
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const execution run{.threads = argc > 3 ? std::atoi(argv[3]) : 0};
    if (argc > 1 && std::filesystem::exists(argv[1])) {
        const auto blocks = open_spike_blocks(argv[1]);
        episodes_in_blocks found;
        const measured took = measure([&] { found = mine_episodes(*blocks, options, run); });
        print(argv[1], took, found.table, found.spikes);
        return 0;
    }
    const auto number = [&](int i, double usual) {
        return static_cast<std::uint64_t>(argc > i ? std::strtod(argv[i], nullptr) : usual);
    };
    if (argc > 4) options.min_rate = std::strtod(argv[4], nullptr);
    return compare(number(1, 1e8), number(2, 1e7), run);
}
