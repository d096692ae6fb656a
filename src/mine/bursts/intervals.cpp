#include "mine/bursts/steps.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

namespace spikeweave::bursts {
namespace {

using namespace std::chrono_literals;

// Where bin i begins, and at the end where the last one ends: 1 ms times 10^(i / 10).
template <std::size_t Bins>
std::array<std::int64_t, Bins + 1> begins_of_bins() {
    std::array<std::int64_t, Bins + 1> begins{};
    for (std::size_t i = 0; i <= Bins; ++i)
        begins[i] = std::llround(1e3 * std::pow(10.0, static_cast<double>(i) / 10));
    return begins;
}

}  // namespace

std::vector<spike_range> by_fixed_intervals(std::span<const std::int64_t> times_us,
                                            const burst_options& options) {
    std::vector<spike_range> found;
    const auto add = [&](spike_range next) {
        if (!found.empty() &&
            times_us[next.first] - times_us[found.back().last] < options.min_separation.count())
            found.back().last = next.last;
        else
            found.push_back(next);
    };
    const auto interval = [&](std::size_t to) { return times_us[to] - times_us[to - 1]; };
    for (std::size_t i = 1; i < times_us.size(); ++i) {
        if (interval(i) >= options.begin_interval.count()) continue;
        const std::size_t first = i - 1;
        while (i + 1 < times_us.size() && interval(i + 1) <= options.end_interval.count()) ++i;
        add({first, i});
    }
    std::erase_if(found, [&](const spike_range& one) {
        return one.spikes() < options.min_spikes ||
               times_us[one.last] - times_us[one.first] < options.min_duration.count();
    });
    return found;
}

void interval_histogram::add(std::span<const std::int64_t> times_us) {
    static const auto begins = begins_of_bins<bin_count>();
    for (std::size_t i = 1; i < times_us.size(); ++i) {
        const std::int64_t interval = times_us[i] - times_us[i - 1];
        const auto behind = std::ranges::upper_bound(begins, interval);
        if (behind == begins.begin() || behind == begins.end()) continue;
        ++counts_[behind - begins.begin() - 1];
    }
}

std::optional<duration> interval_histogram::longest_interval(duration core) const {
    static const auto begins = begins_of_bins<bin_count>();
    std::vector<std::size_t> peaks;
    for (std::size_t i = 2; i + 2 < bin_count; ++i)
        if (counts_[i] > std::max({counts_[i - 2], counts_[i - 1], counts_[i + 1], counts_[i + 2]}))
            peaks.push_back(i);
    const auto later =
        std::ranges::find_if(peaks, [&](std::size_t peak) { return begins[peak] >= core.count(); });
    const auto highest = std::ranges::max_element(peaks.begin(), later, {},
                                                  [&](auto peak) { return counts_[peak]; });
    if (highest == later) return {};
    constexpr double least_void = 0.7;
    for (auto other = highest + 1; other != peaks.end(); ++other) {
        const auto* const emptiest = std::min_element(counts_ + *highest, counts_ + *other + 1);
        const double between = std::sqrt(static_cast<double>(counts_[*highest]) *
                                         static_cast<double>(counts_[*other]));
        if (1 - static_cast<double>(*emptiest) / between < least_void) continue;
        const duration longest{begins[static_cast<std::size_t>(emptiest - counts_)]};
        return longest < 1s ? longest : core;
    }
    return core;
}

std::vector<spike_range> by_longest_interval(std::span<const std::int64_t> times_us,
                                             duration longest, duration core,
                                             std::uint32_t min_spikes) {
    std::vector<spike_range> found;
    const auto is_within = [&](std::size_t i, duration most) {
        return times_us[i] - times_us[i - 1] <= most.count();
    };
    for (std::size_t first = 0; first < times_us.size();) {
        std::size_t last = first;
        bool has_core = false;
        while (last + 1 < times_us.size() && is_within(last + 1, longest)) {
            ++last;
            has_core = has_core || is_within(last, core);
        }
        if (has_core && last - first + 1 >= min_spikes) found.push_back({first, last});
        first = last + 1;
    }
    return found;
}

}  // namespace spikeweave::bursts
