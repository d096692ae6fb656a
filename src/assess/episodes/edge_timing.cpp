#include "spikeweave/assess/episodes/edge_timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assess/episodes/each_lag.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave {

using assess::check_unit;
using assess::each_lag;

namespace {

// The lags on each side from which the expected number of synchronous pairs is computed.
constexpr duration reference_width{4'500};

struct bounds {
    std::int64_t low;
    std::int64_t high;

    std::int64_t width() const { return high - low; }
    double middle() const { return static_cast<double>(low + high) / 2; }
};

// The shortest of the lags from which the expected number of synchronous pairs is computed. An
// interval among them would add its own peak, so they begin behind it.
std::int64_t first_reference_us(const bounds& in) {
    const std::int64_t first = longest_synchrony.count();
    return in.low < first + reference_width.count() && in.high > first ? in.high : first;
}

// Half the width of an interval, rounded up.
std::int64_t strip_of(const bounds& in) {
    return (in.width() + 1) / 2;
}

// The lags that the timing of an edge is computed from: counting pairs once for each interval would
// walk both trains every time. There are hundreds, so that looking at all of them for each interval
// takes less than sorting them.
class near_lags {
public:
    near_lags(std::span<const std::int64_t> from, std::span<const std::int64_t> to,
              const bounds& in) {
        const std::int64_t margin = 3 * strip_of(in);
        const std::int64_t last = first_reference_us(in) + reference_width.count();
        std::array<bounds, 3> ranges{
            {{in.low - margin, in.high + margin}, {-in.high - 1, -in.low - 1}, {-last - 1, last}}};
        std::ranges::sort(ranges, {}, &bounds::low);
        for (auto each = ranges.begin(); each != ranges.end();) {
            bounds joined = *each;
            while (++each != ranges.end() && each->low <= joined.high)
                joined.high = std::max(joined.high, each->high);
            each_lag(from, to, joined.low, joined.high,
                     [&](std::int64_t lag) { lags_.push_back(lag); });
        }
    }

    /// The number of lags with low < lag <= high.
    double in(std::int64_t low, std::int64_t high) const {
        std::int64_t number = 0;
        for (const std::int64_t lag : lags_) number += (lag > low) & (lag <= high);
        return static_cast<double>(number);
    }
    /// Calls `take` with each of these lags.
    template <class Take>
    void each(const bounds& in, const Take& take) const {
        for (const std::int64_t lag : lags_)
            if (lag > in.low && lag <= in.high) take(lag);
    }

private:
    std::vector<std::int64_t> lags_{};
};

// The mean number in the intervals of the same width on both sides.
double pairs_beside(const near_lags& pairs, const bounds& in) {
    return (pairs.in(in.low - in.width(), in.low) + pairs.in(in.high, in.high + in.width())) / 2;
}

std::optional<delay_estimate> estimate(const near_lags& pairs, const bounds& in, double chance) {
    double number = 0;
    double sum = 0;  // of the distances from the middle
    double squares = 0;
    pairs.each(in, [&](std::int64_t lag) {
        const double distance = static_cast<double>(lag) - in.middle();
        ++number;
        sum += distance;
        squares += distance * distance;
    });
    const double signal = number - chance;
    if (!(signal > 0)) return {};
    const double mean = sum / signal;
    const double spread = squares - 2 * mean * sum + number * mean * mean;
    const double error = std::sqrt(spread + chance / 2 * mean * mean) / signal;
    constexpr double quantile = 1.959964;  // 97.5 % of the normal distribution
    const double center = in.middle() + mean;
    return delay_estimate{center, center - quantile * error, center + quantile * error};
}

// Whether the pairs next to an end are more than a line through the two strips behind them gives,
// by three standard deviations and by a tenth of the pairs that the interval has beyond chance.
bool rises(double near, double far, double farther, double signal) {
    const double beyond = near - 2 * far + farther;
    return beyond > 3 * std::sqrt(near + 4 * far + farther) && beyond > signal / 10;
}

cut_peak ends_of_peak(const near_lags& pairs, const bounds& in, double signal) {
    const std::int64_t strip = strip_of(in);
    const auto below = [&](std::int64_t k) {
        return pairs.in(in.low - (k + 1) * strip, in.low - k * strip);
    };
    const auto above = [&](std::int64_t k) {
        return pairs.in(in.high + k * strip, in.high + (k + 1) * strip);
    };
    const bool low = rises(below(0), below(1), below(2), signal);
    const bool high = rises(above(0), above(1), above(2), signal);
    if (low && high) return cut_peak::both;
    if (low) return cut_peak::low;
    return high ? cut_peak::high : cut_peak::none;
}

// Lags on a clock are rounded, so they count only if they were short for certain.
bool most_are_too_early(const near_lags& pairs, const bounds& in, double chance, double signal,
                        double clock_step_us) {
    const std::int64_t earliest = shortest_synaptic_delay.count() - std::llround(clock_step_us / 2);
    if (in.low >= earliest || !(signal > 0)) return false;
    const double by_chance =
        chance * static_cast<double>(2 * earliest + 1) / static_cast<double>(in.width());
    const double beyond = pairs.in(-earliest - 1, earliest) - by_chance;
    return beyond > signal / 2 && beyond > 3 * std::sqrt(by_chance);
}

// A drive that both units share raises both sides, a connection only one, so the lower one counts.
double expected_synchrony(const near_lags& pairs, const bounds& in) {
    const std::int64_t first = first_reference_us(in);
    const std::int64_t last = first + reference_width.count();
    const double fewer = std::min(pairs.in(first, last), pairs.in(-last - 1, -first - 1));
    constexpr auto short_lags = static_cast<double>(2 * longest_synchrony.count() + 1);
    return fewer * short_lags / static_cast<double>(reference_width.count());
}

bool most_synchrony_is_missing(double synchronous, double expected) {
    const double missing = expected - synchronous;
    return missing > expected / 2 && missing > 3 * std::sqrt(expected);
}

edge_timing timing_of(const near_lags& pairs, const bounds& in, bool is_same_unit,
                      double clock_step_us) {
    edge_timing out;
    const double chance = pairs_beside(pairs, in);
    const double forward = pairs.in(in.low, in.high);
    out.delay = estimate(pairs, in, chance);
    const double backward = pairs.in(-in.high - 1, -in.low - 1);
    if (forward + backward > 0) out.asymmetry = (forward - backward) / (forward + backward);
    out.cut = ends_of_peak(pairs, in, forward - chance);
    if (is_same_unit) return out;
    const double synchronous = pairs.in(-longest_synchrony.count() - 1, longest_synchrony.count());
    out.synchronous = static_cast<std::uint64_t>(synchronous);
    out.synchronous_expected = expected_synchrony(pairs, in);
    out.is_synchronous = most_are_too_early(pairs, in, chance, forward - chance, clock_step_us);
    out.lacks_synchrony = most_synchrony_is_missing(synchronous, out.synchronous_expected);
    return out;
}

void check(const spike_sequence& spikes, std::span<const episode> pairs) {
    for (const episode& pair : pairs) {
        if (pair.units.size() != 2 || pair.delays.size() != 1)
            throw invalid_argument(
                fmt::format("an edge has two units and one delay interval, not {} and {}",
                            pair.units.size(), pair.delays.size()));
        for (const unit_id unit : pair.units) check_unit(spikes, unit);
    }
}

// The longest lag that is looked at, so that none leads from one epoch into another.
duration longest_lag(std::span<const episode> pairs) {
    duration longest{0};
    for (const episode& pair : pairs) {
        const auto [low, high] = pair.delays.front();
        const duration last_reference =
            duration{first_reference_us({low.count(), high.count()})} + reference_width;
        longest = std::max({longest, last_reference, high + 2 * (high - low)});
    }
    return longest;
}

}  // namespace

std::string_view to_string(cut_peak cut) {
    switch (cut) {
        case cut_peak::none:
            return "no";
        case cut_peak::low:
            return "low";
        case cut_peak::high:
            return "high";
        case cut_peak::both:
            return "both";
    }
    return "?";
}

std::vector<edge_timing> time_edges(const spike_sequence& spikes, std::span<const episode> pairs,
                                    const execution& run) {
    check(spikes, pairs);
    std::vector<edge_timing> out(pairs.size());
    if (pairs.empty()) return out;
    const separated_epochs separated(spikes, longest_lag(pairs));
    const spike_trains trains(separated.spikes());
    const double clock_step = clock_step_us(separated.spikes()).value_or(0);
    parallel::parallel_for(pairs.size(), run, "timing of edges", [&](std::size_t i) {
        const unit_id from = pairs[i].units[0];
        const unit_id to = pairs[i].units[1];
        const auto [low, high] = pairs[i].delays.front();
        const bounds in{low.count(), high.count()};
        out[i] =
            timing_of({trains.times_us(from), trains.times_us(to), in}, in, from == to, clock_step);
    });
    return out;
}

}  // namespace spikeweave
