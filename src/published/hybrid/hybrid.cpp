// The published choice between PTPE and MTPE, by a table that was measured on the device.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>

#include "core/stop.hpp"
#include "io/atomic_file.hpp"
#include "mine/episodes/devices/backend.hpp"
#include "mine/episodes/devices/counters.hpp"
#include "mine/episodes/devices/device_set.hpp"
#include "published/hybrid/calibration_file.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/core/version.hpp"
#include "spikeweave/published/hybrid.hpp"

namespace spikeweave {
namespace {

struct table {
    hybrid_calibration by{};
    bool measured = false;
};

// Tables in use, by ordinal. A file is read once: a run does not change its mind.
class tables {
public:
    table of(int ordinal) {
        const std::lock_guard lock(access_);
        const auto known = known_.find(ordinal);
        if (known != known_.end()) return known->second;
        return known_.emplace(ordinal, looked_up(ordinal)).first->second;
    }
    void set(int ordinal, hybrid_calibration measured) {
        const std::lock_guard lock(access_);
        known_[ordinal] = {std::move(measured), true};
    }

private:
    static table looked_up(int ordinal) {
        for (const device_info& one : devices()) {
            if (one.ordinal != ordinal) continue;
            if (auto kept = load_hybrid_calibration(one)) return {std::move(*kept), true};
        }
        return {episodes::built_in_calibration(), false};
    }

    std::mutex access_{};
    std::map<int, table> known_{};
};

tables& known_tables() {
    static tables all;
    return all;
}

constexpr std::uint32_t units = 64;
constexpr std::size_t largest_size = 8;
constexpr std::uint64_t most_episodes = std::uint64_t{1} << 17;

// 64 units of 20 Hz for 50 s, on a grid of 100 us: the speed of either strategy hangs on how many
// spikes there are, hardly on which.
spike_sequence calibration_spikes() {
    constexpr int spikes = 64'000;
    constexpr std::uint64_t grid = 500'000;
    random_stream random(1, random_purpose::hybrid_calibration, 0);
    spike_sequence_builder builder;
    for (std::uint32_t u = 0; u < units; ++u) builder.unit(std::to_string(u));
    for (int i = 0; i < spikes; ++i) {
        const auto time = static_cast<std::int64_t>(random.below(grid) * 100);
        builder.append(time, unit_id{static_cast<std::uint32_t>(random.below(units))});
    }
    return builder.finish();
}

episodes::candidate_set calibration_episodes(std::size_t size, std::uint64_t number) {
    random_stream random(1, random_purpose::hybrid_calibration, 1);
    episodes::candidate_set all{size};
    all.units.reserve(number * size);
    for (std::uint64_t i = 0; i < number * size; ++i)
        all.units.push_back(unit_id{static_cast<std::uint32_t>(random.below(units))});
    all.delays.resize(number * (size - 1));
    return all;
}

double seconds_of(episodes::device_counter count, const episodes::device_problem& problem,
                  const episodes::candidate_set& candidates) {
    double best = 0;
    for (int run = 0; run < 2; ++run) {
        const auto began = std::chrono::steady_clock::now();
        static_cast<void>(count(problem, candidates, 0));
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
        best = run == 0 ? took.count() : std::min(best, took.count());
    }
    return best;
}

// The first power of two from which a thread for each is faster, or the first one not tried.
std::uint64_t measured_crossover(const episodes::device_problem& problem, std::size_t size) {
    for (std::uint64_t number = 32; number <= most_episodes; number *= 2) {
        core::throw_if_stopped(problem.run.stop);
        const auto candidates = calibration_episodes(size, number);
        if (seconds_of(episodes::cuda().thread_per_episode, problem, candidates) <=
            seconds_of(episodes::cuda().segments_per_episode, problem, candidates))
            return number;
    }
    return 2 * most_episodes;
}

}  // namespace

hybrid_calibration calibrate_hybrid(int device, const execution& run) {
    const std::vector<device_info> all = devices();
    const auto info = std::find_if(all.begin(), all.end(),
                                   [&](const device_info& d) { return d.ordinal == device; });
    if (info == all.end())
        throw device_error(all.empty() ? device_unavailable_reason()
                                       : fmt::format("there is no GPU {}", device));
    const spike_sequence spikes = calibration_spikes();
    const std::vector<episodes::interval_us> intervals{{1000, 6000}};
    execution there = run;
    there.devices = {device};
    const episodes::counting_problem problem{spikes, intervals, tie_rule::time, there};
    const episodes::device_set set(problem);

    hybrid_calibration measured{info->name, info->driver, std::string(version())};
    measured.crossovers.reserve(largest_size - 1);
    for (std::size_t size = 2; size <= largest_size; ++size)
        measured.crossovers.push_back({size, measured_crossover(set.problems().front(), size)});

    const std::filesystem::path path = hybrid_calibration_file(*info);
    std::filesystem::create_directories(path.parent_path());
    io::atomic_file file(path);
    file.write(episodes::calibration_text(measured));
    file.commit();
    known_tables().set(device, measured);
    return measured;
}

namespace episodes {

count_result count_by_hybrid_on_device(const device_problem& problem,
                                       const candidate_set& candidates, std::uint64_t at_least) {
    const auto count = prefers_thread_per_episode(known_tables().of(problem.ordinal).by,
                                                  candidates.size, candidates.count())
                           ? cuda().thread_per_episode
                           : cuda().segments_per_episode;
    return count(problem, candidates, at_least);
}

std::vector<std::string> warnings_of_hybrid(std::span<const int> devices) {
    std::vector<int> each(devices.begin(), devices.end());
    std::sort(each.begin(), each.end());
    each.erase(std::unique(each.begin(), each.end()), each.end());
    std::vector<std::string> all;
    all.reserve(each.size());
    for (const int ordinal : each) {
        if (known_tables().of(ordinal).measured) continue;
        all.push_back(
            fmt::format("On GPU {} hybrid uses measurements of an {}: 'spikeweave devices "
                        "--calibrate' measures this GPU.",
                        ordinal, built_in_calibration().device_name));
    }
    return all;
}

}  // namespace episodes
}  // namespace spikeweave
