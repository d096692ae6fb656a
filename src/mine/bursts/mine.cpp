#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "mine/bursts/steps.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/bursts.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave::bursts {
namespace {

using train = std::span<const std::int64_t>;

// The spikes of a unit in each epoch that has any.
std::vector<train> trains_in(train times_us, std::span<const time_span> epochs) {
    std::vector<train> out;
    auto first = times_us.begin();
    for (const time_span& epoch : epochs) {
        first = std::lower_bound(first, times_us.end(), epoch.begin.count());
        const auto end = std::upper_bound(first, times_us.end(), epoch.end.count());
        if (end != first) out.emplace_back(first, end);
        first = end;
    }
    return out;
}

// Mean and variation of numbers that are added one by one (B. P. Welford 1962).
class sample {
public:
    void add(double value) {
        ++count_;
        const double change = value - mean_;
        mean_ += change / static_cast<double>(count_);
        squares_ += change * (value - mean_);
    }

    std::optional<double> mean() const { return count_ > 0 ? std::optional(mean_) : std::nullopt; }
    /// The standard deviation by the mean.
    std::optional<double> variation() const {
        if (count_ < 2) return {};
        return std::sqrt(squares_ / static_cast<double>(count_ - 1)) / mean_;
    }

private:
    std::uint64_t count_ = 0;
    double mean_ = 0;
    double squares_ = 0;
};

struct found_in_unit {
    unit_bursting summary{};
    std::vector<unit_burst> bursts{};
};

found_in_unit find_in_unit(unit_id unit, const std::vector<train>& trains,
                           const burst_options& options) {
    found_in_unit out;
    if (options.method == burst_method::max_interval) {
        out.summary.longest_interval = options.end_interval;
    } else {
        interval_histogram intervals;
        for (const train& one : trains) intervals.add(one);
        out.summary.longest_interval = intervals.longest_interval(options.core_interval);
    }
    sample spike_intervals;
    for (const train& times_us : trains) {
        out.summary.spikes += times_us.size();
        for (std::size_t i = 1; i < times_us.size(); ++i)
            spike_intervals.add(static_cast<double>(times_us[i] - times_us[i - 1]));
        if (!out.summary.longest_interval) continue;
        const duration longest = *out.summary.longest_interval;
        const std::vector<spike_range> ranges =
            options.method == burst_method::max_interval
                ? by_fixed_intervals(times_us, options)
                : by_longest_interval(times_us, longest, std::min(longest, options.core_interval),
                                      options.min_spikes);
        std::optional<duration> before;
        for (const spike_range& range : ranges) {
            unit_burst one{.unit = unit,
                           .begin = duration{times_us[range.first]},
                           .end = duration{times_us[range.last]},
                           .spikes = range.spikes()};
            if (before) one.interval = one.begin - *before;
            before = one.end;
            out.bursts.push_back(one);
        }
    }
    out.summary.spike_variation = spike_intervals.variation();
    return out;
}

void summarise(found_in_unit& of, duration observed) {
    sample durations;
    sample rates;
    sample intervals;
    for (const unit_burst& one : of.bursts) {
        of.summary.spikes_in_bursts += one.spikes;
        durations.add(to_seconds(one.end - one.begin));
        rates.add(one.rate_hz());
        if (one.interval) intervals.add(to_seconds(*one.interval));
    }
    of.summary.bursts = of.bursts.size();
    if (observed.count() > 0) {
        of.summary.rate_hz = static_cast<double>(of.summary.spikes) / to_seconds(observed);
        of.summary.bursts_per_minute =
            60 * static_cast<double>(of.summary.bursts) / to_seconds(observed);
    }
    of.summary.mean_duration_s = durations.mean();
    of.summary.mean_rate_hz = rates.mean();
    of.summary.mean_interval_s = intervals.mean();
    of.summary.interval_variation = intervals.variation();
}

std::uint64_t units_of_network(const std::vector<unit_bursting>& units, double share) {
    constexpr double fewest = 3;
    const auto firing = static_cast<double>(
        std::ranges::count_if(units, [](const unit_bursting& one) { return one.spikes > 0; }));
    return static_cast<std::uint64_t>(std::max(fewest, std::ceil(share * firing)));
}

}  // namespace
}  // namespace spikeweave::bursts

namespace spikeweave {

template <>
enum_table<burst_method> enum_names<burst_method>() {
    using enum burst_method;
    static constexpr named_value<burst_method> values[]{
        {max_interval, "max-interval", "fixed intervals, by which NeuroExplorer finds bursts"},
        {log_isi, "log-isi", "an interval of each unit, from the histogram of its intervals"}};
    return {"burst method", values};
}

option_list describe(burst_options& options) {
    option_list list;
    list.begin_group("Bursts");
    list.add("method", options.method,
             "how bursts of a unit are found: by fixed intervals (max-interval), or by an interval "
             "for each unit that the histogram of its intervals gives (log-isi), for units that "
             "fire fast between bursts")
        .basic();
    list.add("min_spikes", options.min_spikes, "smallest number of spikes in a burst")
        .basic()
        .at_least(2);
    list.add("begin_interval", options.begin_interval,
             "max-interval: a burst begins with two spikes that are nearer than this")
        .basic()
        .above(0)
        .obeys([&options] {
            if (options.begin_interval > options.end_interval)
                throw invalid_argument(
                    fmt::format("`begin_interval` must be at most `end_interval` ({}), not {}",
                                format_duration(options.end_interval),
                                format_duration(options.begin_interval)));
        });
    list.add("end_interval", options.end_interval,
             "max-interval: a burst ends before an interval that is longer than this")
        .basic()
        .above(0);
    list.add("min_separation", options.min_separation,
             "bursts of a unit (max-interval) or of the network that are nearer than this are one");
    list.add("min_duration", options.min_duration,
             "shortest burst of a unit (max-interval) or of the network");
    list.add("core_interval", options.core_interval,
             "log-isi: the longest interval in bursts is beside a peak of shorter intervals than "
             "this, "
             "and each burst has such an interval")
        .at_least(1e-3);
    list.add("network_share", options.network_share,
             "share of the units with spikes that are in a burst at the same time, at least three, "
             "in a network burst")
        .basic()
        .above(0)
        .at_most(1);
    return list;
}

mined_bursts mine_bursts(const spike_sequence& spikes, const burst_options& options,
                         const execution& run) {
    check_options(options);
    const spike_trains trains(spikes);
    const std::vector<time_span> epochs = spikes.observed();
    std::vector<bursts::found_in_unit> of_units(spikes.unit_count());
    parallel::parallel_for(of_units.size(), run, "finding bursts", [&](std::size_t u) {
        const unit_id unit{static_cast<std::uint32_t>(u)};
        of_units[u] =
            bursts::find_in_unit(unit, bursts::trains_in(trains.times_us(unit), epochs), options);
        bursts::summarise(of_units[u], spikes.observed_time());
    });
    mined_bursts out;
    for (const bursts::found_in_unit& one : of_units) {
        out.units.push_back(one.summary);
        out.bursts.insert(out.bursts.end(), one.bursts.begin(), one.bursts.end());
    }
    std::ranges::sort(out.bursts, {},
                      [](const unit_burst& one) { return std::tuple(one.begin, one.unit); });
    out.units_of_network = bursts::units_of_network(out.units, options.network_share);
    out.network = bursts::network_bursts(spikes, out.bursts, out.units_of_network, options);
    return out;
}

}  // namespace spikeweave
