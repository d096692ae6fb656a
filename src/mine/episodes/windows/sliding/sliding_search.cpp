#include "mine/episodes/windows/sliding/sliding_search.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/stop.hpp"
#include "mine/episodes/search/strategy.hpp"

namespace spikeweave::episodes {

pair_survivors::pair_survivors(std::size_t units, std::size_t intervals)
    : units_(units), intervals_(intervals), counts_(units * units * intervals), seen_(units) {}

// Looks back from a spike, and passes on each unit that it meets with the latest of its spikes.
template <class Visit>
void pair_survivors::latest_starts(const window_events& events, stream_position to,
                                   std::size_t interval, const Visit& visit) {
    const auto [earliest, end] = events.before(to, interval);
    ++looks_;
    for (stream_position from = end; from-- > std::max(earliest, events.begin());) {
        const std::size_t unit = to_index(events.unit(from));
        if (seen_[unit] == looks_) continue;
        seen_[unit] = looks_;
        visit(unit, from);
    }
}

// Goes through the spikes unit by unit, so that the counts stay in the cache.
void pair_survivors::drop_before(const window_events& events, stream_position first) {
    for (std::uint32_t unit = 0; unit < units_; ++unit) {
        for (std::size_t d = 0; d < intervals_; ++d) {
            std::uint32_t* const counts = counts_.data() + pair(0, d, unit);
            for (const stream_position to : events.train(unit_id{unit})) {
                if (events.before(to, d).begin >= first) break;
                latest_starts(events, to, d, [&](std::size_t start, stream_position from) {
                    counts[start] -= from < first ? 1 : 0;
                });
            }
        }
    }
}

void pair_survivors::add_from(const window_events& events, stream_position first) {
    for (std::uint32_t unit = 0; unit < units_; ++unit) {
        const auto train = events.train(unit_id{unit});
        const auto fresh = std::ranges::lower_bound(train, first);
        for (std::size_t d = 0; d < intervals_; ++d) {
            std::uint32_t* const counts = counts_.data() + pair(0, d, unit);
            for (auto to = fresh; to != train.end(); ++to)
                latest_starts(
                    events, *to, d,
                    [counts](std::size_t start, stream_position /*from*/) { ++counts[start]; });
        }
    }
}

namespace {

// An episode is followed from when it is frequent until its count is below nine tenths of the
// threshold, so that few lists are made again and again.
bool stays_followed(std::uint64_t count, std::uint64_t threshold) {
    return 10 * count >= 9 * threshold;
}

// The survivors that were added after the first `seen` ones.
std::span<const survivor> added_since(std::uint64_t seen, const followed_episode& one) {
    const auto all = one.list.survivors();
    return all.last(std::min<std::uint64_t>(all.size(), one.list.added() - seen));
}

std::uint64_t count_without_overlap(std::span<const survivor> survivors) {
    std::uint64_t count = 0;
    std::int64_t last_end = -1;
    for (const survivor& one : survivors) {
        if (one.start <= last_end) continue;
        last_end = one.end;
        ++count;
    }
    return count;
}

std::int64_t added_to(const followed_episode& one) {
    return static_cast<std::int64_t>(one.list.added());
}

}  // namespace

sliding_search::sliding_search(const episode_mining_options& options, std::size_t units)
    : options_(options),
      delays_(sorted_delays(options.delays)),
      events_(checked_intervals(delays_), options.ties, units),
      pairs_(units, delays_.size()),
      pair_is_known_(pairs_.size()),
      graph_(units) {}

std::uint64_t sliding_search::bytes_of_pairs(const episode_mining_options& options,
                                             std::size_t units) {
    return pair_survivors::bytes(units, options.delays.size());
}

bool sliding_search::move_to(const spike_sequence& spikes, const std::stop_token& stop,
                             episode_table& table) {
    threshold_ = table.threshold;
    needs_too_much_memory_ = false;
    auto begin = std::chrono::steady_clock::now();
    move_events(spikes);
    table.estimated_bytes = events_.bytes() + bytes_of_pairs(options_, events_.unit_count());
    settle_units();
    bool records = true;  // the levels of the table go on
    for (std::size_t size = 1;; ++size) {
        if (size > 1) settle(size, stop);
        if (needs_too_much_memory_) return false;
        const auto end = std::chrono::steady_clock::now();
        if (records)
            records = record(size, std::chrono::duration<double>(end - begin).count(), table);
        begin = end;
        const bool is_last =
            size == options_.max_size || (levels_[size].empty() && size + 1 >= levels_.size());
        if (is_last) break;
        if (size > 1) add_candidates(levels_[size]);
    }
    graph_.remove(ended_);
    ended_.clear();
    return true;
}

void sliding_search::move_events(const spike_sequence& spikes) {
    const auto times = spikes.times_us();
    const stream_position first = events_.first_at(spikes.span().begin.count());
    pairs_.drop_before(events_, first);
    events_.drop_before(first);
    const auto old =
        static_cast<std::size_t>(std::ranges::lower_bound(times, end_.count()) - times.begin());
    first_new_ = events_.end();
    events_.append(times.subspan(old), spikes.units().subspan(old));
    pairs_.add_from(events_, first_new_);
    begin_ = spikes.span().begin;
    end_ = spikes.span().end;
}

std::span<const stream_position> sliding_search::new_spikes(unit_id unit) const {
    const auto train = events_.train(unit);
    const auto first = std::ranges::lower_bound(train, first_new_);
    return train.subspan(static_cast<std::size_t>(first - train.begin()));
}

void sliding_search::settle_units() {
    levels_.resize(std::max<std::size_t>(levels_.size(), 2));
    std::vector<std::uint32_t>& level = levels_[1];
    for (std::uint32_t u = 0; u < events_.unit_count(); ++u) {
        followed_episode& one = graph_[u];
        drop_old(one);
        for (const stream_position spike : new_spikes(unit_id{u}))
            one.list.add({spike, events_.last_overlapped(spike), {}});
        one.count = one.list.size();
        if (one.is_followed || one.count < threshold_) continue;
        one.is_followed = true;
        level.insert(std::ranges::lower_bound(level, u), u);
    }
    end_followed(level);
}

// Moves the begin of the window on.
void sliding_search::drop_old(followed_episode& one) const {
    one.list.drop_while(
        [first = events_.begin()](const survivor& old) { return old.start < first; });
    one.added_before = one.list.added();
}

// Passes on the survivors of an episode, `prefix` and the last step of `suffix`, that end with
// those which the suffix has got after the first `seen` ones; no others can.
template <class Emit>
void sliding_search::extend(std::uint32_t prefix, std::uint32_t interval,
                            const followed_episode& suffix, std::uint64_t seen,
                            const Emit& emit) const {
    const auto before_step = graph_[prefix].list.survivors();
    const auto ends = added_since(seen, suffix);
    if (before_step.empty() || ends.empty()) return;
    const bool is_pair = suffix.size() == 1;
    const auto range_of = [&](const survivor& end) {
        return is_pair ? events_.before(end.end, interval) : end.before;
    };
    std::size_t next = before_step.size();  // the first survivor that ends too late for the step
    const stream_position first = range_of(ends.front()).end;
    while (next > 0 && before_step[next - 1].end >= first) --next;
    for (const survivor& one : ends) {
        const window_events::range range = range_of(one);
        while (next < before_step.size() && before_step[next].end < range.end) ++next;
        if (next > 0 && before_step[next - 1].end >= range.begin)
            emit(survivor{before_step[next - 1].start, one.end, range});
    }
}

void sliding_search::settle(std::size_t size, const std::stop_token& stop) {
    levels_.resize(std::max(levels_.size(), size + 1));
    std::vector<std::uint32_t>& level = levels_[size];
    for (std::size_t i = 0; i < level.size(); ++i) {
        core::stop_at_times(i, stop);
        update(graph_[level[i]]);
    }
    end_followed(level);
    if (size == 2) add_pairs();
    const std::size_t followed_before = level.size();
    for (const std::uint32_t suffix : levels_[size - 1]) {
        count_waiting(suffix, level, stop);
    }
    const auto less = [this](std::uint32_t a, std::uint32_t b) { return graph_.less(a, b); };
    const auto first_of_new = level.begin() + static_cast<std::ptrdiff_t>(followed_before);
    std::sort(first_of_new, level.end(), less);
    std::inplace_merge(level.begin(), first_of_new, level.end(), less);
}

// An episode whose prefix or suffix is no longer followed is ended next, because its count is no
// greater; its list is not needed.
void sliding_search::update(followed_episode& one) const {
    one.is_new = false;
    one.count = 0;
    drop_old(one);
    const followed_episode& suffix = graph_[one.suffix];
    if (!graph_[one.prefix].is_followed || !suffix.is_followed) return;
    extend(one.prefix, one.delays.back(), suffix, suffix.added_before,
           [&one](const survivor& next) { one.list.add(next); });
    one.count = one.list.count();
}

void sliding_search::end_followed(std::vector<std::uint32_t>& level) {
    std::vector<std::uint32_t> ended;
    for (const std::uint32_t number : level) {
        if (!stays_followed(graph_[number].count, threshold_)) ended.push_back(number);
    }
    if (ended.empty()) return;
    for (const std::uint32_t number : ended) graph_.unfollow(number);
    std::erase_if(level, [this](std::uint32_t number) { return !graph_[number].is_followed; });
    if (graph_[ended.front()].size() == 1) {
        forget_pairs();
        return;
    }
    forget_candidates(ended);
    for (const std::uint32_t number : ended) {
        const followed_episode& one = graph_[number];
        if (graph_[one.prefix].is_followed && graph_[one.suffix].is_followed)
            graph_.wait(one.suffix,
                        {one.prefix, one.delays.back(), static_cast<std::int64_t>(one.count),
                         added_to(graph_[one.suffix])});
        else if (one.size() == 2)
            pair_is_known_[pairs_.pair(one.prefix, one.delays.back(), one.suffix)] = false;
    }
    ended_.insert(ended_.end(), ended.begin(), ended.end());
}

// Candidates with a unit that is no longer followed.
void sliding_search::forget_pairs() {
    for (std::uint32_t to = 0; to < events_.unit_count(); ++to) {
        std::erase_if(graph_[to].waiting, [&](const waiting_candidate& pair) {
            if (graph_[to].is_followed && graph_[pair.prefix].is_followed) return false;
            pair_is_known_[pairs_.pair(pair.prefix, pair.delay, to)] = false;
            return true;
        });
    }
}

// Candidates whose prefix has ended. Those whose suffix has ended are listed at it, and are removed
// with it.
void sliding_search::forget_candidates(const std::vector<std::uint32_t>& ended) {
    std::vector<std::uint32_t> middles;  // the common parts of prefixes and suffixes
    middles.reserve(ended.size());
    for (const std::uint32_t number : ended) middles.push_back(graph_[number].suffix);
    std::ranges::sort(middles);
    middles.erase(std::unique(middles.begin(), middles.end()), middles.end());
    for (const std::uint32_t middle : middles) {
        for (const std::uint32_t suffix : graph_[middle].begins)
            std::erase_if(graph_[suffix].waiting, [this](const waiting_candidate& candidate) {
                return !graph_[candidate.prefix].is_followed;
            });
    }
}

void sliding_search::add_pairs() {
    for (const std::uint32_t to : levels_[1]) {
        for (std::uint32_t d = 0; d < delays_.size(); ++d) {
            for (const std::uint32_t from : levels_[1]) {
                const std::size_t pair = pairs_.pair(from, d, to);
                if (pairs_[pair] < threshold_ || pair_is_known_[pair]) continue;
                if (from == to && !options_.self_repeats) continue;
                pair_is_known_[pair] = true;
                graph_.wait(to, {from, d, never_counted, 0});
            }
        }
    }
}

void sliding_search::add_candidates(const std::vector<std::uint32_t>& level) {
    for (const std::uint32_t number : level) {
        const followed_episode& one = graph_[number];
        if (!one.is_new) continue;
        for (const std::uint32_t prefix : graph_[one.prefix].ends)
            graph_.wait(number, {prefix, one.delays.back(), never_counted, 0});
        for (const std::uint32_t suffix : graph_[one.suffix].begins) {
            if (!graph_[suffix].is_new)
                graph_.wait(suffix, {number, graph_[suffix].delays.back(), never_counted, 0});
        }
    }
}

// Follows the candidates that are frequent now.
void sliding_search::count_waiting(std::uint32_t suffix, std::vector<std::uint32_t>& level,
                                   const std::stop_token& stop) {
    const auto threshold = static_cast<std::int64_t>(threshold_);
    const std::int64_t added = added_to(graph_[suffix]);
    if (graph_[suffix].waiting.empty() || graph_[suffix].most_above + added < threshold) return;
    std::vector<waiting_candidate> still;
    std::int64_t most_above = std::numeric_limits<std::int64_t>::min();
    for (waiting_candidate candidate : std::exchange(graph_[suffix].waiting, {})) {
        if (candidate.above() + added >= threshold && may_be_frequent(candidate, suffix)) {
            core::stop_at_times(still.size(), stop);
            const std::uint64_t count = count_anew(candidate, suffix);
            if (count >= threshold_) {
                level.push_back(graph_.follow(candidate.prefix, candidate.delay, suffix));
                followed_episode& one = graph_[level.back()];
                for (const survivor& next : found_) one.list.add(next);
                one.count = count;
                continue;
            }
            candidate.most = static_cast<std::int64_t>(count);
        }
        most_above = std::max(most_above, candidate.above());
        still.push_back(candidate);
    }
    graph_[suffix].waiting = std::move(still);
    graph_[suffix].most_above = most_above;
}

// Adds the survivors that the candidate has got since it was looked at to what it had at most.
bool sliding_search::may_be_frequent(waiting_candidate& candidate, std::uint32_t suffix) const {
    const followed_episode& longer = graph_[suffix];
    const auto seen = static_cast<std::uint64_t>(std::exchange(candidate.seen, added_to(longer)));
    if (longer.size() == 1)
        candidate.most = pairs_[pairs_.pair(candidate.prefix, candidate.delay, suffix)];
    else if (candidate.most < never_counted)
        extend(candidate.prefix, candidate.delay, longer, seen,
               [&candidate](const survivor& /*next*/) { ++candidate.most; });
    return candidate.most >= static_cast<std::int64_t>(threshold_);
}

std::uint64_t sliding_search::count_anew(const waiting_candidate& candidate, std::uint32_t suffix) {
    found_.clear();
    extend(candidate.prefix, candidate.delay, graph_[suffix], 0,
           [this](const survivor& next) { found_.push_back(next); });
    return count_without_overlap(found_);
}

std::uint64_t sliding_search::candidates_of(std::size_t size) const {
    if (size == 1) return events_.unit_count();
    const std::vector<std::uint32_t>& shorter = levels_[size - 1];
    if (size == 2) {
        const auto units = static_cast<std::uint64_t>(std::ranges::count_if(
            shorter, [this](std::uint32_t number) { return is_frequent(number); }));
        return units * (options_.self_repeats ? units : units - 1) * delays_.size();
    }
    std::vector<std::uint32_t> continued(graph_.size());  // frequent episodes by their prefix
    for (const std::uint32_t number : shorter)
        continued[graph_[number].prefix] += is_frequent(number) ? 1 : 0;
    std::uint64_t candidates = 0;
    for (const std::uint32_t number : shorter)
        candidates += is_frequent(number) ? continued[graph_[number].suffix] : 0;
    return candidates;
}

bool sliding_search::record(std::size_t size, double seconds, episode_table& table) {
    const std::size_t before = table.episodes.size();
    std::uint64_t bytes = 0;
    for (const std::uint32_t number : levels_[size]) {
        const followed_episode& one = graph_[number];
        bytes += one.list.bytes();
        if (one.count < threshold_) continue;
        counted_episode& row =
            table.episodes.emplace_back(counted_episode{{one.units, {}}, one.count});
        row.what.delays.reserve(one.delays.size());
        for (const std::uint32_t d : one.delays) row.what.delays.push_back(delays_[d]);
    }
    const std::size_t frequent = table.episodes.size() - before;
    table.levels.push_back({size, candidates_of(size), frequent, bytes, seconds});
    table.estimated_bytes += bytes;
    needs_too_much_memory_ =
        options_.max_memory_bytes > 0 && table.estimated_bytes > options_.max_memory_bytes;
    return frequent > 0 && size != options_.max_size;
}

}  // namespace spikeweave::episodes
