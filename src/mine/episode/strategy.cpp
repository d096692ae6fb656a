#include "mine/episode/strategy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "device/limits.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

struct strategy_entry {
    episode_strategy strategy;
    std::string_view name;
    episodes::list_counter on_cpu;
    episodes::device_counter on_device;
};

constexpr std::array<strategy_entry, 9> strategies{{
    {episode_strategy::reference, "reference", episodes::count_by_reference, nullptr},
    {episode_strategy::state_machine, "state-machine", episodes::count_by_state_machine, nullptr},
    {episode_strategy::two_pass, "two-pass", episodes::count_by_two_pass,
     episodes::count_by_two_pass_on_device},
    {episode_strategy::occurrences, "occurrences", episodes::count_by_occurrences,
     episodes::count_by_occurrences_on_device},
    {episode_strategy::segments, "segments", episodes::count_by_segments, nullptr},
    {episode_strategy::latest_start, "latest-start", episodes::count_by_latest_start,
     episodes::count_by_latest_start_on_device},
    {episode_strategy::thread_per_episode, "thread-per-episode", nullptr,
     episodes::count_by_thread_per_episode_on_device},
    {episode_strategy::segments_per_episode, "segments-per-episode", nullptr,
     episodes::count_by_segments_per_episode_on_device},
    {episode_strategy::hybrid, "hybrid", nullptr, episodes::count_by_hybrid_on_device},
}};

constexpr episode_strategy usual_on_cpu = episode_strategy::latest_start;
constexpr episode_strategy usual_on_devices = episode_strategy::latest_start;

const strategy_entry& entry_of(episode_strategy strategy) {
    const auto at = std::find_if(strategies.begin(), strategies.end(),
                                 [&](const auto& s) { return s.strategy == strategy; });
    if (at == strategies.end()) throw invalid_argument("that is no strategy that can count");
    return *at;
}

bool runs(const strategy_entry& entry, device_kind where) {
    return where == device_kind::cpu ? entry.on_cpu != nullptr
                                     : entry.on_device != nullptr && device::built();
}

}  // namespace

std::string_view to_string(episode_strategy strategy) {
    return strategy == episode_strategy::automatic ? "automatic" : entry_of(strategy).name;
}

episode_strategy episode_strategy_from(std::string_view name) {
    if (name == "automatic") return episode_strategy::automatic;
    std::vector<std::string_view> names{"automatic"};
    for (const auto& s : strategies) {
        if (s.name == name) return s.strategy;
        names.push_back(s.name);
    }
    throw invalid_argument(
        fmt::format("no strategy is named '{}'; there are: {}", name, fmt::join(names, ", ")));
}

std::vector<episode_strategy> available_episode_strategies(device_kind where) {
    std::vector<episode_strategy> all;
    all.reserve(strategies.size());
    for (const auto& s : strategies) {
        if (runs(s, where)) all.push_back(s.strategy);
    }
    return all;
}

std::string_view to_string(tie_rule ties) {
    return ties == tie_rule::time ? "time" : "order";
}

tie_rule tie_rule_from(std::string_view name) {
    if (name == "time") return tie_rule::time;
    if (name == "order") return tie_rule::order;
    throw invalid_argument(fmt::format("no tie rule is named '{}'; there are: time, order", name));
}

std::string_view to_string(pair_method method) {
    switch (method) {
        case pair_method::automatic:
            return "automatic";
        case pair_method::merge:
            return "merge";
        case pair_method::look_back:
            return "look-back";
    }
    return "?";
}

pair_method pair_method_from(std::string_view name) {
    for (const auto method : {pair_method::automatic, pair_method::merge, pair_method::look_back}) {
        if (name == to_string(method)) return method;
    }
    throw invalid_argument(fmt::format(
        "no way to count pairs is named '{}'; there are: automatic, merge, look-back", name));
}

std::string_view to_string(device_split split) {
    switch (split) {
        case device_split::automatic:
            return "automatic";
        case device_split::candidates:
            return "candidates";
        case device_split::time:
            return "time";
    }
    return "?";
}

device_split device_split_from(std::string_view name) {
    for (const auto split :
         {device_split::automatic, device_split::candidates, device_split::time}) {
        if (name == to_string(split)) return split;
    }
    throw invalid_argument(
        fmt::format("GPUs share no '{}'; there are: automatic, candidates, time", name));
}

std::string_view to_string(compaction_method how) {
    switch (how) {
        case compaction_method::automatic:
            return "automatic";
        case compaction_method::atomic:
            return "atomic";
        case compaction_method::select:
            return "select";
        case compaction_method::count_scan_write:
            return "count-scan-write";
    }
    return "?";
}

compaction_method compaction_from(std::string_view name) {
    for (const auto how : {compaction_method::automatic, compaction_method::atomic,
                           compaction_method::select, compaction_method::count_scan_write}) {
        if (name == to_string(how)) return how;
    }
    throw invalid_argument(fmt::format(
        "no compaction is named '{}'; there are: automatic, atomic, select, count-scan-write",
        name));
}

std::vector<int> recommended_devices(const spike_sequence& spikes) {
    constexpr std::size_t fewest = 3'000'000;
    if (spikes.size() < fewest || devices().empty()) return {};
    return {devices().front().ordinal};
}

namespace episodes {

void check_split(device_split split, episode_strategy strategy) {
    if (split == device_split::time && strategy != episode_strategy::latest_start)
        throw invalid_argument(
            fmt::format("GPUs share stretches of time for the strategy latest-start alone, not "
                        "for {}",
                        to_string(strategy)));
}

list_counter counter_of(episode_strategy strategy) {
    return entry_of(strategy).on_cpu;
}

device_counter device_counter_of(episode_strategy strategy) {
    return entry_of(strategy).on_device;
}

episode_strategy chosen(episode_strategy strategy, const execution& run) {
    const bool on_devices = !run.devices.empty();
    if (strategy == episode_strategy::automatic)
        return on_devices ? usual_on_devices : usual_on_cpu;
    const strategy_entry& entry = entry_of(strategy);
    if (on_devices && entry.on_device == nullptr)
        throw invalid_argument(fmt::format(
            "the strategy {} runs on the CPU only, and GPUs were asked for", entry.name));
    if (!on_devices && entry.on_cpu == nullptr) {
        const std::string why = device_unavailable_reason();
        throw invalid_argument(fmt::format("the strategy {} runs on GPUs only, and {}", entry.name,
                                           why.empty() ? "none was asked for" : why));
    }
    return strategy;
}

compaction_method chosen(compaction_method how, episode_strategy ran_on, const execution& run) {
    if (ran_on == episode_strategy::occurrences && !run.devices.empty())
        return how == compaction_method::automatic ? compaction_method::count_scan_write : how;
    if (how != compaction_method::automatic)
        throw invalid_argument(
            fmt::format("a compaction is chosen for the strategy occurrences on GPUs alone, not "
                        "for {}{}",
                        to_string(ran_on), run.devices.empty() ? " on the CPU" : ""));
    return how;
}

}  // namespace episodes
}  // namespace spikeweave
