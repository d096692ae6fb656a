#include "assess/episodes/jitter_null.hpp"

#include <algorithm>

#include "assess/episodes/start_windows.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave::assess {
namespace {

episode backwards(const episode& what) {
    return {{what.units.rbegin(), what.units.rend()}, {what.delays.rbegin(), what.delays.rend()}};
}

// The times of an episode after its first spike, with each delay in the middle of its interval.
std::vector<std::int64_t> middle_times(const episode& what) {
    std::vector<std::int64_t> out{0};
    for (const delay_interval& delay : what.delays)
        out.push_back(out.back() + (delay.low.count() + delay.high.count() + 1) / 2);
    return out;
}

// Those of ascending times that lie in [from, to].
std::span<const std::int64_t> between(std::span<const std::int64_t> times, std::int64_t from,
                                      std::int64_t to) {
    const auto begin = std::ranges::lower_bound(times, from);
    return {begin, std::ranges::upper_bound(begin, times.end(), to)};
}

}  // namespace

jitter_null::jitter_null(const spike_sequence& spikes, duration cell, tie_rule ties)
    : cell_(cell.count()), gap_(ties == tie_rule::time ? 1 : 0) {
    const spike_trains trains(spikes);
    const auto offsets = trains.offsets();
    forward_ = {{offsets.begin(), offsets.end()},
                {trains.times_us().begin(), trains.times_us().end()},
                spikes.observed()};
    backward_ = forward_;
    std::ranges::reverse(backward_.observed);
    for (time_span& one : backward_.observed) one = {-one.end, -one.begin};
    for (std::int64_t& t : backward_.times_us) t = -t;
    for (std::size_t u = 0; u + 1 < offsets.size(); ++u)
        std::reverse(backward_.times_us.begin() + static_cast<std::ptrdiff_t>(offsets[u]),
                     backward_.times_us.begin() + static_cast<std::ptrdiff_t>(offsets[u + 1]));
}

turned_counts jitter_null::with_turned(const direction& way, const episode& what,
                                       std::size_t turned) const {
    episode_trains trains;
    trains.reserve(what.size());
    for (const unit_id unit : what.units) trains.push_back(way.of(unit));
    return turned_counts_of(trains, what, turned, way.observed);
}

turned_counts jitter_null::turned_counts_of(const episode_trains& trains, const episode& what,
                                            std::size_t turned,
                                            std::span<const time_span> observed) const {
    std::vector<completion> rest;
    rest.reserve(trains.back().size());
    for (const std::int64_t t : trains.back()) rest.push_back({t, t});
    std::vector<start_window> windows;
    windows.reserve(rest.size());
    for (std::size_t k = what.size() - 2;; --k) {
        find_start_windows(rest, what.delays[k], windows);
        if (k == turned) break;
        find_completions(trains[k], windows, rest);
    }
    if (turned > 0) {
        std::vector<std::int64_t> before(trains.front().begin(), trains.front().end());
        for (std::size_t k = 1; k < turned; ++k)
            before = those_after(before, what.delays[k - 1], trains[k]);
        keep_after(before, what.delays[turned - 1], windows);
    }
    return turned_starts(trains[turned], windows, {observed, cell_us(what)}, gap_);
}

turned_counts jitter_null::with_last_turned(const episode& what) const {
    return with_turned(backward_, backwards(what), 0);
}

jitter_null::verdict jitter_null::test(const episode& what, double enough) const {
    const auto verdict_of = [](const turned_counts& counts) {
        return verdict{counts.turned.tail_probability(counts.as_recorded), counts.turned.mean(),
                       static_cast<double>(counts.as_recorded)};
    };
    verdict out = verdict_of(with_last_turned(what));
    for (std::size_t k = 0; k + 1 < what.size() && out.p < enough; ++k) {
        const verdict other = verdict_of(with_turned(forward_, what, k));
        if (other.p > out.p) out = other;
    }
    return out;
}

std::int64_t jitter_null::cell_us(const episode& what) const {
    std::int64_t cell = cell_;
    for (const delay_interval& delay : what.delays)
        cell = std::max(cell, intervals_a_cell * (delay.high - delay.low).count());
    return cell;
}

double jitter_null::expected(const episode& what, std::size_t turned) const {
    return (turned + 1 == what.size() ? with_last_turned(what)
                                      : with_turned(forward_, what, turned))
        .turned.mean();
}

double jitter_null::removed(const episode& what, std::size_t turned) const {
    const bool is_last = turned + 1 == what.size();
    const direction& way = is_last ? backward_ : forward_;
    const episode read = is_last ? backwards(what) : what;
    const std::size_t first = is_last ? turned : 0;  // the place of the first unit in `read`
    std::vector<std::int64_t> after = middle_times(what);
    std::int64_t reach = cell_us(what);
    for (const delay_interval& delay : what.delays) reach += delay.high.count();
    if (is_last) {
        std::ranges::reverse(after);
        for (std::int64_t& time : after) time = -time;
    }
    double sum = 0;
    std::vector<std::int64_t> times(what.size());
    episode_trains trains(what.size());
    for (const std::int64_t t : way.of(what.units.front())) {
        for (std::size_t k = 0; k < times.size(); ++k) {
            times[k] = t + after[k];
            trains[k] = {&times[k], 1};
        }
        // Occurrences that would not be over before the end of what was observed are none.
        const auto in =
            std::ranges::lower_bound(way.observed, duration{times.back()}, {}, &time_span::end);
        if (in == way.observed.end() || in->begin.count() > times.front()) continue;
        // No other spikes of the first unit can be in the cells or begin an occurrence.
        trains[first] = between(way.of(what.units.front()), std::max(in->begin.count(), t - reach),
                                std::min(in->end.count(), t + reach));
        sum += std::max(
            0.0, 1 - turned_counts_of(trains, read, is_last ? 0 : turned, {in, 1}).turned.mean());
    }
    return sum;
}

}  // namespace spikeweave::assess
