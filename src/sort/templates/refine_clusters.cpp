#include "sort/templates/refine_clusters.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "core/stop.hpp"
#include "parallel/ordered_for.hpp"
#include "parallel/parallel_for.hpp"
#include "parallel/ranks.hpp"
#include "sort/templates/coincidences.hpp"
#include "sort/templates/separation.hpp"

namespace spikeweave::templates {
namespace {

// Two groups of spikes are split at the first distance and merged at the second; a cluster that is
// cut in the middle has 2.65.
constexpr double split_distance = 4;
constexpr double merge_distance = 3.2;
// Groups that are nearer are merged whether they fire together or not.
constexpr double sure_merge_distance = 2;
// Farther ones, up to this distance, are merged if they have one refractory period, and means that
// differ by at most this share of the energy of the larger one.
constexpr double farthest_merge_distance = 8;
constexpr double most_mean_difference = 0.1;
constexpr std::size_t least_split_spikes = 15;
constexpr std::size_t least_split_share = 100;  // one in this many spikes may be split off
constexpr std::size_t most_point_channels = 8;

// Two clusters that may be merged.
struct pair_likeness {
    double distance = 0;
    double coincidences = 0;
    double expected_coincidences = 0;
};

struct part {
    std::vector<std::uint32_t> spikes{};
    double distance = 0;
};

// Splits a cluster as long as its parts are two groups. The first part keeps its number.
std::vector<part> split(std::vector<std::uint32_t> spikes, const cluster_points& points) {
    std::vector<part> done;
    std::vector<part> waiting{{std::move(spikes)}};
    while (!waiting.empty()) {
        part now = std::move(waiting.back());
        waiting.pop_back();
        const std::size_t least =
            std::max(least_split_spikes, now.spikes.size() / least_split_share);
        const auto channels = points.largest_channels(now.spikes, most_point_channels);
        const separation found = separate(points.of(now.spikes, channels), least);
        if (found.distance < split_distance) {
            done.push_back(std::move(now));
            continue;
        }
        std::array<part, 2> halves{part{{}, now.distance}, part{{}, found.distance}};
        for (std::size_t i = 0; i < now.spikes.size(); ++i)
            halves[found.side[i] == 0 ? 0 : 1].spikes.push_back(now.spikes[i]);
        waiting.push_back(std::move(halves[1]));
        waiting.push_back(std::move(halves[0]));
    }
    return done;
}

std::vector<spike_cluster> split_all(std::vector<spike_cluster> clusters,
                                     const cluster_points& points, const execution& run,
                                     std::vector<cluster_decision>& decisions) {
    std::vector<std::vector<part>> parts(clusters.size());
    std::vector<std::size_t> sizes;
    std::uint32_t next = 0;
    for (const spike_cluster& cluster : clusters) {
        next = std::max(next, cluster.number);
        sizes.push_back(cluster.spikes.size());
    }
    parallel::parallel_for(clusters.size(), run, "splits", [&](std::size_t i) {
        parts[i] = split(std::move(clusters[i].spikes), points);
    });
    std::vector<spike_cluster> out;
    for (std::size_t i = 0; i < clusters.size(); ++i)
        for (std::size_t k = 0; k < parts[i].size(); ++k) {
            const std::uint32_t number = k == 0 ? clusters[i].number : ++next;
            if (k > 0)
                decisions.push_back({.cluster = clusters[i].number,
                                     .fate = cluster_fate::split,
                                     .other = number,
                                     .spikes = sizes[i],
                                     .distance = parts[i][k].distance,
                                     .reason = "its spikes form two groups"});
            out.push_back({number, std::move(parts[i][k].spikes)});
        }
    return out;
}

// Whether the means of the first points and of the others differ little.
bool have_one_mean(const Eigen::MatrixXd& points, std::size_t first) {
    const auto count = static_cast<Eigen::Index>(first);
    const Eigen::RowVectorXd a = points.topRows(count).colwise().mean();
    const Eigen::RowVectorXd b = points.bottomRows(points.rows() - count).colwise().mean();
    return (a - b).squaredNorm() <=
           most_mean_difference * std::max(a.squaredNorm(), b.squaredNorm());
}

// Clusters that are merged, the nearest first.
class merger {
public:
    merger(std::vector<spike_cluster> clusters, const cluster_points& points,
           const spike_frames& frames)
        : clusters_(std::move(clusters)),
          points_(points),
          frames_(frames),
          channels_(clusters_.size()) {
        for (std::size_t i = 0; i < clusters_.size(); ++i) find_channels(i);
    }

    std::vector<spike_cluster> merge(const execution& run,
                                     std::vector<cluster_decision>& decisions) {
        compare_all(run);
        while (!near_.empty()) {
            core::throw_if_stopped(run.stop);
            const auto nearest = std::ranges::min_element(near_, {}, [](const auto& pair) {
                return std::pair{pair.second.distance, pair.first};
            });
            const auto [pair, likeness] = *nearest;
            decisions.push_back({.cluster = clusters_[pair.second].number,
                                 .fate = cluster_fate::merged,
                                 .other = clusters_[pair.first].number,
                                 .spikes = clusters_[pair.second].spikes.size(),
                                 .distance = likeness.distance,
                                 .coincidences = likeness.coincidences,
                                 .expected_coincidences = likeness.expected_coincidences,
                                 .reason = likeness.distance < merge_distance
                                               ? "the spikes of both form one group"
                                               : "both have one mean and one refractory period"});
            unite(pair.first, pair.second, run);
        }
        std::erase_if(clusters_, [](const spike_cluster& each) { return each.spikes.empty(); });
        return std::move(clusters_);
    }

private:
    void find_channels(std::size_t i) {
        channels_[i] = points_.largest_channels(clusters_[i].spikes, most_point_channels);
        std::ranges::sort(channels_[i]);
    }
    std::vector<std::int64_t> times_of(std::size_t i) const;
    std::optional<pair_likeness> likeness_of(std::size_t a, std::size_t b) const;
    void compare_all(const execution& run);
    void compare_with_all(std::size_t one, const execution& run);
    void unite(std::size_t into, std::size_t gone, const execution& run);

    std::vector<spike_cluster> clusters_;
    const cluster_points& points_;
    spike_frames frames_;
    std::vector<std::vector<std::uint32_t>> channels_;
    std::map<std::pair<std::size_t, std::size_t>, pair_likeness> near_{};
};

std::vector<std::int64_t> merger::times_of(std::size_t i) const {
    const std::vector<std::uint32_t>& spikes = clusters_[i].spikes;
    std::vector<std::int64_t> out(spikes.size());
    std::ranges::transform(spikes, out.begin(), [&](std::uint32_t n) { return frames_.of[n]; });
    return out;
}

// The distance of two clusters that may be merged.
std::optional<pair_likeness> merger::likeness_of(std::size_t a, std::size_t b) const {
    if (clusters_[a].spikes.size() < 2 || clusters_[b].spikes.size() < 2) return {};
    std::vector<std::uint32_t> shared;
    std::ranges::set_intersection(channels_[a], channels_[b], std::back_inserter(shared));
    if (2 * shared.size() < std::min(channels_[a].size(), channels_[b].size())) return {};
    std::vector<std::uint32_t> channels;
    std::ranges::set_union(channels_[a], channels_[b], std::back_inserter(channels));
    std::vector<std::uint32_t> spikes = clusters_[a].spikes;
    spikes.insert(spikes.end(), clusters_[b].spikes.begin(), clusters_[b].spikes.end());
    std::vector<char> side(spikes.size(), 1);
    std::fill_n(side.begin(), clusters_[a].spikes.size(), char{0});
    const Eigen::MatrixXd points = points_.of(spikes, channels);
    const double distance = distance_of_sides(points, side);
    if (distance >= farthest_merge_distance) return {};
    const bool is_far = distance >= merge_distance;
    if (is_far && !have_one_mean(points, clusters_[a].spikes.size())) return {};
    const std::vector<std::int64_t> times_a = times_of(a);
    const std::vector<std::int64_t> times_b = times_of(b);
    const train_pair trains{times_a, times_b, frames_.rate_hz, frames_.recording_frames};
    const lag_range refractory = refractory_lags(trains);
    const pair_counts pairs = pairs_at(trains, refractory);
    if (is_far && !is_one_train(trains, refractory)) return {};
    const bool are_two = distance >= sure_merge_distance && !is_far &&
                         pairs.expected >= least_telling_pairs &&
                         fire_independently(pairs.found, pairs.expected);
    if (are_two) return {};
    return pair_likeness{distance, static_cast<double>(pairs.found), pairs.expected};
}

void merger::compare_all(const execution& run) {
    std::vector<double> costs;
    for (std::size_t a = 0; a < clusters_.size(); ++a)
        costs.push_back(static_cast<double>(clusters_.size() - a));
    const parallel::rank_block own = parallel::block_of_rank(costs, run);
    struct near_pair {
        std::size_t a;
        std::size_t b;
        pair_likeness likeness;
    };
    std::vector<near_pair> near;
    parallel::for_each_in_order(
        own.size(), run, "merges",
        [&](std::size_t i) {
            const std::size_t a = own.begin + i;
            std::vector<near_pair> found;
            for (std::size_t b = a + 1; b < clusters_.size(); ++b)
                if (const auto likeness = likeness_of(a, b)) found.push_back({a, b, *likeness});
            return found;
        },
        [&](std::size_t, const std::vector<near_pair>& found) {
            near.insert(near.end(), found.begin(), found.end());
        });
    parallel::join_ranks(near, run);
    for (const near_pair& each : near) near_[{each.a, each.b}] = each.likeness;
}

void merger::compare_with_all(std::size_t one, const execution& run) {
    std::vector<std::optional<pair_likeness>> found(clusters_.size());
    const execution quiet{.threads = run.threads, .stop = run.stop};  // too short to report
    parallel::parallel_for(clusters_.size(), quiet, "merges", [&](std::size_t i) {
        if (i != one) found[i] = likeness_of(std::min(i, one), std::max(i, one));
    });
    for (std::size_t i = 0; i < clusters_.size(); ++i)
        if (found[i]) near_[{std::min(i, one), std::max(i, one)}] = *found[i];
}

void merger::unite(std::size_t into, std::size_t gone, const execution& run) {
    std::vector<std::uint32_t> both;
    std::ranges::merge(clusters_[into].spikes, clusters_[gone].spikes, std::back_inserter(both));
    clusters_[into].spikes = std::move(both);
    clusters_[gone].spikes.clear();
    find_channels(into);
    std::erase_if(near_, [&](const auto& pair) {
        const auto [a, b] = pair.first;
        return a == into || b == into || a == gone || b == gone;
    });
    compare_with_all(into, run);
}

}  // namespace

std::vector<spike_cluster> refine_clusters(std::vector<spike_cluster> clusters,
                                           const cluster_points& points, const spike_frames& frames,
                                           const execution& run,
                                           std::vector<cluster_decision>& decisions) {
    return merger(split_all(std::move(clusters), points, run, decisions), points, frames)
        .merge(run, decisions);
}

}  // namespace spikeweave::templates
