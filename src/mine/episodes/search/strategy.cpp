#include "mine/episodes/search/strategy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "mine/episodes/devices/backend.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

struct strategy_entry {
    episode_strategy strategy;
    episodes::list_counter on_cpu;
    episodes::device_counter episodes::cuda_backend::*on_device;
};

constexpr std::array<strategy_entry, 9> strategies{{
    {episode_strategy::reference, episodes::count_by_reference, nullptr},
    {episode_strategy::state_machine, episodes::count_by_state_machine, nullptr},
    {episode_strategy::two_pass, episodes::count_by_two_pass, &episodes::cuda_backend::two_pass},
    {episode_strategy::occurrences, episodes::count_by_occurrences,
     &episodes::cuda_backend::occurrences},
    {episode_strategy::segments, episodes::count_by_segments, nullptr},
    {episode_strategy::latest_start, episodes::count_by_latest_start,
     &episodes::cuda_backend::latest_start},
    {episode_strategy::thread_per_episode, nullptr, &episodes::cuda_backend::thread_per_episode},
    {episode_strategy::segments_per_episode, nullptr,
     &episodes::cuda_backend::segments_per_episode},
    {episode_strategy::hybrid, nullptr, &episodes::cuda_backend::hybrid},
}};

constexpr episode_strategy usual_on_cpu = episode_strategy::latest_start;
constexpr episode_strategy usual_on_devices = episode_strategy::latest_start;

const strategy_entry& entry_of(episode_strategy strategy) {
    const auto at = std::find_if(strategies.begin(), strategies.end(),
                                 [&](const auto& s) { return s.strategy == strategy; });
    if (at == strategies.end()) throw invalid_argument("this strategy cannot count");
    return *at;
}

bool runs(const strategy_entry& entry, device_kind where) {
    return where == device_kind::cpu
               ? entry.on_cpu != nullptr
               : entry.on_device != nullptr && episodes::cuda_or_null != nullptr;
}

}  // namespace

template <>
enum_table<compaction_method> enum_names<compaction_method>() {
    using enum compaction_method;
    static constexpr named_value<compaction_method> values[]{
        {automatic, "automatic"},
        {atomic, "atomic"},
        {select, "select"},
        {count_scan_write, "count-scan-write"}};
    return {"compaction", values};
}

template <>
enum_table<device_split> enum_names<device_split>() {
    using enum device_split;
    static constexpr named_value<device_split> values[]{
        {automatic, "automatic"}, {candidates, "candidates"}, {time, "time"}};
    return {"split between GPUs", values};
}

template <>
enum_table<pair_method> enum_names<pair_method>() {
    using enum pair_method;
    static constexpr named_value<pair_method> values[]{
        {automatic, "automatic"}, {merge, "merge"}, {look_back, "look-back"}};
    return {"way to count pairs", values};
}

template <>
enum_table<tie_rule> enum_names<tie_rule>() {
    using enum tie_rule;
    static constexpr named_value<tie_rule> values[]{{time, "time"}, {order, "order"}};
    return {"tie rule", values};
}

template <>
enum_table<episode_strategy> enum_names<episode_strategy>() {
    using enum episode_strategy;
    static constexpr named_value<episode_strategy> values[]{
        {automatic, "automatic", "the library chooses"},
        {reference, "reference",
         "straight from the definition: every occurrence, then the largest set without overlap"},
        {state_machine, "state-machine",
         "the published Algorithm 1: one pass over the spikes for all candidates"},
        {two_pass, "two-pass",
         "the published Algorithms 4 and 5: an upper bound first, then Algorithm 1"},
        {occurrences, "occurrences",
         "the published Algorithms 2 and 3: a superset of occurrences, then scheduling"},
        {segments, "segments", "the published counting in segments of time, with an exact merge"},
        {latest_start, "latest-start",
         "lists of survivors: for every end of an occurrence only its latest start"},
        {thread_per_episode, "thread-per-episode",
         "the published PTPE: a thread runs Algorithm 1 for one episode"},
        {segments_per_episode, "segments-per-episode",
         "the published MTPE: threads count segments of time, with an exact merge"},
        {hybrid, "hybrid",
         "the published choice between these two, by what was measured on the device"}};
    return {"strategy", values};
}

std::vector<episode_strategy> available_episode_strategies(device_kind where) {
    std::vector<episode_strategy> all;
    all.reserve(strategies.size());
    for (const auto& s : strategies) {
        if (runs(s, where)) all.push_back(s.strategy);
    }
    return all;
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
    return cuda().*entry_of(strategy).on_device;
}

episode_strategy chosen(episode_strategy strategy, const execution& run) {
    const bool on_devices = !run.devices.empty();
    if (strategy == episode_strategy::automatic)
        return on_devices ? usual_on_devices : usual_on_cpu;
    const strategy_entry& entry = entry_of(strategy);
    if (on_devices && entry.on_device == nullptr)
        throw invalid_argument(
            fmt::format("the strategy {} runs on the CPU only, but GPUs were requested",
                        to_string(entry.strategy)));
    if (!on_devices && entry.on_cpu == nullptr) {
        const std::string why = device_unavailable_reason();
        throw invalid_argument(fmt::format("the strategy {} runs on GPUs only, and {}",
                                           to_string(entry.strategy),
                                           why.empty() ? "none was requested" : why));
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
