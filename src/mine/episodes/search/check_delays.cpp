#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/text.hpp"
#include "spikeweave/mine/episodes.hpp"

namespace spikeweave {
namespace {

bool holds_multiple(const delay_interval& delay, double step_us) {
    constexpr double rounding_us = 1.5;  // rounding of two times and of the step
    const double low = static_cast<double>(delay.low.count()) - rounding_us;
    const double high = static_cast<double>(delay.high.count()) + rounding_us;
    const double last = std::floor(high / step_us);
    return last >= 1 && last * step_us > low;
}

void check_clock(const spike_sequence& spikes, std::span<const delay_interval> delays,
                 std::vector<std::string>& out) {
    const std::optional<double> step_us = clock_step_us(spikes);
    if (!step_us) return;
    constexpr std::size_t most_named = 4;
    std::vector<std::string> empty;
    std::size_t more = 0;
    for (const delay_interval& delay : delays) {
        if (holds_multiple(delay, *step_us)) continue;
        if (empty.size() < most_named)
            empty.push_back(format_delays({&delay, 1}));
        else
            ++more;
    }
    if (empty.empty()) return;
    out.push_back(
        fmt::format("All times are multiples of {}: no spike can follow another within {}{}{}.",
                    format_duration(duration{std::llround(*step_us)}), fmt::join(empty, ", "),
                    more > 0 ? fmt::format(" and {} more intervals", more) : "",
                    empty.size() + more == delays.size() ? ", so nothing can be found" : ""));
}

}  // namespace

std::optional<double> clock_step_us(const spike_sequence& spikes) {
    const auto times_us = spikes.times_us();
    constexpr std::int64_t shortest_us = 500;
    constexpr std::size_t enough = 50;
    std::int64_t least = INT64_MAX;
    for (std::size_t i = 1; i < times_us.size(); ++i) {
        const std::int64_t interval = times_us[i] - times_us[i - 1];
        if (interval == 0) continue;
        if (interval < shortest_us) return {};
        least = std::min(least, interval);
    }
    // Times are rounded to microseconds, and so is the step, so long intervals do not determine it.
    std::size_t told_by = 0;
    double length_us = 0;
    double steps = 0;
    for (std::size_t i = 1; i < times_us.size(); ++i) {
        const std::int64_t interval = times_us[i] - times_us[i - 1];
        const std::int64_t multiple = (interval + least / 2) / least;
        if (multiple == 0 || multiple > least / 8) continue;
        if (std::abs(interval - multiple * least) > multiple + 1) return {};
        ++told_by;
        length_us += static_cast<double>(interval);
        steps += static_cast<double>(multiple);
    }
    if (told_by < enough) return {};
    return length_us / steps;
}

std::vector<std::string> check_delays(const spike_sequence& spikes,
                                      std::span<const delay_interval> delays) {
    std::vector<std::string> out;
    const auto longest = std::max_element(
        delays.begin(), delays.end(), [](const auto& a, const auto& b) { return a.high < b.high; });
    if (longest != delays.end()) core::check_given_time("The longest delay is", longest->high, out);
    check_clock(spikes, delays, out);
    return out;
}

}  // namespace spikeweave
