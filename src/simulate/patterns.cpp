#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/stop.hpp"
#include "simulate/coupled_units.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace spikeweave {

using simulate::numbered_names;

namespace {

constexpr double second_us = 1e6;
constexpr double step_us = 1e5;
constexpr double last_step_us = second_us - step_us;  // where the step of the last unit begins
// Factors on the mean rate; over a second they average to 1.
constexpr double rate_in_step = 4;
constexpr double rate_between = (second_us - rate_in_step * step_us) / last_step_us;
// Intervals simulated before the recording, so that it does not begin with the first spike of each
// unit.
constexpr double intervals_before = 10;

// The rate of a unit over time relative to its mean.
class modulation {
public:
    modulation() = default;  // constant rate
    explicit modulation(double step_begins_us) : begins_(step_begins_us), steps_(true) {}

    // Returns the rate from `at_us` on and the time until which it holds.
    std::pair<double, double> from(double at_us) const {
        if (!steps_) return {1, std::numeric_limits<double>::infinity()};
        const double second = std::floor(at_us / second_us) * second_us;
        const double in_second = at_us - second;
        if (in_second < begins_) return {rate_between, second + begins_};
        if (in_second < begins_ + step_us) return {rate_in_step, second + begins_ + step_us};
        return {rate_between, second + second_us + begins_};
    }

private:
    double begins_ = 0;
    bool steps_ = false;
};

modulation modulation_of(std::uint32_t unit, const patterns_options& options) {
    if (options.rates == rate_profile::steps) return modulation(step_us * 4);
    // Times are whole microseconds, which doubles represent exactly, so a time at an edge is past
    // it.
    if (options.rates == rate_profile::wave)
        return modulation(std::floor(last_step_us * unit / std::max(1U, options.units - 1)));
    return {};
}

double mean_rate_hz(std::uint32_t unit, const patterns_options& options) {
    if (options.rates != rate_profile::spread) return options.rate_hz;
    random_stream random(options.seed, random_purpose::pattern_rates, unit);
    return options.rate_hz * (1 + 4 * random.uniform()) / 3;
}

double highest_rate_hz(const patterns_options& options) {
    if (options.rates == rate_profile::spread) return options.rate_hz * 5 / 3;
    return options.rates == rate_profile::constant ? options.rate_hz
                                                   : options.rate_hz * rate_in_step;
}

// A renewal process whose clock runs with the rate and stops during the dead time.
class background_unit {
public:
    background_unit(std::uint32_t unit, const patterns_options& options)
        : random_(options.seed, random_purpose::pattern_background, unit),
          order_(options.gamma_order),
          dead_us_(static_cast<double>(options.dead_time.count())),
          rate_per_us_(mean_rate_hz(unit, options) / 1e6),
          modulation_(modulation_of(unit, options)),
          at_us_(-(intervals_before + random_.uniform()) / rate_per_us_) {}

    double next_us() {
        at_us_ += dead_us_;
        double left = interval();
        for (;;) {
            const auto [times, until_us] = modulation_.from(at_us_);
            const double rate = rate_per_us_ * times;
            // The speed makes up for the dead time.
            const double speed = rate / (1 - rate * dead_us_);
            const double end_us = at_us_ + left / speed;
            if (end_us < until_us) return at_us_ = end_us;
            left -= (until_us - at_us_) * speed;
            at_us_ = until_us;
        }
    }

private:
    // Draws an interval with mean 1.
    double interval() {
        double sum = 0;
        for (std::uint32_t i = 0; i < order_; ++i) sum += random_.exponential();
        return sum / order_;
    }

    random_stream random_;
    std::uint32_t order_;
    double dead_us_;
    double rate_per_us_;
    modulation modulation_;
    double at_us_;
};

void check(const patterns_options& options) {
    check_options(options);
    if (highest_rate_hz(options) * static_cast<double>(options.dead_time.count()) >= 0.9e6)
        throw invalid_argument(fmt::format("a dead time of {} leaves no room for {:.6g} Hz",
                                           format_duration(options.dead_time),
                                           highest_rate_hz(options)));
    const std::uint64_t needed =
        std::accumulate(options.patterns.begin(), options.patterns.end(), std::uint64_t{0});
    if (needed > options.units)
        throw invalid_argument(
            fmt::format("the patterns need {} units, but there are {}", needed, options.units));
}

// Draws occurrences that do not overlap: random positions in the time that occurrences leave free,
// moved apart by their extents.
std::vector<duration> occurrence_times(std::uint32_t number, std::int64_t extent_us,
                                       const patterns_options& options) {
    const std::int64_t room =
        options.length.count() - std::int64_t{options.occurrences} * extent_us;
    if (room < 0)
        throw invalid_argument(
            fmt::format("{} occurrences of {} do not fit into {}", options.occurrences,
                        format_duration(duration{extent_us}), format_duration(options.length)));
    random_stream random(options.seed, random_purpose::pattern_times, number);
    std::vector<duration> times(options.occurrences);
    for (duration& time : times)
        time =
            duration{static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(room) + 1))};
    std::ranges::sort(times);
    for (std::size_t i = 0; i < times.size(); ++i)
        times[i] += duration{static_cast<std::int64_t>(i) * extent_us};
    return times;
}

std::vector<planted_pattern> plant_patterns(const patterns_options& options) {
    std::vector<planted_pattern> out(options.patterns.size());
    std::uint32_t unit = 0;
    for (std::uint32_t k = 0; k < out.size(); ++k) {
        const std::uint32_t size = options.patterns[k];
        if (options.lag > options.length / size)
            throw invalid_argument(fmt::format("a pattern of {} spikes every {} is longer than {}",
                                               size, format_duration(options.lag),
                                               format_duration(options.length)));
        for (std::uint32_t i = 0; i < size; ++i) {
            out[k].units.push_back(unit_id{unit++});
            out[k].lags.push_back(options.lag * i);
        }
        out[k].times = occurrence_times(k, out[k].lags.back().count() + 1, options);
    }
    return out;
}

}  // namespace

template <>
enum_table<rate_profile> enum_names<rate_profile>() {
    using enum rate_profile;
    static constexpr named_value<rate_profile> values[]{
        {constant, "constant"}, {spread, "spread"}, {steps, "steps"}, {wave, "wave"}};
    return {"profile of rates", values};
}

simulated_patterns simulate_patterns(const patterns_options& options, const execution& run) {
    check(options);
    simulated_patterns out;
    out.truth = plant_patterns(options);
    std::vector<std::pair<std::int64_t, unit_id>> all;
    const auto end_us = static_cast<double>(options.length.count());
    for (std::uint32_t u = 0; u < options.units; ++u) {
        core::throw_if_stopped(run.stop);
        if (run.on_progress) run.on_progress({"simulating", u, options.units});
        background_unit unit(u, options);
        for (double at = unit.next_us(); at < end_us; at = unit.next_us())
            if (at >= 0) all.emplace_back(static_cast<std::int64_t>(at), unit_id{u});
    }
    for (const planted_pattern& pattern : out.truth)
        for (std::size_t i = 0; i < pattern.units.size(); ++i)
            for (const duration time : pattern.times)
                all.emplace_back((time + pattern.lags[i]).count(), pattern.units[i]);
    // Two spikes of a unit in one microsecond are merged.
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    out.spikes = sequence_of(std::move(all), numbered_names("n", options.units),
                             {duration{0}, options.length});
    return out;
}

}  // namespace spikeweave
