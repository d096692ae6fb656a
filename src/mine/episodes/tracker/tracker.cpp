#include "spikeweave/mine/episodes/tracker.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mine/episodes/detector/survivor_stream.hpp"
#include "mine/episodes/tracker/survivor_window.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

std::vector<armed_episode> armed_of(std::span<const episode> tracked) {
    if (tracked.size() > episode_tracker::most_episodes)
        throw invalid_argument(
            fmt::format("{} episodes were given to track, but at most {} can be tracked",
                        tracked.size(), episode_tracker::most_episodes));
    std::vector<armed_episode> armed;
    for (const episode& what : tracked) armed.push_back({what});
    return armed;
}

}  // namespace

struct episode_tracker::state {
    // Places are times, or positions in the stream.
    struct survivor {
        std::int64_t start_time;
        std::int64_t start;
        std::int64_t end;
    };
    using list = episodes::survivor_window<survivor>;

    episodes::survivor_stream stream;
    duration length;
    std::vector<list> lists;       // of each episode
    std::int64_t end = INT64_MIN;  // all spikes before it have arrived
    std::int64_t last_spike = INT64_MIN;

    state(std::span<const episode> tracked, std::size_t unit_count, duration given, tie_rule ties)
        : stream(armed_of(tracked), unit_count, ties),
          length(given),
          lists(tracked.size(), list(given == duration{0})) {}

    std::int64_t begin() const {
        return end < INT64_MIN + length.count() ? INT64_MIN : end - length.count();
    }
    void drop_before(std::int64_t time, std::size_t episode) {
        lists[episode].drop_while([time](const survivor& one) { return one.start_time < time; });
    }
};

episode_tracker::episode_tracker(std::span<const episode> tracked, std::size_t unit_count,
                                 duration length, tie_rule ties) {
    if (length < duration{0}) throw invalid_argument("length", "it is negative");
    state_ = std::make_unique<state>(tracked, unit_count, length, ties);
}

episode_tracker::~episode_tracker() = default;
episode_tracker::episode_tracker(episode_tracker&&) noexcept = default;
episode_tracker& episode_tracker::operator=(episode_tracker&&) noexcept = default;

void episode_tracker::add(std::int64_t time_us, unit_id unit) {
    state& now = *state_;
    now.stream.check(time_us, unit);
    if (time_us < now.end && time_us != now.last_spike)
        throw invalid_argument(fmt::format(
            "a spike at {} us is earlier than {} us, before which all spikes had arrived", time_us,
            now.end));
    now.last_spike = time_us;
    now.end = std::max(now.end, time_us == INT64_MAX ? time_us : time_us + 1);
    const std::int64_t begin = now.begin();
    now.stream.add(
        time_us, unit,
        [&](std::uint32_t node, std::span<const std::int64_t> prefix, std::int64_t place) {
            const std::int64_t start_time = prefix.size() > 1 ? prefix[1] : time_us;
            for (const auto& [episode, is_detection] : now.stream.trie().nodes()[node].ends) {
                now.lists[episode].add({start_time, prefix.front(), place});
                now.drop_before(begin, episode);
            }
        });
}

void episode_tracker::advance(std::int64_t time_us) {
    state& now = *state_;
    now.end = std::max(now.end, time_us);
    if (now.end > INT64_MIN && now.end - 1 > now.last_spike) now.last_spike = INT64_MIN;
}

void episode_tracker::flush() {
    state_->stream.flush();
    for (state::list& one : state_->lists) one.clear();
    state_->end = state_->last_spike = INT64_MIN;
}

std::size_t episode_tracker::size() const {
    return state_->lists.size();
}

std::uint64_t episode_tracker::count(std::size_t episode) {
    if (episode >= state_->lists.size())
        throw invalid_argument(
            fmt::format("there is no episode {} among {}", episode, state_->lists.size()));
    state_->drop_before(state_->begin(), episode);
    return state_->lists[episode].count();
}

std::size_t episode_tracker::survivors_kept() const {
    std::size_t kept = 0;
    for (const state::list& one : state_->lists) kept += one.size();
    return kept;
}

}  // namespace spikeweave
