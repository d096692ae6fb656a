#include "spikeweave/spikes/order_spikes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

using timed_unit = std::pair<std::int64_t, unit_id>;

std::vector<timed_unit> timed_units(std::span<const double> seconds,
                                    std::span<const std::uint32_t> units) {
    if (seconds.size() != units.size())
        throw invalid_argument(
            fmt::format("spikes: found {} times and {} units, expected equal numbers",
                        seconds.size(), units.size()));
    std::vector<timed_unit> out;
    out.reserve(seconds.size());
    for (std::size_t i = 0; i < seconds.size(); ++i) {
        try {
            out.emplace_back(duration_from_seconds(seconds[i]).count(), unit_id{units[i]});
        } catch (const invalid_argument& error) {
            throw invalid_argument(fmt::format("spikes: time {}: {}", i, error.what()));
        }
    }
    return out;
}

// The span that is stated, which contains every spike, or else that of the spikes.
time_span span_around(const std::vector<timed_unit>& spikes, std::optional<duration> start,
                      std::optional<duration> stop) {
    const duration first{spikes.empty() ? 0 : spikes.front().first};
    const duration last{spikes.empty() ? 0 : spikes.back().first};
    const time_span span{start.value_or(std::min(first, stop.value_or(first))),
                         stop.value_or(std::max(last, start.value_or(last)))};
    const auto refuse = [](const char* expected, duration bound, duration found) {
        throw invalid_argument(fmt::format("{} ({}), found {}", expected, format_duration(bound),
                                           format_duration(found)));
    };
    if (span.begin > span.end)
        refuse("t_start: expected a time not behind t_stop", span.end, span.begin);
    if (!spikes.empty() && first < span.begin)
        refuse("t_start: expected a time not behind the first spike", first, span.begin);
    if (!spikes.empty() && last > span.end)
        refuse("t_stop: expected a time not before the last spike", last, span.end);
    return span;
}

}  // namespace

ordered_spikes order_spikes(std::span<const double> seconds, std::span<const std::uint32_t> units,
                            std::vector<std::string> unit_names, std::optional<duration> start,
                            std::optional<duration> stop) {
    std::vector<timed_unit> spikes = timed_units(seconds, units);
    listing_order order;
    for (const auto& [time_us, unit] : spikes)
        if (to_index(unit) < unit_names.size()) order.add(time_us, unit);
    if (!std::is_sorted(spikes.begin(), spikes.end())) std::sort(spikes.begin(), spikes.end());
    spikes.erase(std::unique(spikes.begin(), spikes.end()), spikes.end());
    const std::size_t duplicates = seconds.size() - spikes.size();
    const time_span span = span_around(spikes, start, stop);
    return {sequence_of(std::move(spikes), std::move(unit_names), span), duplicates,
            order.begins()};
}

}  // namespace spikeweave
