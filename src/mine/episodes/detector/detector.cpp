#include "spikeweave/mine/episodes/detector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mine/episodes/detector/survivor_stream.hpp"
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
    episodes::survivor_stream stream;
    std::vector<std::vector<greedy_count>> ends;  // of each node
    std::vector<const greedy_count*> detected;    // of each armed episode
    std::vector<const greedy_count*> completed;
    // The detections of a spike. There is room for one of every episode.
    std::vector<episode_detection> found;
    std::vector<std::int64_t> found_times;

    state(std::vector<armed_episode> given, std::size_t unit_count, tie_rule tie);
    void detect(std::uint32_t episode, std::span<const std::int64_t> times, std::int64_t time);
};

episode_detector::state::state(std::vector<armed_episode> given, std::size_t unit_count,
                               tie_rule tie)
    : armed(std::move(given)),
      stream(armed, unit_count, tie),
      detected(armed.size()),
      completed(armed.size()) {
    const auto nodes = stream.trie().nodes();
    ends.reserve(nodes.size());
    std::size_t most_times = 0;
    for (const episodes::trie_node& node : nodes) {
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

void episode_detector::state::detect(std::uint32_t episode, std::span<const std::int64_t> times,
                                     std::int64_t time) {
    const auto first = found_times.size();
    found_times.insert(found_times.end(), times.begin(), times.end());
    found_times.push_back(time);
    found.push_back({episode, std::span{found_times}.subspan(first)});
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
    now.stream.check(time_us, unit);
    now.found.clear();
    now.found_times.clear();
    now.stream.add(
        time_us, unit,
        [&](std::uint32_t node, std::span<const std::int64_t> prefix, std::int64_t place) {
            for (greedy_count& end : now.ends[node]) {
                if (end.take(prefix.front(), place) && end.is_detection)
                    now.detect(end.episode, prefix.subspan(1), time_us);
            }
        });
    if (now.found.size() > 1)
        std::sort(now.found.begin(), now.found.end(),
                  [](const auto& a, const auto& b) { return a.episode < b.episode; });
    return now.found;
}

void episode_detector::flush() {
    state_->stream.flush();
    for (std::vector<greedy_count>& counts : state_->ends) {
        for (greedy_count& count : counts) count.last_end = INT64_MIN;
    }
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
    return state_->stream.duplicates();
}

std::uint64_t episode_detector::reallocations() const {
    return state_->stream.reallocations();
}

void episode_detector::check_sizes(std::size_t times, std::size_t units) {
    if (times != units)
        throw invalid_argument(fmt::format("{} times for {} units of spikes", times, units));
}

}  // namespace spikeweave
