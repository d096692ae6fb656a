#include "sort/templates/explained_units.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "parallel/parallel_for.hpp"
#include "sort/templates/placed_waveforms.hpp"

namespace spikeweave::templates {
namespace {

// A unit is tested if it has fewer spikes than this share of those of a unit whose template
// correlates with its own.
constexpr double rare_share = 0.05;
constexpr double least_correlation = 0.3;
// It is another neuron if its spikes explain this share of its template's energy that others leave:
// the median of so many spikes.
constexpr double least_gain = 0.05;
constexpr std::size_t most_tested = 20;

// The traces around a spike of a unit, and their remainder on the unit's channels.
class neighbourhood {
public:
    neighbourhood(const template_traces& traces, const match_plan& plan,
                  const placed_waveforms& placed, const template_spike& spike)
        : plan_(plan),
          placed_(placed),
          unit_(spike.unit),
          before_(static_cast<std::size_t>(traces.window().before)),
          size_(traces.window().size()) {
        const auto block_frames = static_cast<std::int64_t>(traces.blocks().block_frames());
        const auto number = static_cast<std::size_t>(spike.frame / block_frames);
        const std::shared_ptr<const integer_block> block = traces.steps(number);
        const auto begin = static_cast<std::size_t>(spike.frame % block_frames) +
                           traces.blocks().apron() - 2 * size_;
        slice_ = {.channels = block->channels, .frames = 4 * size_};
        for (std::size_t c = 0; c < slice_.channels; ++c) {
            const auto values = block->on(c).subspan(begin, slice_.frames);
            slice_.values.insert(slice_.values.end(), values.begin(), values.end());
        }
    }

    // The energy that is left if some units have no spikes.
    double left(std::span<const char> excluded) const {
        score_table scores{.frames = slice_.frames};
        scores.values.resize(plan_.filters.size() * slice_.frames);
        for (const overlap& row : plan_.overlaps.of(unit_))
            if (excluded[row.other] == 0)
                correlate(slice_, plan_.filters[row.other], before_, scores.of(row.other));
        channel_block block{.frames = slice_.frames, .channels = slice_.channels};
        block.values.resize(slice_.values.size());
        std::ranges::transform(slice_.values, block.values.begin(), [](std::int16_t steps) {
            return static_cast<float>(steps) / steps_per_sd;
        });
        std::vector<template_spike> found;
        for (const block_match& match : match_block(plan_, std::move(scores), {excluded}).spikes)
            found.push_back({.frame = match.frame,
                             .fraction = static_cast<float>(match.part) / parts_of_frame,
                             .unit = match.unit,
                             .amplitude = static_cast<float>(match.size) /
                                          static_cast<float>(plan_.filters[match.unit].norm)});
        placed_.subtract(found, block);
        double out = 0;
        for (const std::uint32_t channel : plan_.filters[unit_].channels)
            for (const float x : block.on(channel).subspan(2 * size_ - before_, size_))
                out += double{x} * x;
        return out;
    }

private:
    const match_plan& plan_;
    const placed_waveforms& placed_;
    std::uint32_t unit_;
    std::size_t before_;
    std::size_t size_;
    integer_block slice_{};
};

}  // namespace

std::vector<char> find_explained_units(const template_traces& traces, const match_plan& plan,
                                       const tested_units& units, const execution& run) {
    std::vector<std::vector<template_spike>> spikes(plan.filters.size());
    for (const template_spike& spike : units.spikes) spikes[spike.unit].push_back(spike);
    const auto count = [&](std::size_t unit) { return spikes[unit].size(); };
    const auto is_rare = [&](std::uint32_t unit) {
        return std::ranges::any_of(plan.overlaps.of(unit), [&](const overlap& row) {
            return row.largest >= least_correlation * (1 << overlap_bits) &&
                   static_cast<double>(count(unit)) <
                       rare_share * static_cast<double>(count(row.other));
        });
    };
    std::vector<std::uint32_t> tested;
    for (std::uint32_t unit = 0; unit < spikes.size(); ++unit)
        if (count(unit) >= units.least_spikes && (units.found_late[unit] || is_rare(unit)))
            tested.push_back(unit);
    const placed_waveforms placed(plan.filters, traces.window());
    std::vector<char> out(spikes.size());
    parallel::parallel_for(tested.size(), run, "units that others explain", [&](std::size_t n) {
        const std::uint32_t unit = tested[n];
        // Units with more spikes explain it: few spikes of a large neuron have a template that
        // explains the others, too, and of two that are the mean of the same collisions one stays.
        std::vector<char> excluded(spikes.size());
        for (std::uint32_t other = 0; other < excluded.size(); ++other)
            excluded[other] =
                static_cast<char>(std::pair(count(other), other) <= std::pair(count(unit), unit));
        const std::size_t step = count(unit) / most_tested + 1;
        std::vector<double> gains;
        for (std::size_t i = step / 2; i < count(unit); i += step) {
            const neighbourhood around(traces, plan, placed, spikes[unit][i]);
            excluded[unit] = 1;
            const double without = around.left(excluded);
            excluded[unit] = 0;
            gains.push_back(without - around.left(excluded));
        }
        const auto median = gains.begin() + static_cast<std::ptrdiff_t>(gains.size() / 2);
        std::ranges::nth_element(gains, median);
        const double norm = static_cast<double>(plan.filters[unit].norm) / steps_per_sd;
        out[unit] = static_cast<char>(*median < least_gain * norm * norm);
    });
    return out;
}

}  // namespace spikeweave::templates
