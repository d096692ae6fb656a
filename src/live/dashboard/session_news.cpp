#include "live/dashboard/session_news.hpp"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "core/double_policy.hpp"

namespace spikeweave::live {
namespace {

std::int64_t column_of(std::int64_t time_us) {
    return time_us / column_us - (time_us % column_us < 0 ? 1 : 0);
}

template <class T>
void move_to_end(std::vector<T>& to, std::vector<T>& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    from.clear();
}

// The pairs of a window, and which of them are more frequent than by chance.
std::vector<shown_pair> pairs_of(const episode_table& table, const window_bounds& bounds) {
    constexpr double alpha = 0.01;
    std::map<unit_id, std::uint64_t> spikes;
    for (const auto& [what, count] : table.episodes)
        if (what.size() == 1) spikes[what.units[0]] = count;
    std::set<delay_interval> delays;
    std::vector<shown_pair> pairs;
    for (const counted_episode& one : table.episodes) {
        if (one.what.size() != 2) continue;
        const delay_interval& delay = one.what.delays[0];
        delays.insert(delay);
        const double share = to_seconds(delay.high - delay.low) /
                             std::max(1e-6, to_seconds(bounds.end - bounds.begin));
        pairs.push_back({one, static_cast<double>(spikes[one.what.units[0]]) *
                                  static_cast<double>(spikes[one.what.units[1]]) * share});
    }
    const auto tests = static_cast<double>(spikes.size() * spikes.size() * delays.size());
    for (auto& [counted, expected, is_significant] : pairs)
        is_significant = counted.count > 0 && expected > 0 &&
                         boost::math::gamma_p(static_cast<double>(counted.count), expected,
                                              core::double_policy()) < alpha / tests;
    return pairs;
}

template <class T>
void keep_newest(std::vector<T>& all, std::size_t most) {
    if (all.size() > most) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(most));
}

}  // namespace

session_news session_watcher::take_news() {
    const std::lock_guard lock(mutex_);
    session_news taken = std::exchange(given_, {});
    given_.epoch = taken.epoch;
    given_.tallies = taken.tallies;
    given_.counts = taken.counts;
    given_.has_ended = taken.has_ended;
    return taken;
}

std::shared_ptr<const shown_window> session_watcher::window() const {
    const std::lock_guard lock(window_mutex_);
    return window_;
}

void session_watcher::on(const units_added& more) {
    gathered_.units.insert(gathered_.units.end(), more.names.begin(), more.names.end());
}

void session_watcher::on(const spikes_accepted& more) {
    std::vector<spike_cell>& cells = gathered_.cells;
    for (const auto& [time, unit] : more.spikes) {
        if (cells.size() == session_news::most_cells)
            keep_newest(cells, session_news::most_cells / 2);
        cells.push_back({column_of(time), unit});
    }
}

void session_watcher::on(const detection& what) {
    shown_tally& tally = gathered_.tallies.at(what.armed);
    ++tally.detections;
    tally.triggers += what.suppressed == suppression::none ? 1 : 0;
    std::vector<shown_detection>& all = gathered_.detections;
    if (all.size() == 2 * session_news::most_detections)
        keep_newest(all, session_news::most_detections);
    all.push_back({detections_++,
                   what.armed,
                   what.begin_us,
                   what.end_us,
                   what.suppressed,
                   {what.times_us.begin(), what.times_us.end()}});
}

// Another thread may call it. What is shown is made before others have to wait.
void session_watcher::on(const mined_window& window) {
    const auto& [bounds, spikes, table] = window.mined;
    auto shown =
        std::make_shared<shown_window>(shown_window{.bounds = bounds,
                                                    .epoch = window.epoch,
                                                    .spikes = spikes,
                                                    .threshold = table.threshold,
                                                    .is_skipped = window.is_skipped(),
                                                    .has_gap = window.has_gap,
                                                    .complete_to_size = table.complete_to_size});
    for (const counted_episode& one : table.episodes) {
        if (shown->by_size.size() < one.what.size()) shown->by_size.resize(one.what.size());
        ++shown->by_size[one.what.size() - 1];
    }
    shown->pairs = pairs_of(table, bounds);
    std::ranges::stable_sort(shown->pairs, std::greater{}, [](const shown_pair& one) {
        return std::pair(one.is_significant, one.counted.count);
    });
    if (shown->pairs.size() > session_news::most_pairs)
        shown->pairs.resize(session_news::most_pairs);
    const std::lock_guard lock(window_mutex_);
    window_ = std::move(shown);
}

void session_watcher::on(const counts_in_window& now) {
    if (gathered_.counted.size() == 2 * session_news::most_counted)
        keep_newest(gathered_.counted, session_news::most_counted);
    gathered_.counted.push_back({now.window, {now.counts.begin(), now.counts.end()}});
}

void session_watcher::on(const arming_change& change) {
    for (const newly_armed& one : change.armed) {
        if (one.armed != armed_) continue;
        gathered_.armed.push_back({false, one.what.units});
        gathered_.tallies.push_back({.per_minute = one.per_minute});
        ++armed_;
    }
}

void session_watcher::on(const chance_rates& rates) {
    for (std::size_t i = 0; i < std::min(rates.per_minute.size(), gathered_.tallies.size()); ++i)
        gathered_.tallies[i].per_minute = rates.per_minute[i];
}

void session_watcher::on(const epoch_ended& /*end*/) {
    ++gathered_.epoch;
    gathered_.cells.clear();
}

void session_watcher::on(const block_ended& block) {
    gathered_.counts = block.counts;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock) hand_over();
}

void session_watcher::on(const session_ended& end) {
    gathered_.counts = end.counts;
    gathered_.has_ended = true;
    const std::lock_guard lock(mutex_);
    hand_over();
}

void session_watcher::hand_over() {
    if (given_.epoch != gathered_.epoch) given_.cells.clear();
    given_.epoch = gathered_.epoch;
    move_to_end(given_.units, gathered_.units);
    move_to_end(given_.armed, gathered_.armed);
    move_to_end(given_.cells, gathered_.cells);
    keep_newest(given_.cells, session_news::most_cells);
    move_to_end(given_.detections, gathered_.detections);
    keep_newest(given_.detections, session_news::most_detections);
    move_to_end(given_.counted, gathered_.counted);
    keep_newest(given_.counted, session_news::most_counted);
    given_.tallies = gathered_.tallies;
    given_.counts = gathered_.counts;
    given_.has_ended = gathered_.has_ended;
}

}  // namespace spikeweave::live
