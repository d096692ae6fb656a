// SPADE's mining on the input of Porrmann et al. 2021 (doi:10.3389/fninf.2021.723406): their eight
// jobs, one by one and in one pass, compared with the miner in Elephant's wheel (fim) on the same
// windows. Times are CPU seconds of one thread, except where threads or the disk are measured.
// Results are compared before anything is timed.
//
// fim takes about 13 minutes for the eight jobs; --benchmark_filter='-fim' leaves it out.

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "benchmarks/support/process.hpp"
#include "benchmarks/support/ratios.hpp"
#include "spikeweave/mine/spade.hpp"
#include "spikeweave/spikes/files.hpp"

namespace {

using namespace spikeweave;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr std::uint32_t window_bins = 20;

fs::path data(const char* name) {
    return fs::path(SPIKEWEAVE_SOURCE_DIR).parent_path() / "shared" / "data" / "spade" / name;
}

const spade_windows& windows() {
    static const spade_windows given =
        read_transactions(data("movement_pghf.transactions.txt.gz"), window_bins);
    return given;
}

const std::vector<pattern_rule>& jobs() {
    static const std::vector<pattern_rule> rules{
        {.min_occ = 88, .min_spikes = 2, .min_neu = 2},
        {.min_occ = 25, .min_spikes = 3, .min_neu = 3},
        {.min_occ = 12, .min_spikes = 4, .min_neu = 4},
        {.min_occ = 10, .min_spikes = 5, .min_neu = 5},
        {.min_occ = 10, .min_spikes = 6, .min_neu = 6},
        {.min_occ = 10, .min_spikes = 7, .min_neu = 7},
        {.min_occ = 10, .min_spikes = 8, .min_neu = 8},
        {.min_occ = 10, .min_spikes = 9, .min_neu = 9},
    };
    return rules;
}

// A summary of the result that needs no storage: the number, and a digest that does not depend on
// the order and equals that of spade_fim.py.
struct answer {
    std::uint64_t patterns = 0;
    std::uint64_t digest = 0;

    void add(const pattern_table& block) {
        patterns += block.size();
        std::vector<pattern_item> items;
        for (std::size_t i = 0; i < block.size(); ++i) {
            items.assign(block.pattern(i).begin(), block.pattern(i).end());
            std::sort(items.begin(), items.end());
            items.push_back(block.counts[i]);
            std::uint64_t value = 0xCBF29CE484222325U;
            for (const pattern_item item : items) value = (value ^ item) * 0x100000001B3U;
            digest += value;
        }
    }
    friend bool operator==(const answer&, const answer&) = default;
};

pattern_mining_options options_of(std::vector<pattern_rule> rules, spade_strategy strategy) {
    return {.rules = std::move(rules), .strategy = strategy};
}

answer answer_of(const pattern_mining_options& options) {
    answer got;
    mine_patterns(windows(), options, [&](const pattern_table& block) { got.add(block); },
                  {.threads = 1});
    return got;
}

// Mines and discards each block.
std::uint64_t mine(const spade_windows& given, const pattern_mining_options& options, int threads) {
    std::uint64_t patterns = 0;
    mine_patterns(given, options, [&](const pattern_table& block) { patterns += block.size(); },
                  {.threads = threads});
    return patterns;
}

const answer& expected_of(std::size_t job) {
    static std::map<std::size_t, answer> known;
    if (!known.contains(job))
        known[job] = answer_of(options_of({jobs()[job]}, spade_strategy::first_bin));
    return known[job];
}

// Runs `work` and measures CPU time; each run is one item.
template <class Work>
void measure_cpu(benchmark::State& state, Work&& work) {
    static_cast<void>(windows());
    reset_peak_memory();
    for (auto _ : state) {
        const double began = cpu_seconds();
        work();
        state.SetIterationTime(cpu_seconds() - began);
    }
    state.SetItemsProcessed(state.iterations());
    state.counters["peak_MB"] = peak_megabytes();
}

void our_job(benchmark::State& state, std::size_t job, spade_strategy strategy) {
    const pattern_mining_options options = options_of({jobs()[job]}, strategy);
    if (strategy != spade_strategy::first_bin && answer_of(options) != expected_of(job)) {
        state.SkipWithError("the answer differs from first-bin's");
        return;
    }
    std::uint64_t patterns = 0;
    measure_cpu(state, [&] { patterns = mine(windows(), options, 1); });
    state.counters["patterns"] = static_cast<double>(patterns);
}

struct fim_run {
    double seconds = 0;
    double peak_mb = 0;
    answer found{};
};

const char* python() {
    static const std::string path = (fs::path(SPIKEWEAVE_SOURCE_DIR) / ".venv/bin/python").string();
    return path.c_str();
}
const char* fim_script() {
    static const std::string path =
        (fs::path(SPIKEWEAVE_SOURCE_DIR) / "benchmarks/mine/spade/spade_fim.py").string();
    return path.c_str();
}

bool has_fim() {
    const std::array<const char*, 4> check{
        python(), "-c", "from elephant.spade_src import fim; print('yes')", nullptr};
    return output_of(check.data()) == "yes\n";
}

// Runs each job once per run of the benchmarks.
const fim_run& run_fim(std::size_t job) {
    static std::map<std::size_t, fim_run> known;
    if (known.contains(job)) return known[job];
    const pattern_rule& rule = jobs()[job];
    const std::array<std::string, 5> given{
        data("movement_pghf.transactions.txt.gz").string(), std::to_string(window_bins),
        std::to_string(rule.min_occ), std::to_string(rule.min_spikes),
        std::to_string(rule.min_neu)};
    const std::array<const char*, 8> command{python(),         fim_script(),     given[0].c_str(),
                                             given[1].c_str(), given[2].c_str(), given[3].c_str(),
                                             given[4].c_str(), nullptr};
    std::istringstream said(output_of(command.data()));
    fim_run run;
    said >> run.seconds >> run.peak_mb >> run.found.patterns >> run.found.digest;
    return known[job] = run;
}

void fim_jobs(benchmark::State& state, const std::vector<std::size_t>& which) {
    fim_run sum;
    for (const std::size_t job : which) {
        const fim_run& run = run_fim(job);
        if (run.seconds == 0) return state.SkipWithError("fim did not come to an end");
        if (run.found != expected_of(job)) return state.SkipWithError("fim answers otherwise");
        sum.seconds += run.seconds;
        sum.peak_mb = std::max(sum.peak_mb, run.peak_mb);
        sum.found.patterns += run.found.patterns;
    }
    for (auto _ : state) state.SetIterationTime(sum.seconds);
    state.SetItemsProcessed(state.iterations());
    state.counters["peak_MB"] = sum.peak_mb;
    state.counters["patterns"] = static_cast<double>(sum.found.patterns);
}

void eight_jobs(benchmark::State& state) {
    std::uint64_t patterns = 0;
    measure_cpu(state, [&] {
        patterns = 0;
        for (const pattern_rule& rule : jobs())
            patterns += mine(windows(), options_of({rule}, spade_strategy::first_bin), 1);
    });
    state.counters["patterns"] = static_cast<double>(patterns);
}

void one_pass(benchmark::State& state) {
    const pattern_mining_options options = options_of(jobs(), spade_strategy::first_bin);
    std::uint64_t patterns = 0;
    measure_cpu(state, [&] { patterns = mine(windows(), options, 1); });
    state.counters["patterns"] = static_cast<double>(patterns);
}

void one_pass_on_threads(benchmark::State& state, int threads) {
    const pattern_mining_options options = options_of(jobs(), spade_strategy::first_bin);
    for (auto _ : state) benchmark::DoNotOptimize(mine(windows(), options, threads));
    state.SetItemsProcessed(state.iterations());
}

// Writes the largest result as flat arrays to a file, block by block, without keeping it in memory.
void largest_job_to_disk(benchmark::State& state, bool write) {
    const pattern_mining_options options = options_of({jobs()[2]}, spade_strategy::first_bin);
    const fs::path path =
        fs::temp_directory_path() / fmt::format("spikeweave-bench-{}.patterns", ::getpid());
    double megabytes = 0;
    reset_peak_memory();
    for (auto _ : state) {
        if (!write) {
            benchmark::DoNotOptimize(mine(windows(), options, 1));
            continue;
        }
        const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wbe"),
                                                                   std::fclose);
        const auto put = [&](const auto& values) {
            std::fwrite(values.data(), sizeof values[0], values.size(), file.get());
        };
        mine_patterns(windows(), options,
                      [&](const pattern_table& block) {
                          put(block.item_offsets);
                          put(block.items);
                          put(block.counts);
                          put(block.occurrence_offsets);
                          put(block.occurrences);
                      },
                      {.threads = 1});
        if (std::fflush(file.get()) != 0 || ::fsync(::fileno(file.get())) != 0)
            state.SkipWithError("the disk is full");
        megabytes = static_cast<double>(std::ftell(file.get())) / 1e6;
    }
    fs::remove(path);
    state.SetItemsProcessed(state.iterations());
    state.counters["peak_MB"] = peak_megabytes();
    state.counters["file_MB"] = megabytes;
}

// The same trains with each spike moved by up to 15 ms.
const spade_windows& dithered() {
    static const spade_windows moved = [] {
        const spike_sequence spikes = read_spikes(data("movement_pghf.spikes.tsv.gz")).spikes;
        std::mt19937_64 random(1);
        std::uniform_int_distribution<std::int64_t> by(-15'000, 15'000);
        spike_sequence_builder builder;
        for (std::size_t unit = 0; unit < spikes.unit_count(); ++unit)
            builder.unit(std::to_string(unit));
        for (std::size_t i = 0; i < spikes.size(); ++i)
            builder.append(spikes.times_us()[i] + by(random),
                           builder.unit(std::to_string(to_index(spikes.units()[i]))));
        return spade_windows(bin_spikes(builder.finish(), {.bin = 5ms}).spikes, window_bins);
    }();
    return moved;
}

occurrence_maxima by_enumeration(const pattern_mining_options& options) {
    occurrence_maxima maxima{.durations = window_bins};
    mine_patterns(dithered(), options,
                  [&](const pattern_table& block) {
                      for (std::size_t i = 0; i < block.size(); ++i) {
                          const std::size_t rows = block.pattern(i).size() + 1;
                          maxima.most.resize(std::max(maxima.most.size(), rows * window_bins), 0);
                          for (std::size_t row = 0; row < rows; ++row) {
                              auto& most = maxima.most[row * window_bins + block.duration(i)];
                              most = std::max(most, block.counts[i]);
                          }
                      }
                  },
                  {.threads = 1});
    return maxima;
}

void surrogate_spectrum(benchmark::State& state, bool enumerate) {
    pattern_mining_options options = options_of(jobs(), spade_strategy::first_bin);
    options.with_occurrences = false;
    const auto maxima = [&] {
        return enumerate
                   ? by_enumeration(options)
                   : find_occurrence_maxima(dithered(), options, spectrum_kind::size_count_duration,
                                            {.threads = 1});
    };
    static const occurrence_maxima expected = by_enumeration(options);
    if (maxima() != expected)
        return state.SkipWithError("the maxima are not those of the patterns");
    measure_cpu(state, [&] { benchmark::DoNotOptimize(maxima()); });
    state.counters["sizes"] = expected.sizes();
}

const std::vector<ratios_to>& ratios() {
    static const std::vector<ratios_to> all = [] {
        std::vector<ratios_to> some;
        for (std::size_t job = 0; job < jobs().size(); ++job)
            some.emplace_back(fmt::format("spade_job_{}", job), "fim");
        some.emplace_back("spade_eight_jobs", "fim");
        some.emplace_back("spade_one_pass_threads", "1");
        some.emplace_back("spade_job_2_to_disk", "mining-only");
        some.emplace_back("spade_surrogate_spectrum", "enumeration");
        return some;
    }();
    return all;
}

template <class Run, class... Arguments>
benchmark::internal::Benchmark* add(const std::string& name, Run run, Arguments... arguments) {
    return benchmark::RegisterBenchmark(name.c_str(), run, arguments...)
        ->Unit(benchmark::kMillisecond)
        ->Iterations(1);
}

void add_fim() {
    if (!has_fim()) {
        fmt::print("skipped: spade_job_*/fim and spade_eight_jobs/fim, no elephant in .venv\n");
        return;
    }
    std::vector<std::size_t> all;
    for (std::size_t job = 0; job < jobs().size(); ++job) {
        all.push_back(job);
        add(fmt::format("spade_job_{}/fim", job), fim_jobs, std::vector{job})->UseManualTime();
    }
    add("spade_eight_jobs/fim", fim_jobs, all)->UseManualTime();
}

const bool registered = [] {
    if (!fs::exists(data("movement_pghf.transactions.txt.gz"))) {
        fmt::print("skipped: spade_mining_bench, no {}\n", data("").string());
        return false;
    }
    static_cast<void>(ratios());
    for (std::size_t job = 0; job < jobs().size(); ++job)
        add(fmt::format("spade_job_{}/first-bin", job), our_job, job, spade_strategy::first_bin)
            ->UseManualTime()
            ->Repetitions(3);
    for (const std::size_t job : {0, 1, 3})
        add(fmt::format("spade_job_{}/fp-growth", job), our_job, job, spade_strategy::fp_growth)
            ->UseManualTime();
    add_fim();
    add("spade_eight_jobs/one-by-one", eight_jobs)->UseManualTime()->Repetitions(3);
    add("spade_eight_jobs/one-pass", one_pass)->UseManualTime()->Repetitions(3);
    for (const int threads : {1, 2})
        add(fmt::format("spade_one_pass_threads/{}", threads), one_pass_on_threads, threads)
            ->UseRealTime()
            ->Repetitions(5);
    for (const bool write : {false, true})
        add(write ? "spade_job_2_to_disk/flat-arrays" : "spade_job_2_to_disk/mining-only",
            largest_job_to_disk, write)
            ->UseRealTime()
            ->Repetitions(3);
    for (const bool enumerate : {true, false})
        add(enumerate ? "spade_surrogate_spectrum/enumeration"
                      : "spade_surrogate_spectrum/branch-and-bound",
            surrogate_spectrum, enumerate)
            ->UseManualTime()
            ->Repetitions(3);
    return true;
}();

}  // namespace
