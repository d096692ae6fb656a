// Messages of the ZMQ Interface, 200,000 spikes of 1,000 units in blocks of 1,024 samples, with 100
// armed episodes: from the frames of a message to the lines of JSON about detections. `headers`
// only reads the headers; the baseline reads them with nlohmann's parser. Speeds are in spikes a
// second. The detections are those of a detector that takes the same spikes in order, and
// `allocations` counts those of memory for a spike, after a first pass: the analysis makes none.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/live/armed_chains.hpp"
#include "benchmarks/support/ratios.hpp"
#include "live/session/session.hpp"
#include "live/sinks/json_results.hpp"
#include "live/sources/open_ephys_messages.hpp"
#include "tests/live/sources/open_ephys_stand_in.hpp"

namespace {

std::atomic<std::uint64_t> allocations{0};

}  // namespace

// If they were inlined, g++ would take them for others than those of the library.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    if (void* const memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
    std::free(memory);
}

namespace {

using namespace spikeweave;
using namespace spikeweave::live;

constexpr std::int64_t spike_count = 200'000;
constexpr std::int64_t rate_hz = 20'000;  // of samples and of spikes

struct load {
    std::vector<stand_in::message> messages{};
    std::uint64_t detections = 0;
};

load make_load() {
    load made;
    std::uint64_t number = 0;
    constexpr std::int64_t block = 1024;
    for (std::int64_t begin = 0; begin < spike_count; begin += block) {
        const std::int64_t end = std::min(begin + block, spike_count);
        std::vector<std::pair<std::int64_t, std::int64_t>> spikes;
        for (std::int64_t i = begin; i < end; ++i) spikes.emplace_back(chain_unit_of(i), i);
        std::sort(spikes.begin(), spikes.end());
        for (const auto& [unit, sample] : spikes)
            made.messages.push_back(
                stand_in::spike_message(number++, sample, fmt::format("E{}", unit)));
        // The Spike Detector holds back 100 samples of each block; here it has seen them.
        made.messages.push_back(
            stand_in::data_message(number++, begin, end - begin + 100, rate_hz));
    }
    episode_detector detector(armed_chains(), chain_units);
    for (std::int64_t i = 0; i < spike_count; ++i)
        made.detections +=
            detector.add(50 * i, unit_id{static_cast<std::uint32_t>(chain_unit_of(i))}).size();
    return made;
}

const load& the_load() {
    static const load made = make_load();
    return made;
}

class analysis {
public:
    explicit analysis(std::uint64_t& bytes)
        : results_(armed_chains(), std::make_unique<written_lines>(
                                       [&bytes](std::string_view text) { bytes += text.size(); })),
          through_(chain_unit_names(),
                   {.order = {.policy = order_policy::block}, .armed = armed_chains()}, results_) {}

    std::uint64_t run() {
        const std::uint64_t before = through_.counts().detections;
        std::array<std::string_view, 3> frames{};
        open_ephys_messages messages(open_ephys_sender::zmq_interface, "probe", chain_unit_names());
        take({.begins_epoch = true});
        for (const stand_in::message& one : the_load().messages) {
            std::copy(one.begin(), one.end(), frames.begin());
            messages.take(frames);
            while (const auto block = messages.complete()) take(*block);
        }
        return through_.counts().detections - before;
    }

    std::uint64_t allocations_of_session() const { return in_session_; }

private:
    void take(const source_block& block) {
        const std::uint64_t before = allocations;
        through_.take(block);
        in_session_ += allocations - before;
    }

    json_results results_;
    session through_;
    std::uint64_t in_session_ = 0;
};

void analyse(benchmark::State& state) {
    std::uint64_t bytes = 0;
    analysis through(bytes);
    if (through.run() != the_load().detections) {
        state.SkipWithError("other detections than those of a detector alone");
        return;
    }
    const std::uint64_t warm = through.allocations_of_session();
    const std::uint64_t before = allocations;
    for (auto _ : state) benchmark::DoNotOptimize(through.run());
    if (through.allocations_of_session() != warm) {
        state.SkipWithError("the analysis allocates memory");
        return;
    }
    const auto spikes = static_cast<double>(spike_count) * static_cast<double>(state.iterations());
    state.SetItemsProcessed(static_cast<std::int64_t>(spikes));
    state.counters["allocations"] = static_cast<double>(allocations - before) / spikes;
}

void read_headers(benchmark::State& state) {
    open_ephys_header_parser parser;
    for (auto _ : state)
        for (const stand_in::message& one : the_load().messages)
            benchmark::DoNotOptimize(parser.parse_interface(one[1]));
    state.SetItemsProcessed(spike_count * state.iterations());
}

void read_headers_with_nlohmann(benchmark::State& state) {
    std::int64_t sum = 0;
    for (auto _ : state) {
        for (const stand_in::message& one : the_load().messages) {
            const auto header = nlohmann::json::parse(one[1]);
            sum += header["message_num"].get<std::int64_t>();
            if (header["type"] != "spike") continue;
            benchmark::DoNotOptimize(header["spike"]["electrode"].get<std::string>());
            sum += header["spike"]["sample_num"].get<std::int64_t>();
        }
    }
    benchmark::DoNotOptimize(sum);
    state.SetItemsProcessed(spike_count * state.iterations());
}

const ratios_to by_parser("messages", "headers_with_nlohmann");

BENCHMARK(analyse)->Name("messages/analyse")->Unit(benchmark::kMillisecond)->Repetitions(5);
BENCHMARK(read_headers)->Name("messages/headers")->Unit(benchmark::kMillisecond)->Repetitions(5);
BENCHMARK(read_headers_with_nlohmann)
    ->Name("messages/headers_with_nlohmann")
    ->Unit(benchmark::kMillisecond)
    ->Repetitions(5);

}  // namespace
