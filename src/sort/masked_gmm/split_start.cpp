#include "sort/masked_gmm/split_start.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "parallel/parallel_for.hpp"

namespace spikeweave::masked_gmm {
namespace {

// Power iterations. The direction need not be exact, because splits are refined afterwards.
constexpr std::uint32_t rounds = 12;

// The spikes of one cluster as differences from noise.
struct sparse_rows {
    std::vector<std::size_t> begin{0};
    std::vector<std::uint32_t> columns{};
    std::vector<double> deltas{};
    std::vector<double> mean{};

    std::size_t size() const { return begin.size() - 1; }

    double along(const std::vector<double>& direction, std::size_t row) const {
        double sum = 0;
        for (std::size_t a = begin[row]; a < begin[row + 1]; ++a)
            sum += deltas[a] * direction[columns[a]];
        return sum;
    }
};

double product(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

// Returns the scatter matrix of the spikes times a direction.
std::vector<double> spread(const sparse_rows& rows, const std::vector<double>& direction) {
    std::vector<double> out(direction.size());
    const double centre = product(rows.mean, direction);
    double total = 0;
    for (std::size_t n = 0; n < rows.size(); ++n) {
        const double off = rows.along(direction, n) - centre;
        total += off;
        for (std::size_t a = rows.begin[n]; a < rows.begin[n + 1]; ++a)
            out[rows.columns[a]] += off * rows.deltas[a];
    }
    for (std::size_t i = 0; i < out.size(); ++i) out[i] -= total * rows.mean[i];
    return out;
}

// Returns the first principal direction, starting from the feature with the largest variance. It is
// 0 if all spikes are equal.
std::vector<double> principal(const sparse_rows& rows) {
    std::vector<double> variance(rows.mean.size());
    for (std::size_t a = 0; a < rows.deltas.size(); ++a)
        variance[rows.columns[a]] += rows.deltas[a] * rows.deltas[a];
    for (std::size_t i = 0; i < variance.size(); ++i)
        variance[i] -= static_cast<double>(rows.size()) * rows.mean[i] * rows.mean[i];
    std::vector<double> direction(rows.mean.size());
    const auto most = std::max_element(variance.begin(), variance.end());
    direction[static_cast<std::size_t>(most - variance.begin())] = 1;
    for (std::uint32_t round = 0; round < rounds; ++round) {
        direction = spread(rows, direction);
        const double length = std::sqrt(product(direction, direction));
        if (!(length > 0)) break;
        for (double& x : direction) x /= length;
    }
    return direction;
}

}  // namespace

split_starts::split_starts(const spike_features& features, feature_space space)
    : features_(&features), space_(std::move(space)) {}

std::vector<std::uint8_t> split_starts::halves(const partition& now, const execution& run) const {
    std::vector<std::vector<std::uint32_t>> members(now.clusters);
    for (std::uint32_t n = 0; n < now.labels.size(); ++n) members[now.labels[n]].push_back(n);
    std::vector<std::uint8_t> sides(now.labels.size());
    parallel::parallel_for(now.clusters - 1, run, "splits", [&](std::size_t c) {
        const std::vector<std::uint32_t>& own = members[c + 1];
        sparse_rows rows{.mean = std::vector<double>(features_->feature_count())};
        for (const std::uint32_t n : own) {
            const auto columns = features_->unmasked(n);
            const auto masks = features_->mask_values(n);
            for (std::size_t a = 0; a < columns.size(); ++a) {
                const std::uint32_t i = columns[a];
                const double off = (features_->value(n, i) - space_.low[i]) / space_.range[i] -
                                   space_.noise.mean[i];
                rows.columns.push_back(i);
                rows.deltas.push_back(masks[a] * off / std::sqrt(space_.noise.variance[i]));
                rows.mean[i] += rows.deltas.back() / static_cast<double>(own.size());
            }
            rows.begin.push_back(rows.columns.size());
        }
        const std::vector<double> direction = principal(rows);
        const double centre = product(rows.mean, direction);
        for (std::size_t a = 0; a < own.size(); ++a)
            sides[own[a]] = rows.along(direction, a) > centre ? 1 : 0;
    });
    return sides;
}

}  // namespace spikeweave::masked_gmm
