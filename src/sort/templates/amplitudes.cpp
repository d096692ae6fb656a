#include "sort/templates/amplitudes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace spikeweave::templates {
namespace {

constexpr std::size_t least_learned = 40;
// The values expected of any unit count as much as this many of its spikes.
constexpr double spikes_of_expectation = 20;
constexpr double least_spread = 0.05;
// Spikes that are smaller than nearly all by a quarter, or larger, are believed, too.
constexpr double tail = 0.02;
constexpr double beyond = 0.25;
constexpr double least_of_any = 0.25;
constexpr double most_of_any = 2.5;

double quantile(const std::vector<float>& ascending, double share) {
    const auto last = static_cast<double>(ascending.size() - 1);
    return ascending[static_cast<std::size_t>(std::lround(share * last))];
}

expected_amplitudes learn(std::vector<float> amplitudes, const match_rule& allowed) {
    constexpr double decile = 1.2816;  // of a normal distribution, in standard deviations
    std::ranges::sort(amplitudes);
    const auto count = static_cast<double>(amplitudes.size());
    const double usual = quantile(amplitudes, 0.5);
    const auto spread = [&](double width) {
        const double found = std::max(width / decile, least_spread * usual);
        const double any = allowed.amplitude_spread * usual;
        return std::sqrt((count * found * found + spikes_of_expectation * any * any) /
                         (count + spikes_of_expectation));
    };
    return {.least = usual * std::clamp(quantile(amplitudes, tail) / usual * (1 - beyond),
                                        least_of_any, allowed.least_amplitude),
            .usual = usual,
            .most = usual * std::clamp(quantile(amplitudes, 1 - tail) / usual * (1 + beyond),
                                       allowed.most_amplitude, most_of_any),
            .spread_below = spread(usual - quantile(amplitudes, 0.1)),
            .spread_above = spread(quantile(amplitudes, 0.9) - usual)};
}

expected_amplitudes times(const expected_amplitudes& of, double factor) {
    return {.least = of.least * factor,
            .usual = of.usual * factor,
            .most = of.most * factor,
            .spread_below = of.spread_below * factor,
            .spread_above = of.spread_above * factor};
}

}  // namespace

learned_amplitudes::learned_amplitudes(std::span<const matched_filter> filters,
                                       std::span<const template_spike> spikes,
                                       std::span<const std::uint32_t> numbers,
                                       const match_rule& allowed) {
    std::vector<std::vector<float>> amplitudes(filters.size());
    for (const template_spike& spike : spikes) amplitudes[spike.unit].push_back(spike.amplitude);
    for (std::size_t unit = 0; unit < filters.size(); ++unit)
        if (amplitudes[unit].size() >= least_learned)
            of_unit_[numbers[unit]] =
                times(learn(std::move(amplitudes[unit]), allowed), filters[unit].norm);
}

void learned_amplitudes::apply_to(match_plan& plan, std::span<const std::uint32_t> numbers) const {
    for (std::uint32_t unit = 0; unit < plan.filters.size(); ++unit) {
        const auto found = of_unit_.find(numbers[unit]);
        if (found != of_unit_.end() && plan.filters[unit].norm > 0)
            plan.expect(unit, times(found->second, 1.0 / plan.filters[unit].norm));
    }
}

}  // namespace spikeweave::templates
