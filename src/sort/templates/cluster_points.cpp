#include "sort/templates/cluster_points.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace spikeweave::templates {

cluster_points::cluster_points(const spike_features& features, std::size_t features_per_channel)
    : features_(features), width_(features_per_channel) {
    const std::size_t count = features.feature_count();
    std::vector<double> sums(count);
    std::vector<double> squares(count);
    std::vector<double> numbers(count);
    for (std::size_t n = 0; n < features.size(); ++n) {
        const auto unmasked = features.unmasked(n);
        auto next = unmasked.begin();
        features.for_each_known(n, [&](std::size_t f, double value) {
            if (next != unmasked.end() && *next == f) {
                ++next;
                return;
            }
            sums[f] += value;
            squares[f] += value * value;
            ++numbers[f];
        });
    }
    for (std::size_t f = 0; f < count; ++f) {
        const double mean = sums[f] / std::max(numbers[f], 1.0);
        const double variance = squares[f] / std::max(numbers[f], 1.0) - mean * mean;
        double noise = variance > 0 ? std::sqrt(variance) : 0;
        if (numbers[f] < spike_features::enough_masked && !features.noise().empty())
            noise = features.noise()[f];
        scale_.push_back(noise > 0 ? 1 / noise : 0);
    }
}

Eigen::MatrixXd cluster_points::of(std::span<const std::uint32_t> spikes,
                                   std::span<const std::uint32_t> channels) const {
    Eigen::MatrixXd points(static_cast<Eigen::Index>(spikes.size()),
                           static_cast<Eigen::Index>(channels.size() * width_));
    for (std::size_t i = 0; i < spikes.size(); ++i) {
        Eigen::Index column = 0;
        for (const std::uint32_t channel : channels)
            for (std::size_t k = 0; k < width_; ++k) {
                const std::size_t f = channel * width_ + k;
                points(static_cast<Eigen::Index>(i), column++) =
                    features_.value(spikes[i], f) * scale_[f];
            }
    }
    return points;
}

std::vector<std::uint32_t> cluster_points::largest_channels(std::span<const std::uint32_t> spikes,
                                                            std::size_t most) const {
    std::vector<double> sums(features_.feature_count() / width_);
    for (const std::uint32_t n : spikes) {
        const auto columns = features_.unmasked(n);
        const auto masks = features_.mask_values(n);
        for (std::size_t k = 0; k < columns.size(); ++k) sums[columns[k] / width_] += masks[k];
    }
    std::vector<std::uint32_t> order(sums.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order,
                             [&](std::uint32_t a, std::uint32_t b) { return sums[a] > sums[b]; });
    order.resize(std::min(order.size(), most));
    while (order.size() > 1 && sums[order.back()] == 0) order.pop_back();
    return order;
}

std::uint32_t cluster_points::largest_channel(std::uint32_t spike) const {
    std::uint32_t best = 0;
    double most = -1;
    double energy = 0;
    features_.for_each_known(spike, [&](std::size_t f, double value) {
        if (f % width_ == 0) energy = 0;
        energy += value * value * scale_[f] * scale_[f];
        if (f % width_ + 1 < width_ || energy <= most) return;
        most = energy;
        best = static_cast<std::uint32_t>(f / width_);
    });
    return best;
}

}  // namespace spikeweave::templates
