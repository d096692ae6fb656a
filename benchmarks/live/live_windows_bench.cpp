// 1,000 units of 20 Hz, 20,000 spikes a second in blocks of a millisecond, in real time: how long
// after the time at which its block comes a detection of one of 100 armed episodes is given,
// without windows, with windows that are mined by a thread of their own, and with windows that are
// mined where spikes are taken (10 s long, one a second, at least 40 occurrences). `mining` is the
// processor time of all threads but the one that takes spikes, as a share of the time.
// SPIKEWEAVE_LIVE_SECONDS is the length of a run; 30 if it is not set.

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "live/session/session.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace {

using namespace spikeweave;
using namespace spikeweave::live;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr std::chrono::milliseconds block_length{1};

int seconds() {
    const char* const given = std::getenv("SPIKEWEAVE_LIVE_SECONDS");
    return given == nullptr ? 30 : std::max(std::atoi(given), 12);
}

const spike_sequence& spikes() {
    static const spike_sequence all =
        simulate_poisson(
            {.units = 1000, .length = std::chrono::seconds{seconds()}, .rate_hz = 20, .seed = 1})
            .spikes;
    return all;
}

struct latencies : sink {
    clock_type::time_point due{};
    std::vector<double> us{};

    void take(const event& what) override {
        what.visit(handlers{[&](const detection&) {
            us.push_back(
                std::chrono::duration<double, std::micro>(clock_type::now() - due).count());
        }});
    }

    double at(double share) {
        const auto place =
            us.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(us.size() - 1));
        std::nth_element(us.begin(), place, us.end());
        return *place;
    }
};

session_options analysis(const std::string& how) {
    session_options options;
    std::mt19937 random(5);
    for (int i = 0; i < 100; ++i) {
        episode what;
        for (int k = 0; k < 3; ++k)
            what.units.push_back(unit_id{static_cast<std::uint32_t>(random() % 1000)});
        what.delays.assign(2, {0ms, 16ms});
        options.armed.push_back({std::move(what)});
    }
    if (how == "no_windows") return options;
    options.windows = episode_window_options{
        10s, 1s, {.delays = default_delays(), .min_count = 40, .max_size = 4}};
    options.pace = {.beside = how == "beside"};
    if (options.pace.beside) options.pace.budget = 1s;
    return options;
}

double processor_seconds(int of) {
    rusage used{};
    getrusage(of, &used);
    const auto seconds_of = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

double processor_seconds_of_others() {
    return processor_seconds(RUSAGE_SELF) - processor_seconds(RUSAGE_THREAD);
}

void run(benchmark::State& state, const std::string& how) {
    const auto times = spikes().times_us();
    const auto units = spikes().units();
    const execution one_thread{.threads = 1};
    latencies results;
    session_counts counts;
    for (auto _ : state) {
        session live(spikes().unit_names(), analysis(how), results);
        const double before = processor_seconds_of_others();
        const auto began = clock_type::now();
        std::size_t at = 0;
        source_block block;
        for (duration end = block_length; end <= std::chrono::seconds{seconds()};
             end += block_length) {
            block.spikes.clear();
            block.watermark_us = end.count();
            for (; at < times.size() && times[at] < end.count(); ++at)
                block.spikes.push_back({times[at], units[at]});
            results.due = began + end;
            std::this_thread::sleep_until(results.due);
            live.take(block, one_thread);
        }
        live.finish(one_thread);
        state.counters["mining"] = (processor_seconds_of_others() - before) /
                                   std::chrono::duration<double>(clock_type::now() - began).count();
        counts = live.counts();
    }
    state.counters["detections"] = static_cast<double>(results.us.size());
    for (const auto& [name, share] :
         {std::pair{"p50_us", 0.5}, {"p99_us", 0.99}, {"p99.9_us", 0.999}, {"most_us", 1.0}})
        state.counters[name] = results.at(share);
    state.counters["windows"] = static_cast<double>(counts.windows);
    state.counters["incomplete"] = static_cast<double>(counts.incomplete);
    state.counters["skipped"] = static_cast<double>(counts.skipped);
}

const bool registered = [] {
    for (const std::string how : {"no_windows", "beside", "in_line"})
        benchmark::RegisterBenchmark(how.c_str(), run, how)
            ->Unit(benchmark::kSecond)
            ->UseRealTime()
            ->Iterations(1);
    return true;
}();

}  // namespace
