#include "assess/surrogates/gaussian_filter.hpp"

#include <cmath>
#include <span>
#include <utility>

namespace spikeweave::assess {
namespace {

// The weights at the centre and on one side of it.
std::vector<double> half_kernel(double sigma) {
    const auto radius = static_cast<std::size_t>(std::floor(4 * sigma + 0.5));
    std::vector<double> weights(radius + 1);
    double sum = 0;
    for (std::size_t i = 0; i <= radius; ++i) {
        const double x = static_cast<double>(i) / sigma;
        weights[i] = std::exp(-0.5 * x * x);
        sum += i == 0 ? weights[i] : 2 * weights[i];
    }
    for (double& weight : weights) weight /= sum;
    return weights;
}

// Mirrors a b c d to … c b a | a b c d | d c b …, repeated as often as needed.
std::vector<double> mirrored(std::span<const double> line, std::size_t margin) {
    const std::size_t n = line.size();
    std::vector<double> out(n + 2 * margin);
    // Where position 0 of the result lies in the endless repetition of the line and its mirror.
    const std::size_t start = 2 * n - margin % (2 * n);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::size_t at = (start + i) % (2 * n);
        out[i] = line[at < n ? at : 2 * n - 1 - at];
    }
    return out;
}

void smooth(std::span<double> line, std::span<const double> weights) {
    const std::size_t margin = weights.size() - 1;
    const std::vector<double> source = mirrored(line, margin);
    for (std::size_t i = 0; i < line.size(); ++i) {
        const double* const middle = source.data() + i + margin;
        double sum = *middle * weights[0];
        for (std::size_t k = 1; k <= margin; ++k)
            sum += (*(middle - k) + *(middle + k)) * weights[k];
        line[i] = sum;
    }
}

void transpose(square& values) {
    for (std::size_t row = 0; row < values.side; ++row)
        for (std::size_t column = 0; column < row; ++column)
            std::swap(values.at(row, column), values.at(column, row));
}

}  // namespace

void gaussian_filter(square& values, double sigma) {
    const std::vector<double> weights = half_kernel(sigma);
    for (int axis = 0; axis < 2; ++axis) {
        transpose(values);
        for (std::size_t row = 0; row < values.side; ++row)
            smooth(std::span{values.values}.subspan(row * values.side, values.side), weights);
    }
}

}  // namespace spikeweave::assess
