#pragma once

#include <cstddef>
#include <vector>

namespace spikeweave::assess {

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
