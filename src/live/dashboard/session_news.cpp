#include "live/dashboard/session_news.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

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

template <class T>
void keep_newest(std::vector<T>& all, std::size_t most) {
    if (all.size() > most) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(most));
}

}  // namespace

session_news session_watcher::take_news() {
    const std::lock_guard lock(mutex_);
    session_news taken = std::exchange(given_, {});
    given_.epoch = taken.epoch;
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
        if (one.what.size() == 2) shown->pairs.push_back(one);
    }
    std::ranges::stable_sort(shown->pairs, std::greater{}, &counted_episode::count);
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
        ++armed_;
    }
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
    given_.counts = gathered_.counts;
    given_.has_ended = gathered_.has_ended;
}

}  // namespace spikeweave::live
