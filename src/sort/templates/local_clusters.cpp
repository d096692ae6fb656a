#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "parallel/ordered_for.hpp"
#include "parallel/ranks.hpp"
#include "sort/templates/cluster_points.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/sort/templates.hpp"

namespace spikeweave {

using templates::cluster_points;

namespace {

constexpr std::size_t most_local_channels = 8;
constexpr double local_reach_um = 80;
constexpr Eigen::Index most_components = 8;
constexpr std::uint32_t first_groups = 8;
constexpr std::size_t least_local_spikes = 30;

// The nearest channels of each one, itself first.
std::vector<std::vector<std::uint32_t>> neighbours_of(std::span<const recording_channel> channels) {
    std::vector<std::vector<std::uint32_t>> out(channels.size());
    for (std::size_t c = 0; c < channels.size(); ++c) {
        const auto distance = [&](std::uint32_t other) {
            if (channels[other].shank != channels[c].shank) return 1e9;
            return std::hypot(channels[other].x_um - channels[c].x_um,
                              channels[other].y_um - channels[c].y_um);
        };
        std::vector<std::uint32_t> all(channels.size());
        std::iota(all.begin(), all.end(), 0U);
        std::ranges::stable_sort(all, {}, distance);
        std::erase_if(all, [&](std::uint32_t other) { return distance(other) > local_reach_um; });
        all.resize(std::min(all.size(), most_local_channels));
        out[c] = std::move(all);
    }
    return out;
}

// The points along the directions of largest variance, the largest first.
Eigen::MatrixXd principal_components(const Eigen::MatrixXd& points) {
    const Eigen::MatrixXd centred = points.rowwise() - points.colwise().mean();
    const Eigen::MatrixXd covariance =
        centred.transpose() * centred /
        static_cast<double>(std::max<Eigen::Index>(1, points.rows() - 1));
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(covariance);
    const Eigen::Index kept = std::min(most_components, points.cols());
    return centred * solver.eigenvectors().rightCols(kept).rowwise().reverse();
}

// Groups of equally many spikes along the first component.
std::vector<std::uint32_t> groups_along(const Eigen::VectorXd& values, std::uint32_t groups) {
    std::vector<std::uint32_t> order(static_cast<std::size_t>(values.size()));
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t n) { return values[n]; });
    std::vector<std::uint32_t> out(order.size());
    for (std::size_t r = 0; r < order.size(); ++r)
        out[order[r]] = 1 + static_cast<std::uint32_t>(r * groups / order.size());
    return out;
}

clustering_result cluster_some(const cluster_points& points,
                               const std::vector<std::uint32_t>& spikes,
                               const std::vector<std::uint32_t>& channels,
                               masked_gmm_options options, const execution& run) {
    if (spikes.size() < least_local_spikes) {
        clustering_result one;
        one.labels.assign(spikes.size(), 1);
        one.units = 1;
        return one;
    }
    const Eigen::MatrixXd components = principal_components(points.of(spikes, channels));
    const auto width = static_cast<std::size_t>(components.cols());
    std::vector<double> values;
    values.reserve(spikes.size() * width);
    for (Eigen::Index n = 0; n < components.rows(); ++n)
        for (Eigen::Index k = 0; k < components.cols(); ++k) values.push_back(components(n, k));
    const auto most_groups = static_cast<std::uint32_t>(spikes.size() / least_local_spikes);
    options.deletions = cluster_deletions::all;
    options.strategy = sort_strategy::cpu;
    options.start = groups_along(components.col(0), std::min(first_groups, most_groups));
    const std::vector<double> masks(values.size(), 1.0);
    return sort_spikes(spike_features(width, std::move(values), spike_masks::of_rows(masks, width)),
                       options, {.threads = 1, .stop = run.stop});
}

}  // namespace

clustering_result cluster_by_channel(const spike_features& features,
                                     std::span<const recording_channel> channels,
                                     const masked_gmm_options& options, const execution& run) {
    if (channels.empty() || features.feature_count() % channels.size() != 0)
        throw invalid_argument(
            fmt::format("{} features of {} channels", features.feature_count(), channels.size()));
    const std::size_t width = features.feature_count() / channels.size();
    const cluster_points points(features, width);
    std::vector<std::vector<std::uint32_t>> spikes(channels.size());
    for (std::uint32_t n = 0; n < features.size(); ++n)
        spikes[points.largest_channel(n)].push_back(n);
    const auto neighbours = neighbours_of(channels);
    std::vector<double> costs;
    costs.reserve(spikes.size());
    for (const std::vector<std::uint32_t>& of : spikes)
        costs.push_back(static_cast<double>(of.size()));
    const parallel::rank_block own = parallel::block_of_rank(costs, run);
    std::vector<std::uint32_t> units;
    std::vector<std::uint32_t> labels;
    parallel::for_each_in_order(
        own.size(), run, "clusters of channels",
        [&](std::size_t i) {
            const std::size_t c = own.begin + i;
            return spikes[c].empty() ? clustering_result{}
                                     : cluster_some(points, spikes[c], neighbours[c], options, run);
        },
        [&](std::size_t, const clustering_result& local) {
            units.push_back(local.units);
            labels.insert(labels.end(), local.labels.begin(), local.labels.end());
        });
    parallel::join_ranks(units, run);
    parallel::join_ranks(labels, run);
    clustering_result out;
    out.labels.resize(features.size());
    out.ran_on = sort_strategy::cpu;
    out.stopped = stop_reason::by_channel;
    auto label = labels.begin();
    for (std::size_t c = 0; c < channels.size(); ++c) {
        for (const std::uint32_t n : spikes[c])
            if (const std::uint32_t local = *label++; local > 0) out.labels[n] = out.units + local;
        out.units += units[c];
    }
    return out;
}

}  // namespace spikeweave
