// A node of the trie holds the survivors of a beginning that later spikes can still continue. A
// spike is looked up in the nodes before those of its unit; the order of the nodes does not matter,
// because a survivor at the same time is never before the spike.

#include "spikeweave/mine/episodes/detector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "mine/episodes/detector/prefix_trie.hpp"
#include "mine/episodes/detector/stamp_ring.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

// Counts the occurrences of one beginning without overlap, the earliest end first.
struct greedy_count {
    std::uint32_t episode;
    bool is_detection;
    std::int64_t last_end = INT64_MIN;  // a time, or a position for `tie_rule::order`
    std::uint64_t count = 0;

    bool take(std::int64_t start, std::int64_t end) {
        if (start <= last_end) return false;
        last_end = end;
        ++count;
        return true;
    }
};

}  // namespace

struct episode_detector::state {
    std::vector<armed_episode> armed;
    tie_rule ties;
    episodes::prefix_trie trie;
    std::vector<episodes::stamp_ring> rings;      // of each node
    std::vector<std::int64_t> newest;             // time of the newest stamp of each node
    std::vector<std::vector<greedy_count>> ends;  // of each node
    std::vector<const greedy_count*> detected;    // of each armed episode
    std::vector<const greedy_count*> completed;
    std::vector<std::optional<std::int64_t>> last_of_unit;
    std::int64_t last_time = INT64_MIN;
    std::int64_t position = 0;
    std::uint64_t duplicates = 0;
    std::uint64_t reallocations = 0;
    // The detections of a spike. There is room for one of every episode.
    std::vector<episode_detection> found;
    std::vector<std::int64_t> found_times;

    state(std::vector<armed_episode> given, std::size_t unit_count, tie_rule tie);
    bool is_duplicate(std::int64_t time, unit_id unit);
    void reach(std::uint32_t node, std::span<const std::int64_t> prefix, std::int64_t time);
    void detect(std::uint32_t episode, std::span<const std::int64_t> times, std::int64_t time);
};

episode_detector::state::state(std::vector<armed_episode> given, std::size_t unit_count,
                               tie_rule tie)
    : armed(std::move(given)),
      ties(tie),
      trie(armed, unit_count),
      newest(trie.nodes().size(), INT64_MIN),
      detected(armed.size()),
      completed(armed.size()),
      last_of_unit(unit_count) {
    rings.reserve(trie.nodes().size());
    ends.reserve(trie.nodes().size());
    std::size_t most_times = 0;
    for (const episodes::trie_node& node : trie.nodes()) {
        rings.emplace_back(node.spikes, node.largest_low);
        std::vector<greedy_count>& counts = ends.emplace_back();
        counts.reserve(node.ends.size());
        for (const auto& [episode, is_detection] : node.ends) {
            const greedy_count* const count = &counts.emplace_back(
                greedy_count{.episode = episode, .is_detection = is_detection});
            if (is_detection) detected[episode] = count;
            if (is_detection) most_times += node.spikes;
            if (node.spikes == armed[episode].what.size()) completed[episode] = count;
        }
    }
    found.reserve(armed.size());
    found_times.reserve(most_times);
}

bool episode_detector::state::is_duplicate(std::int64_t time, unit_id unit) {
    if (std::exchange(last_of_unit[to_index(unit)], time) != time) return false;
    ++duplicates;
    return true;
}

void episode_detector::state::detect(std::uint32_t episode, std::span<const std::int64_t> times,
                                     std::int64_t time) {
    const auto first = found_times.size();
    found_times.insert(found_times.end(), times.begin(), times.end());
    found_times.push_back(time);
    found.push_back({episode, std::span{found_times}.subspan(first)});
}

// The spike at `time` ends an occurrence of the node. `prefix` is the stamp before: the place of
// the start, and the times before this one.
void episode_detector::state::reach(std::uint32_t node, std::span<const std::int64_t> prefix,
                                    std::int64_t time) {
    const std::int64_t place = ties == tie_rule::time ? time : position;
    for (greedy_count& end : ends[node]) {
        if (end.take(prefix.front(), place) && end.is_detection)
            detect(end.episode, prefix.subspan(1), time);
    }
    if (!trie.nodes()[node].leads_on) return;
    reallocations += rings[node].push(prefix, time) ? 1 : 0;
    newest[node] = time;
}

episode_detector::episode_detector(std::vector<armed_episode> armed, std::size_t unit_count,
                                   const episode_detector_options& options) {
    check_options(options);
    state_ = std::make_unique<state>(std::move(armed), unit_count, options.ties);
}

episode_detector::~episode_detector() = default;
episode_detector::episode_detector(episode_detector&&) noexcept = default;
episode_detector& episode_detector::operator=(episode_detector&&) noexcept = default;

std::span<const episode_detection> episode_detector::add(std::int64_t time_us, unit_id unit) {
    state& now = *state_;
    if (to_index(unit) >= now.last_of_unit.size())
        throw invalid_argument(fmt::format("a spike is of unit {}, but there are {} units",
                                           to_index(unit), now.last_of_unit.size()));
    if (time_us < now.last_time)
        throw invalid_argument(
            fmt::format("a spike at {} us is earlier than the one before it, "
                        "at {} us",
                        time_us, now.last_time));
    now.found.clear();
    now.found_times.clear();
    now.last_time = time_us;
    if (now.is_duplicate(time_us, unit)) return {};
    ++now.position;
    for (const episodes::trie_step& step : now.trie.steps(unit)) {
        // If the newest stamp is too old, all are.
        if (episodes::delay_us(now.newest[step.parent], time_us) > step.high) continue;
        const auto prefix = now.rings[step.parent].latest_before(time_us, step.low);
        if (prefix.empty() || episodes::delay_us(prefix.back(), time_us) > step.high) continue;
        now.reach(step.node, prefix, time_us);
    }
    if (const std::uint32_t root = now.trie.root(unit); root != episodes::prefix_trie::no_node) {
        const std::int64_t start = now.ties == tie_rule::time ? time_us : now.position;
        now.reach(root, std::span{&start, 1}, time_us);
    }
    if (now.found.size() > 1)
        std::sort(now.found.begin(), now.found.end(),
                  [](const auto& a, const auto& b) { return a.episode < b.episode; });
    return now.found;
}

void episode_detector::flush() {
    for (episodes::stamp_ring& ring : state_->rings) ring.clear();
    for (std::vector<greedy_count>& counts : state_->ends) {
        for (greedy_count& count : counts) count.last_end = INT64_MIN;
    }
    std::fill(state_->newest.begin(), state_->newest.end(), INT64_MIN);
    std::fill(state_->last_of_unit.begin(), state_->last_of_unit.end(), std::nullopt);
    state_->last_time = INT64_MIN;
    state_->found.clear();
    state_->found_times.clear();
}

std::span<const armed_episode> episode_detector::armed() const {
    return state_->armed;
}

detection_counts episode_detector::counts(std::size_t episode) const {
    if (episode >= state_->armed.size())
        throw invalid_argument(
            fmt::format("there is no episode {} among {}", episode, state_->armed.size()));
    return {state_->detected[episode]->count, state_->completed[episode]->count};
}

std::uint64_t episode_detector::duplicates() const {
    return state_->duplicates;
}

std::uint64_t episode_detector::reallocations() const {
    return state_->reallocations;
}

void episode_detector::check_sizes(std::size_t times, std::size_t units) {
    if (times != units)
        throw invalid_argument(fmt::format("{} times for {} units of spikes", times, units));
}

}  // namespace spikeweave
