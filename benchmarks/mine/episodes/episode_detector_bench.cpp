// Detection of armed episodes of four units in spikes that arrive one after another: in a recording
// of few units, where a spike can continue many episodes, and in one of many. Speeds are in spikes
// per second. `find_occurrences` searches the whole recording for one episode after another; a
// tenth of them is measured; `separate` is a detector for each episode. After a first pass the
// detector allocates no memory.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "benchmarks/support/ratios.hpp"
#include "spikeweave/mine/episodes/detector.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace {

std::atomic<std::uint64_t> allocations{0};

}  // namespace

void* operator new(std::size_t size) {
    ++allocations;
    if (void* const memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
    std::free(memory);
}

namespace {

using namespace spikeweave;
using namespace std::chrono_literals;

struct load {
    spike_sequence spikes;
    std::vector<armed_episode> armed;
};

load load_of(const spike_sequence& spikes, std::size_t episodes) {
    std::mt19937_64 random(7);
    const std::vector<delay_interval> delays = default_delays();
    load made{spikes, {}};
    made.armed.resize(episodes);
    for (auto& [what, fire_at] : made.armed) {
        for (std::size_t k = 0; k < 4; ++k) {
            what.units.push_back(
                unit_id{static_cast<std::uint32_t>(random() % spikes.unit_count())});
            if (k > 0) what.delays.push_back(delays[random() % delays.size()]);
        }
    }
    return made;
}

const spike_sequence& few_units() {
    static const spike_sequence spikes = simulate_sym26({.seed = 1}).spikes;
    return spikes;
}

const spike_sequence& many_units() {
    static const spike_sequence spikes =
        simulate_poisson({.units = 1000, .length = 10s, .rate_hz = 20, .seed = 1}).spikes;
    return spikes;
}

std::uint64_t detections_in(episode_detector& detector, const spike_sequence& spikes) {
    std::uint64_t detections = 0;
    detector.add(spikes.times_us(), spikes.units(),
                 [&](const episode_detection&) { ++detections; });
    detector.flush();
    return detections;
}

// Whether a detector that has seen the spikes once detects what is in them, without allocations.
bool is_right(const load& given) {
    episode_detector detector(given.armed, given.spikes.unit_count());
    detections_in(detector, given.spikes);
    const std::uint64_t before = allocations;
    detections_in(detector, given.spikes);
    if (allocations != before) return false;
    for (std::size_t i = 0; i < given.armed.size(); i += 10) {
        const std::size_t expected = find_occurrences(given.spikes, given.armed[i].what).size();
        if (detector.counts(i) != detection_counts{2 * expected, 2 * expected}) return false;
    }
    return true;
}

void detect(benchmark::State& state, const spike_sequence& (*spikes)(), std::size_t episodes,
            const std::string& how) {
    const load given = load_of(spikes(), episodes);
    if (!is_right(given)) {
        state.SkipWithError("not the occurrences, or memory was allocated");
        return;
    }
    std::vector<episode_detector> detectors;
    if (how == "detector") {
        detectors.emplace_back(given.armed, given.spikes.unit_count());
    } else if (how == "separate") {
        for (const armed_episode& one : given.armed)
            detectors.emplace_back(std::vector{one}, given.spikes.unit_count());
    }
    const std::size_t one_in = how == "detector" ? 1 : 10;
    for (auto _ : state) {
        if (how == "find_occurrences") {
            for (std::size_t i = 0; i < given.armed.size(); i += one_in)
                benchmark::DoNotOptimize(find_occurrences(given.spikes, given.armed[i].what));
        } else {
            for (std::size_t i = 0; i < detectors.size(); i += one_in)
                benchmark::DoNotOptimize(detections_in(detectors[i], given.spikes));
        }
    }
    state.SetItemsProcessed(state.iterations() *
                            static_cast<std::int64_t>(given.spikes.size() / one_in));
}

const ratios_to few_1000("detect_1000_of_few_units", "find_occurrences");
const ratios_to many_1000("detect_1000_of_many_units", "find_occurrences");
const ratios_to few_by_number("detect_of_few_units", "1000");
const ratios_to many_by_number("detect_of_many_units", "1000");

const bool registered = [] {
    const auto add = [](const std::string& name, const spike_sequence& (*spikes)(),
                        std::size_t episodes, const std::string& how) {
        benchmark::RegisterBenchmark(name.c_str(), detect, spikes, episodes, how)
            ->Unit(benchmark::kMillisecond)
            ->Repetitions(3);
    };
    for (const std::string how : {"detector", "separate", "find_occurrences"}) {
        add("detect_1000_of_few_units/" + how, few_units, 1000, how);
        add("detect_1000_of_many_units/" + how, many_units, 1000, how);
    }
    for (const std::size_t episodes : {10, 100, 1000}) {
        add(fmt::format("detect_of_few_units/{}", episodes), few_units, episodes, "detector");
        add(fmt::format("detect_of_many_units/{}", episodes), many_units, episodes, "detector");
    }
    return true;
}();

}  // namespace
