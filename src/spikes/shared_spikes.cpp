#include "spikeweave/spikes/shared_spikes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <tuple>

#include "core/text.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave {
namespace {

using time_list = std::span<const std::int64_t>;

void check(const shared_spike_options& options) {
    if (options.window.count() <= 0 || options.flank <= options.window)
        throw invalid_argument(
            fmt::format("shared spikes: expected 0 < window < flank, found {} and {}",
                        format_duration(options.window), format_duration(options.flank)));
    if (!(options.min_share > 0))
        throw invalid_argument(
            fmt::format("shared spikes: expected a share above 0, found {}", options.min_share));
}

// On a clock whose tick is longer than the window, spikes of one tick may be far apart. Times in
// seconds may be rounded, so that the tick varies by a microsecond.
bool clock_is_coarse(time_list times, std::int64_t window_us) {
    std::int64_t tick = INT64_MAX;
    for (std::size_t i = 1; i < times.size(); ++i)
        if (times[i] != times[i - 1]) tick = std::min(tick, times[i] - times[i - 1]);
    if (tick <= window_us) return false;
    // More ticks add too much of what the shortest one was rounded by.
    constexpr std::int64_t most_ticks = 10;
    constexpr double enough = 0.9;
    std::uint64_t intervals = 0;
    std::uint64_t multiples = 0;
    for (std::size_t i = 1; i < times.size(); ++i) {
        const std::int64_t interval = times[i] - times[i - 1];
        const std::int64_t ticks = (interval + tick / 2) / tick;
        if (ticks < 1 || ticks > most_ticks) continue;
        ++intervals;
        if (std::abs(interval - ticks * tick) <= ticks + 1) ++multiples;
    }
    return static_cast<double>(multiples) >= enough * static_cast<double>(intervals);
}

// Marks spikes at moments at which many units fire: artefacts and network bursts make units share
// spikes that are no copies.
std::vector<bool> crowded_spikes(const spike_sequence& spikes, std::int64_t window_us) {
    constexpr std::size_t fewest = 8;
    const std::size_t most_at_once = std::max(fewest, spikes.unit_count() / 4);
    const auto times = spikes.times_us();
    std::vector<bool> crowded(times.size());
    std::size_t begin = 0;
    std::size_t end = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
        while (times[i] - times[begin] > window_us) ++begin;
        while (end < times.size() && times[end] - times[i] <= window_us) ++end;
        crowded[i] = end - begin > most_at_once;
    }
    return crowded;
}

std::string in_ms(duration time) {
    return fmt::format("{:g} ms", static_cast<double>(time.count()) / 1'000);
}

class finder {
public:
    finder(const spike_sequence& spikes, const shared_spike_options& options)
        : spikes_(&spikes),
          options_(options),
          trains_(spikes),
          crowded_(crowded_spikes(spikes, options.window.count())) {}

    std::vector<shared_spike_pair> pairs(const execution& run) const {
        // Coincidences are counted along time, for as many units at once as fit a cache: the spikes
        // of one unit lie far apart in memory.
        constexpr std::size_t counts_at_once = std::size_t{1} << 22;
        const std::size_t units = trains_.unit_count();
        const std::size_t at_once =
            std::max<std::size_t>(1, counts_at_once / std::max<std::size_t>(1, units));
        std::vector<std::vector<shared_spike_pair>> of_block((units + at_once - 1) / at_once);
        parallel::parallel_for(of_block.size(), run, "shared spikes", [&](std::size_t b) {
            of_block[b] = pairs_of(b * at_once, std::min(units, (b + 1) * at_once));
        });
        std::vector<shared_spike_pair> out;
        for (const auto& some : of_block) out.insert(out.end(), some.begin(), some.end());
        std::ranges::sort(out, {}, [](const shared_spike_pair& p) {
            return std::make_tuple(-p.share, p.fewer, p.more);
        });
        return out;
    }

private:
    // Those whose unit with fewer spikes is one of [first, end).
    std::vector<shared_spike_pair> pairs_of(std::size_t first, std::size_t end) const {
        std::vector<shared_spike_pair> out;
        const std::size_t units = trains_.unit_count();
        const std::vector<std::uint32_t> coincidences = count_coincidences(first, end);
        for (std::size_t u = first; u < end; ++u)
            for (std::size_t v = 0; v < units; ++v) {
                const unit_id fewer{static_cast<std::uint32_t>(u)};
                const unit_id more{static_cast<std::uint32_t>(v)};
                if (!has_fewer(fewer, more) ||
                    !enough(coincidences[(u - first) * units + v], trains_.count(fewer)))
                    continue;
                const std::optional<shared_spike_pair> pair = compare(fewer, more);
                if (pair) out.push_back(*pair);
            }
        return out;
    }

    struct correlogram {
        std::vector<std::int64_t> lags{};  // of the nearest spike, if it is within the window
        std::size_t before = 0;            // pairs in the flank next to the window
        std::size_t after = 0;
        std::size_t wide = 0;  // pairs in the whole flank on both sides
    };

    // The end of the flank next to the window. Synchrony that is looser than the window reaches it;
    // the dead time of a detector and of a burst makes it emptier than the whole.
    std::int64_t near_us() const {
        constexpr std::int64_t width_us = 700;
        return std::min(options_.window.count() + width_us, options_.flank.count());
    }

    bool enough(std::size_t shared, std::size_t of) const {
        return shared >= std::max<std::size_t>(options_.min_spikes, 1) &&
               static_cast<double>(shared) >= options_.min_share * static_cast<double>(of);
    }

    bool has_fewer(unit_id a, unit_id b) const {
        const std::size_t of_a = trains_.count(a);
        const std::size_t of_b = trains_.count(b);
        return of_a != of_b ? of_a < of_b : a > b;
    }

    // Counts the spikes of every unit within the window of one of each of these units. A spike that
    // meets two of another unit counts twice, so this is an upper bound of the shared ones.
    std::vector<std::uint32_t> count_coincidences(std::size_t first, std::size_t end) const {
        const std::size_t all = trains_.unit_count();
        std::vector<std::uint32_t> counts((end - first) * all);
        const auto times = spikes_->times_us();
        const auto units = spikes_->units();
        const std::int64_t window_us = options_.window.count();
        std::size_t earliest = 0;
        for (std::size_t i = 0; i < times.size(); ++i) {
            while (times[i] - times[earliest] > window_us) ++earliest;
            const std::size_t unit = to_index(units[i]);
            if (unit < first || unit >= end || crowded_[i]) continue;
            std::uint32_t* const of_unit = counts.data() + (unit - first) * all;
            for (std::size_t k = earliest; k < times.size() && times[k] - times[i] <= window_us;
                 ++k)
                ++of_unit[to_index(units[k])];
        }
        return counts;
    }

    // Both trains are merged once.
    correlogram correlate(unit_id fewer, unit_id more) const {
        const time_list from = trains_.times_us(fewer);
        const time_list to = trains_.times_us(more);
        const auto positions = trains_.positions(fewer);
        const std::int64_t window_us = options_.window.count();
        correlogram out;
        // The index of the first spike of `to` at or after a time that only grows.
        const auto advance = [&to](std::size_t& at, std::int64_t time_us) {
            while (at < to.size() && to[at] < time_us) ++at;
            return at;
        };
        std::size_t at[7] = {};
        for (std::size_t i = 0; i < from.size(); ++i) {
            const std::int64_t now = from[i];
            const std::size_t far_before = advance(at[0], now - options_.flank.count());
            const std::size_t near_before = advance(at[1], now - near_us());
            const std::size_t begin = advance(at[2], now - window_us);
            const std::size_t next = advance(at[3], now);
            const std::size_t end = advance(at[4], now + window_us + 1);
            const std::size_t near_after = advance(at[5], now + near_us() + 1);
            const std::size_t far_after = advance(at[6], now + options_.flank.count() + 1);
            out.before += begin - near_before;
            out.after += near_after - end;
            out.wide += (begin - far_before) + (far_after - end);
            if (begin == end || crowded_[positions[i]]) continue;
            const bool has_earlier = next > begin;
            const bool earlier_is_nearer =
                has_earlier && (next == end || now - to[next - 1] <= to[next] - now);
            out.lags.push_back(to[earlier_is_nearer ? next - 1 : next] - now);
        }
        return out;
    }

    // The probability that a spike has one of the other unit in the window by chance or synchrony,
    // as dense as the densest part of the flanks.
    double chance(const correlogram& found, std::size_t spikes) const {
        const auto density = [spikes](std::size_t pairs, std::int64_t width_us) {
            return static_cast<double>(pairs) /
                   (static_cast<double>(spikes) * static_cast<double>(width_us));
        };
        const std::int64_t window_us = options_.window.count();
        const double densest =
            std::max({density(found.before, near_us() - window_us),
                      density(found.after, near_us() - window_us),
                      density(found.wide, 2 * (options_.flank.count() - window_us))});
        return -std::expm1(-densest * static_cast<double>(2 * window_us + 1));
    }

    std::optional<shared_spike_pair> compare(unit_id fewer, unit_id more) const {
        correlogram found = correlate(fewer, more);
        const std::size_t spikes = trains_.count(fewer);
        if (!enough(found.lags.size(), spikes)) return {};
        const double by_chance = chance(found, spikes);
        const double measured =
            static_cast<double>(found.lags.size()) / static_cast<double>(spikes);
        shared_spike_pair pair{.fewer = fewer,
                               .more = more,
                               .window = options_.window,
                               .fewer_spikes = spikes,
                               .more_spikes = trains_.count(more),
                               .shared = found.lags.size(),
                               .by_chance = by_chance * static_cast<double>(spikes)};
        if (by_chance < 1) pair.share = std::max(0.0, (measured - by_chance) / (1 - by_chance));
        std::ranges::sort(found.lags);
        pair.lag = duration{found.lags[found.lags.size() / 2]};
        pair.spread = shortest_half(found.lags);
        // A coincidence is not conclusive if more than half of the spikes have one anyhow.
        constexpr double most_by_chance = 0.5;
        pair.repeats = by_chance < most_by_chance && pair.share >= options_.min_share &&
                       pair.spread <= options_.max_spread;
        return pair;
    }

    static duration shortest_half(time_list sorted) {
        const std::size_t half = (sorted.size() + 1) / 2;
        std::int64_t shortest = INT64_MAX;
        for (std::size_t i = 0; i + half <= sorted.size(); ++i)
            shortest = std::min(shortest, sorted[i + half - 1] - sorted[i]);
        return duration{shortest};
    }

    const spike_sequence* spikes_;
    shared_spike_options options_;
    spike_trains trains_;
    std::vector<bool> crowded_;
};

}  // namespace

std::vector<shared_spike_pair> find_shared_spikes(const spike_sequence& spikes,
                                                  const shared_spike_options& options,
                                                  const execution& run) {
    check(options);
    if (clock_is_coarse(spikes.times_us(), options.window.count())) return {};
    return finder(spikes, options).pairs(run);
}

units_without_duplicates drop_duplicates_of_units(const spike_sequence& spikes,
                                                  std::span<const shared_spike_pair> pairs) {
    // The pair with the largest share of each unit that is left out.
    std::vector<const shared_spike_pair*> because(spikes.unit_count(), nullptr);
    for (const shared_spike_pair& pair : pairs) {
        if (!pair.repeats) continue;
        const shared_spike_pair*& best = because[to_index(pair.fewer)];
        if (best == nullptr || pair.share > best->share) best = &pair;
    }
    units_without_duplicates out;
    std::vector<std::string> kept;
    for (std::size_t u = 0; u < because.size(); ++u) {
        const std::string& name = spikes.unit_names()[u];
        if (because[u] == nullptr)
            kept.push_back(name);
        else
            out.dropped.push_back({name, because[u]->fewer_spikes, spikes.name(because[u]->more),
                                   because[u]->shared, because[u]->window});
    }
    out.spikes = out.dropped.empty() ? spikes : select_units(spikes, kept);
    return out;
}

std::vector<std::string> warnings_of(const spike_sequence& spikes,
                                     std::span<const shared_spike_pair> pairs) {
    constexpr std::size_t most_named = 5;
    std::vector<std::string> out;
    std::size_t found = 0;
    for (const shared_spike_pair& pair : pairs) {
        if (!pair.repeats || ++found > most_named) continue;
        out.push_back(fmt::format(
            "Unit {} has {} of its {} spikes within {} of one of unit {}: one neuron may "
            "have been counted as two.",
            spikes.name(pair.fewer), core::grouped(pair.shared), core::grouped(pair.fewer_spikes),
            in_ms(pair.window), spikes.name(pair.more)));
    }
    if (found > most_named)
        out.push_back(
            fmt::format("The same holds for {} more pairs of units.", found - most_named));
    return out;
}

std::vector<std::string> warnings_of(std::span<const dropped_unit> dropped) {
    std::vector<std::string> out;
    out.reserve(dropped.size());
    for (const dropped_unit& unit : dropped)
        out.push_back(fmt::format(
            "Unit {} with {} spikes was left out: {} of them are within {} of one of unit {}.",
            unit.name, core::grouped(unit.spikes), core::grouped(unit.shared), in_ms(unit.window),
            unit.repeated));
    return out;
}

}  // namespace spikeweave
