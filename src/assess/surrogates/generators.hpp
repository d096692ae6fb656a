#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave {

/// Replaces the times of a unit, which ascend strictly and are at least one, by those of a
/// surrogate. These ascend, perhaps with equal ones. Called from several threads at once.
using time_mover =
    std::function<void(unit_id unit, std::vector<std::int64_t>& times, random_stream& random)>;

/// What a method does with the spikes of a recording; every method but bin_shuffling.
/// @param refractory_period of dither_spikes_with_refractory_period
/// @throws invalid_argument for options that cannot be.
time_mover make_time_mover(const spike_trains& trains, time_span span,
                           const surrogate_options& options, duration refractory_period);

/// One function a family of methods.
time_mover dead_time_mover(time_span span, const surrogate_options& options);
time_mover dither_mover(time_span span, const surrogate_options& options,
                        duration refractory_period);
time_mover redraw_mover(time_span span, const surrogate_options& options);
time_mover joint_isi_mover(const spike_trains& trains, const surrogate_options& options);
time_mover trial_mover(time_span span, const surrogate_options& options);

/// The shortest interval of a unit, or `most` where none is shorter.
std::int64_t shortest_interval(std::span<const std::int64_t> times, std::int64_t most);

/// Uniform places in [first, last] for all given times, `gap` apart. There must be room.
void place_apart(std::span<std::int64_t> times, std::int64_t first, std::int64_t last,
                 std::int64_t gap, random_stream& random);

/// Redraws each spike within its own interval of a grid on the begin of the span, `gap` from its
/// neighbours as far as there is room.
void redraw_in_cells(std::span<std::int64_t> times, time_span span, std::int64_t width,
                     std::int64_t gap, random_stream& random);

/// Uniform in [first, last].
inline std::int64_t uniform_between(std::int64_t first, std::int64_t last, random_stream& random) {
    return first +
           static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(last - first + 1)));
}

template <class T>
void shuffle(std::span<T> values, random_stream& random) {
    for (std::size_t left = values.size(); left > 1; --left)
        std::swap(values[left - 1], values[random.below(left)]);
}

}  // namespace spikeweave
