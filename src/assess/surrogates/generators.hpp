#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/spikes/bin_grid.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave::assess {

/// Replaces the times of a unit (at least one, strictly ascending) by those of a surrogate, which
/// are ascending and may be equal. Called from several threads at once.
using time_mover =
    std::function<void(unit_id unit, std::vector<std::int64_t>& times, random_stream& random)>;

/// The random numbers that a method draws.
random_purpose purpose_of(surrogate_method method);
/// Makes the function that moves the spikes of a recording, for every method except bin_shuffling.
/// @param refractory_period  used by dither_spikes_with_refractory_period
/// @throws invalid_argument if an option is out of range.
time_mover make_time_mover(const spike_trains& trains, time_span span,
                           const surrogate_options& options, duration refractory_period);

/// There is one function for each family of methods.
time_mover dead_time_mover(time_span span, const surrogate_options& options);
time_mover dither_mover(time_span span, const surrogate_options& options,
                        duration refractory_period);
time_mover redraw_mover(time_span span, const surrogate_options& options);
time_mover joint_isi_mover(const spike_trains& trains, const surrogate_options& options);
time_mover trial_mover(time_span span, const surrogate_options& options);

/// The shortest interval of a unit, or `most` if no interval is shorter.
std::int64_t shortest_interval(std::span<const std::int64_t> times, std::int64_t most);

/// Moves all given times to uniform places in [first, last], at least `gap` apart. There must be
/// room.
void place_apart(std::span<std::int64_t> times, std::int64_t first, std::int64_t last,
                 std::int64_t gap, random_stream& random);

/// Redraws each spike within its own interval of a grid that starts at the beginning of the span,
/// at least `gap` from its neighbours as far as there is room.
void redraw_in_cells(std::span<std::int64_t> times, time_span span, std::int64_t width,
                     std::int64_t gap, random_stream& random);

/// Draws a uniform number in [first, last].
inline std::int64_t uniform_between(std::int64_t first, std::int64_t last, random_stream& random) {
    return first +
           static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(last - first + 1)));
}

template <class T>
void shuffle(std::span<T> values, random_stream& random) {
    for (std::size_t left = values.size(); left > 1; --left)
        std::swap(values[left - 1], values[random.below(left)]);
}

/// Permutes the bins of a unit block by block.
class bin_shuffler {
public:
    /// @throws invalid_argument if the dither is shorter than a bin.
    bin_shuffler(const bin_grid& grid, const surrogate_options& options);

    /// @param bins  the bins of a unit, strictly ascending
    /// @param out   the same number of bins, strictly ascending
    void shuffle(std::span<const std::uint32_t> bins, std::vector<std::uint32_t>& out,
                 random_stream& random) const;

private:
    void shuffle_blocks(std::span<const std::uint32_t> bins, std::vector<std::uint32_t>& out,
                        random_stream& random) const;
    void slide(std::span<const std::uint32_t> bins, std::vector<std::uint32_t>& out,
               random_stream& random) const;

    std::uint32_t bin_count_;
    std::uint32_t block_ = 0;
    bool sliding_;
};

/// A square matrix of numbers, row by row.
struct square {
    std::size_t side = 0;
    std::vector<double> values{};

    explicit square(std::size_t n) : side(n), values(n * n) {}
    double& at(std::size_t row, std::size_t column) { return values[row * side + column]; }
    double at(std::size_t row, std::size_t column) const { return values[row * side + column]; }
};

/// Smooths along both axes with a sampled Gaussian that is cut at four standard deviations; beyond
/// an edge the values are mirrored, the outermost twice (scipy.ndimage.gaussian_filter with its
/// defaults, equal to 1e-12 of the largest value).
/// @param sigma in cells, above 0
void gaussian_filter(square& values, double sigma);

}  // namespace spikeweave::assess
