// Counting and mining of episodes on GPUs compared with the CPU's threads and with the published
// strategies, on the same machine in the same run. Results are compared first.
//
// published_load_S_s: 43,656 candidates of size 4 on 64 units of 50 Hz over S seconds, as whole
// calls including uploads. Speed: candidates × spikes per second.
//
// one_episode: kernels for one episode of size N whose units have E spikes each, with the spikes
// already on the device. Speed: bytes of the spike trains, each read once, compared with a copy on
// the device (bytes read and written).
//
// all_pairs: 1,000 units, four intervals, 10^7 spikes. mine_…: whole searches.
//
// …_kernels: only the kernels of the same calls; for the CPU, only the levels.
//
// The published strategies may take too long on the longest stream. A strategy that would,
// estimated from its time on a shorter stream, counts only the first candidates: its speed is then
// that for these, and `candidates` gives their number.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "benchmarks/support/published_load.hpp"
#include "benchmarks/support/ratios.hpp"
#include "device/cuda.hpp"
#include "mine/episodes/devices/device_set.hpp"
#include "mine/episodes/latest_start/cuda/time_split.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace {

using namespace spikeweave;
using namespace std::chrono_literals;

// The devices and the strategy of a count; its name is that of the benchmark.
struct contender {
    std::string name;
    episode_strategy strategy = episode_strategy::latest_start;
    execution run{};
    device_split split = device_split::automatic;
};

int all_threads() {
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

contender on_cpu(int threads) {
    return {fmt::format("cpu-{}-threads", threads),
            episode_strategy::latest_start,
            {.threads = threads}};
}

contender on_gpus(int count) {
    contender one{count == 1 ? "latest-start" : fmt::format("latest-start-{}-gpus", count),
                  episode_strategy::latest_start,
                  {}};
    for (int ordinal = 0; ordinal < count; ++ordinal) one.run.devices.push_back(ordinal);
    return one;
}

// Each device counts all candidates in a part of the recording.
contender on_gpus_by_time(int count) {
    contender one = on_gpus(count);
    one.name += "-by-time";
    one.split = device_split::time;
    return one;
}

// ---- the published load

constexpr std::uint32_t units = published_units;

const spike_sequence& stream(int seconds) {
    static std::map<int, spike_sequence> all;
    const auto known = all.find(seconds);
    if (known != all.end()) return known->second;
    return all
        .emplace(
            seconds,
            simulate_poisson(
                {.units = units, .length = std::chrono::seconds{seconds}, .rate_hz = 50, .seed = 1})
                .spikes)
        .first->second;
}

const std::vector<episode>& candidates() {
    static const std::vector<episode> all = published_candidates({5ms, 10ms});
    return all;
}

// For each contender, one candidate in this number is counted.
std::map<std::string, std::size_t>& sampled_one_in() {
    static std::map<std::string, std::size_t> of;
    return of;
}

// The longest acceptable time of a call.
constexpr double patience_seconds = 10;

// The best time of kernels and the amount of work, by group and contender.
std::map<std::pair<std::string, std::string>, std::pair<double, double>>& kernels_of() {
    static std::map<std::pair<std::string, std::string>, std::pair<double, double>> measured;
    return measured;
}

void note_kernels(const std::string& group, const std::string& name, double seconds, double work) {
    if (seconds <= 0) return;
    auto& best = kernels_of()[{group, name}];
    if (best.first == 0 || seconds < best.first) best = {seconds, work};
}

// Reports the kernel time of earlier calls as a separate benchmark.
void kernels_alone(benchmark::State& state, const std::string& group, const std::string& name) {
    const auto measured = kernels_of().find({group, name});
    if (measured == kernels_of().end()) {
        state.SkipWithError("the whole call was left out or failed");
        return;
    }
    const auto [seconds, work] = measured->second;
    for (auto _ : state) state.SetIterationTime(seconds);
    state.counters["items_per_second"] =
        benchmark::Counter(work, benchmark::Counter::kIsIterationInvariantRate);
}

void add_kernels_alone(const std::string& group, const std::string& name) {
    benchmark::RegisterBenchmark(fmt::format("{}_kernels/{}", group, name).c_str(), kernels_alone,
                                 group, name)
        ->Unit(benchmark::kMillisecond)
        ->UseManualTime()
        ->Iterations(1);
}

void published_load(benchmark::State& state, const contender& one, int seconds, int next_seconds) {
    static std::map<int, std::vector<std::uint64_t>> expected;
    const spike_sequence& spikes = stream(seconds);
    if (!expected.contains(seconds))
        expected[seconds] = count_episodes(spikes, candidates(), {}).counts;
    // Occurrences are counted candidate by candidate.
    const std::size_t at_first = one.strategy == episode_strategy::occurrences ? 100 : 1;
    std::size_t& one_in = sampled_one_in().try_emplace(one.name, at_first).first->second;
    std::vector<episode> counted;
    counted.assign(candidates().begin(),
                   candidates().begin() +
                       static_cast<std::ptrdiff_t>((candidates().size() + one_in - 1) / one_in));

    double kernel_seconds = 0;
    double last_seconds = 0;
    for (auto _ : state) {
        const auto began = std::chrono::steady_clock::now();
        const episode_count_result result = count_episodes(
            spikes, counted, {.strategy = one.strategy, .split = one.split}, one.run);
        last_seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        kernel_seconds = result.kernel_seconds;
        state.PauseTiming();
        for (std::size_t i = 0; i < counted.size(); ++i) {
            if (result.counts[i] == expected[seconds][i]) continue;
            state.SkipWithError("a count differs from latest-start's on the CPU");
            return;
        }
        state.ResumeTiming();
    }
    const double work = static_cast<double>(counted.size()) * static_cast<double>(spikes.size());
    state.counters["items_per_second"] =
        benchmark::Counter(work, benchmark::Counter::kIsIterationInvariantRate);
    state.counters["candidates"] = static_cast<double>(counted.size());
    state.counters["spikes"] = static_cast<double>(spikes.size());
    state.counters["kernel_ms"] = 1000 * kernel_seconds;
    note_kernels(fmt::format("published_load_{}_s", seconds), one.name, kernel_seconds, work);
    const double next = last_seconds * next_seconds / seconds;
    if (next > patience_seconds) one_in *= static_cast<std::size_t>(next / patience_seconds) + 1;
}

// ---- one episode

// Has `each` spikes per unit, no two at the same time. An interval contains about a quarter of a
// spike.
struct dense_stream {
    spike_sequence spikes;
    episode what;
};

dense_stream make_dense(std::uint32_t size, std::size_t each) {
    const std::size_t all = size * each;
    // At most 4,000 s, so that times fit into 32-bit microseconds.
    const auto mean_step =
        static_cast<std::uint64_t>(std::clamp<double>(4e9 / static_cast<double>(all), 2, 1000));
    std::vector<std::int64_t> times(all);
    std::vector<unit_id> of(all);
    random_stream random(2, random_purpose::poisson_spikes, size);
    std::int64_t now = 0;
    for (std::size_t i = 0; i < all; ++i) {
        const std::uint64_t drawn = random.below(std::uint64_t{size} * (2 * mean_step - 1));
        now += 1 + static_cast<std::int64_t>(drawn / size);
        times[i] = now;
        of[i] = unit_id{static_cast<std::uint32_t>(drawn % size)};
    }
    std::vector<std::string> names;
    for (std::uint32_t u = 0; u < size; ++u) names.push_back(fmt::format("n{}", u));
    dense_stream made{
        {std::move(times), std::move(of), std::move(names), {duration{0}, duration{now + 1}}}, {}};
    const duration width{
        std::max<std::int64_t>(1, static_cast<std::int64_t>(mean_step * size / 4))};
    for (std::uint32_t u = 0; u < size; ++u) made.what.units.push_back(unit_id{u});
    made.what.delays.assign(size - 1, {width, 2 * width});
    return made;
}

void one_episode(benchmark::State& state, std::uint32_t size, std::size_t each) {
    const dense_stream load = make_dense(size, each);
    const std::vector<episodes::interval_us> intervals{
        {load.what.delays[0].low.count(), load.what.delays[0].high.count()}};
    const execution run{.devices = {0}};
    const episodes::counting_problem problem{load.spikes, intervals, tie_rule::time, run};
    const episodes::candidate_set candidate{size, load.what.units,
                                            std::vector<std::uint32_t>(size - 1, 0)};
    const episodes::device_set devices(problem);
    const auto count = [&] {
        return episodes::count_by_latest_start_on_device(devices.problems()[0], candidate, 0);
    };
    // The expected count is from the CPU if it has the memory and does not take minutes, otherwise
    // from the same GPU piece by piece.
    constexpr std::size_t most_for_cpu = 100'000'000;
    const std::uint64_t expected =
        load.spikes.size() <= most_for_cpu
            ? count_episodes(load.spikes, std::span{&load.what, 1}).counts[0]
            : episodes::count_over_time(devices.problems(), candidate, 3).counts[0];
    if (const std::uint64_t counted = count().counts[0]; counted != expected || counted == 0) {
        state.SkipWithError("the count differs");
        return;
    }
    double whole = 0;
    std::int64_t calls = 0;
    for (auto _ : state) {
        const auto began = std::chrono::steady_clock::now();
        state.SetIterationTime(count().kernel_seconds);
        whole += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        ++calls;
    }
    const double bytes = 4.0 * static_cast<double>(load.spikes.size());
    state.counters["items_per_second"] =
        benchmark::Counter(bytes, benchmark::Counter::kIsIterationInvariantRate);
    state.counters["count"] = static_cast<double>(expected);
    state.counters["call_us"] = 1e6 * whole / static_cast<double>(calls);
}

// Counts 10^9 spikes on several GPUs, as whole calls with all copies. The first contender's count
// is expected of the others, which divide the time differently.
void billion(benchmark::State& state, const contender& one) {
    static const dense_stream load = make_dense(4, 250'000'000);
    static std::optional<std::uint64_t> expected;
    for (auto _ : state) {
        const episode_count_result result =
            count_episodes(load.spikes, std::span{&load.what, 1}, {.split = one.split}, one.run);
        if (!expected) expected = result.counts[0];
        if (result.counts[0] != *expected) {
            state.SkipWithError("the count differs");
            return;
        }
        state.counters["kernel_ms"] = 1000 * result.kernel_seconds;
    }
    state.counters["count"] = static_cast<double>(*expected);
    state.counters["items_per_second"] = benchmark::Counter(
        static_cast<double>(load.spikes.size()), benchmark::Counter::kIsIterationInvariantRate);
}

void copy_on_device(benchmark::State& state) {
    const device::scoped_device scope(0);
    const device::stream on;
    constexpr std::size_t words = std::size_t{1} << 29;
    device::buffer<std::uint64_t> from(words, on);
    const device::buffer<std::uint64_t> to(words, on);
    from.fill(0x5A);
    const device::stopwatch watch;
    for (auto _ : state) {
        watch.start(on);
        device::check(
            cudaMemcpyAsync(to.data(), from.data(), words * 8, cudaMemcpyDeviceToDevice, on.get()));
        watch.stop(on);
        on.wait();
        state.SetIterationTime(watch.seconds());
    }
    state.counters["items_per_second"] =
        benchmark::Counter(16.0 * words, benchmark::Counter::kIsIterationInvariantRate);
}

// ---- searches

struct search {
    std::string name;
    spike_sequence spikes;
    episode_mining_options options;
};

double candidates_of(const episode_table& table) {
    double all = 0;
    for (const episode_level& level : table.levels) all += static_cast<double>(level.candidates);
    return all;
}

void mine(benchmark::State& state, const search& what, const contender& one) {
    static std::map<std::string, episode_table> expected;
    const auto run = [&] {
        episode_mining_options options = what.options;
        options.strategy = one.strategy;
        return mine_episodes(what.spikes, options, one.run);
    };
    if (!expected.contains(what.name))
        expected[what.name] = mine_episodes(what.spikes, what.options);
    const episode_table& right = expected[what.name];
    if (right.episodes.empty()) {
        state.SkipWithError("nothing is frequent");
        return;
    }
    double kernel_seconds = 0;
    for (auto _ : state) {
        const episode_table table = run();
        kernel_seconds = 0;
        double level_seconds = 0;
        for (const episode_level& level : table.levels) {
            kernel_seconds += level.kernel_seconds;
            level_seconds += level.seconds;
        }
        note_kernels(what.name, one.name, kernel_seconds > 0 ? kernel_seconds : level_seconds,
                     candidates_of(right));
        state.PauseTiming();
        if (table.episodes != right.episodes) {
            state.SkipWithError("the answer differs from the CPU's");
            return;
        }
        state.ResumeTiming();
    }
    state.counters["items_per_second"] =
        benchmark::Counter(candidates_of(right), benchmark::Counter::kIsIterationInvariantRate);
    state.counters["episodes"] = static_cast<double>(right.episodes.size());
    state.counters["kernel_ms"] = 1000 * kernel_seconds;
}

const search& all_pairs() {
    // A pair has about 250 occurrences within one interval by chance.
    static const search one{
        "all_pairs",
        simulate_poisson({.units = 1000, .length = 2000s, .rate_hz = 5, .seed = 3}).spikes,
        {.delays = {{0ms, 5ms}, {5ms, 10ms}, {10ms, 15ms}, {15ms, 20ms}},
         .min_count = 310,
         .max_size = 2}};
    return one;
}

const std::vector<search>& whole_searches() {
    static const std::vector<search> all = [] {
        const std::vector<delay_interval> four{{1ms, 4ms}, {4ms, 6ms}, {6ms, 8ms}, {8ms, 11ms}};
        const spike_sequence sym26 = simulate_sym26({.seed = 1}).spikes;
        std::vector<search> searches;
        for (const std::uint64_t threshold : {300U, 200U})
            searches.push_back({fmt::format("mine_sym26_at_{}", threshold),
                                sym26,
                                {.delays = four, .min_count = threshold}});
        // Small streams of about 2,000 and 10,000 spikes.
        for (const int seconds : {4, 20})
            searches.push_back(
                {fmt::format("mine_{}_s", seconds),
                 simulate_poisson({.units = 26, .length = std::chrono::seconds{seconds}, .seed = 1})
                     .spikes,
                 {.delays = four, .min_count = seconds * 3U, .max_size = 4}});
        searches.push_back(
            {"mine_culture",
             simulate_culture({.length = 300s, .seed = 1}).spikes,
             {.delays = {{0ms, 5ms}, {5ms, 10ms}}, .min_count = 280, .max_size = 3}});
        return searches;
    }();
    return all;
}

// ----

std::vector<ratios_to> ratios;

void add_published_load(int gpus) {
    const std::vector<int> lengths{20, 200, 1000, 4000};
    std::vector<contender> all;
    for (const episode_strategy strategy : available_episode_strategies(device_kind::cuda)) {
        if (strategy == episode_strategy::latest_start) continue;
        all.push_back({std::string(to_string(strategy)), strategy, {.devices = {0}}});
    }
    for (int count = 1; count <= gpus; count *= 2) all.push_back(on_gpus(count));
    for (int count = 2; count <= gpus; count *= 2) all.push_back(on_gpus_by_time(count));
    all.push_back(on_cpu(1));
    if (all_threads() > 1) all.push_back(on_cpu(all_threads()));
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const int seconds = lengths[i];
        const int next = lengths[std::min(i + 1, lengths.size() - 1)];
        const std::string group = fmt::format("published_load_{}_s", seconds);
        ratios.emplace_back(group, "latest-start");
        ratios.emplace_back(group + "_kernels", "latest-start");
        for (const contender& one : all)
            benchmark::RegisterBenchmark(fmt::format("{}/{}", group, one.name).c_str(),
                                         published_load, one, seconds, next)
                ->Unit(benchmark::kMillisecond)
                ->UseRealTime()
                ->Iterations(1)
                ->Repetitions(one.name.starts_with("latest-start") ? 3 : 1);
        for (const contender& one : all) {
            if (!one.run.devices.empty()) add_kernels_alone(group, one.name);
        }
    }
}

void add_one_episode() {
    ratios.emplace_back("one_episode", "copy");
    benchmark::RegisterBenchmark("one_episode/copy", copy_on_device)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond)
        ->Iterations(10)
        ->Repetitions(3);
    const std::vector<std::pair<std::uint32_t, std::size_t>> loads{
        {2, 1'000'000},   {2, 10'000'000}, {2, 250'000'000}, {4, 1'000'000},  {4, 10'000'000},
        {4, 250'000'000}, {8, 1'000'000},  {8, 10'000'000},  {8, 250'000'000}};
    for (const auto& [size, each] : loads)
        benchmark::RegisterBenchmark(fmt::format("one_episode/size-{}-of-{}", size, each).c_str(),
                                     one_episode, size, each)
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond)
            ->Iterations(10);
}

void add_billion(int gpus) {
    std::vector<contender> all{on_gpus(1)};
    for (int count = 2; count <= gpus; count *= 2) all.push_back(on_gpus_by_time(count));
    ratios.emplace_back("billion", all.front().name);
    for (const contender& one : all)
        benchmark::RegisterBenchmark(fmt::format("billion/{}", one.name).c_str(), billion, one)
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime()
            ->Iterations(1)
            ->Repetitions(2);
}

void add_searches(int gpus) {
    const auto add = [gpus](const std::string& name, const auto& searched, int repetitions) {
        std::vector<contender> all;
        for (int count = 1; count <= gpus; count *= 2) all.push_back(on_gpus(count));
        all.push_back(on_cpu(1));
        if (all_threads() > 1) all.push_back(on_cpu(all_threads()));
        ratios.emplace_back(name, all.back().name);
        for (const contender& one : all)
            benchmark::RegisterBenchmark(
                fmt::format("{}/{}", name, one.name).c_str(),
                [searched, one](benchmark::State& state) { mine(state, searched(), one); })
                ->Unit(benchmark::kMillisecond)
                ->UseRealTime()
                ->Iterations(1)
                ->Repetitions(one.name == "cpu-1-threads" ? 1 : repetitions);
        ratios.emplace_back(name + "_kernels", all.back().name);
        for (const contender& one : all) add_kernels_alone(name, one.name);
    };
    add(
        "all_pairs", [] { return std::cref(all_pairs()); }, 3);
    for (const std::string name :
         {"mine_4_s", "mine_20_s", "mine_sym26_at_300", "mine_sym26_at_200", "mine_culture"})
        add(
            name,
            [name] {
                return std::cref(*std::find_if(whole_searches().begin(), whole_searches().end(),
                                               [&](const search& s) { return s.name == name; }));
            },
            5);
}

const bool registered = [] {
    const auto gpus = static_cast<int>(devices().size());
    if (gpus == 0) {
        std::fputs(("no GPU benchmark: " + device_unavailable_reason() + "\n").c_str(), stderr);
        return false;
    }
    add_published_load(gpus);
    add_one_episode();
    add_billion(gpus);
    add_searches(gpus);
    return true;
}();

}  // namespace
