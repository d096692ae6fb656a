#include "sort/masked_gmm/sparse_mixture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "parallel/parallel_for.hpp"

namespace spikeweave::masked_gmm {
namespace {

std::size_t digest_of(const std::vector<std::uint8_t>& sides) {
    return std::hash<std::string_view>{}(
        {reinterpret_cast<const char*>(sides.data()), sides.size()});
}

double mean(double total, double count) {
    return count > 0 ? total / count : 0;
}

}  // namespace

sparse_mixture::sparse_mixture(const spike_features& features, const feature_space& space,
                               masked_gmm_options options, const group_rules& groups,
                               const execution& run)
    : options_(std::move(options)), data_(features, space, groups, run) {}

double sparse_mixture::penalty(const partition& now) const {
    const tally costs = tally_of(now);
    double total = 0;
    for (std::uint32_t k = 0; k < now.clusters; ++k) total += mean(costs.cost[k], costs.spikes[k]);
    return total * per_parameter(static_cast<double>(data_.size()));
}

// Only the penalty terms of the deleted cluster and of those that take its spikes change.
std::vector<double> sparse_mixture::deletion_gains(const assignment& found, std::uint32_t clusters,
                                                   const execution& run) const {
    struct handed {
        double cost = 0;
        double spikes = 0;
    };
    const partition now{found.best, clusters};
    const member_lists members(now);
    const tally costs = tally_of(now);
    const double scale = per_parameter(static_cast<double>(data_.size()));
    std::vector<double> gains(clusters, -infinity);
    parallel::parallel_for(clusters - 1, run, "deletions", [&](std::size_t c) {
        const std::size_t k = c + 1;
        double loss = 0;
        std::map<std::uint32_t, handed> receivers;
        for (const std::uint32_t n : members.of(k)) {
            loss += found.second_cost[n] - found.best_cost[n];
            if (found.second[n] == no_cluster) continue;
            handed& more = receivers[found.second[n]];
            more.cost += data_.cost[n];
            ++more.spikes;
        }
        double change = -mean(costs.cost[k], costs.spikes[k]);
        for (const auto& [to, more] : receivers)
            change += mean(costs.cost[to] + more.cost, costs.spikes[to] + more.spikes) -
                      mean(costs.cost[to], costs.spikes[to]);
        if (std::isfinite(loss)) gains[k] = -(change * scale + loss);
    });
    return gains;
}

std::vector<std::string> sparse_mixture::warnings() const {
    std::vector<std::string> all;
    if (data_.seldom_masked > 0 && data_.seldom_masked < data_.feature_count())
        all.push_back(
            fmt::format("{} of {} features are masked for no spike or for fewer than 4; their "
                        "noise is measured "
                        "on the tenth of spikes with the smallest masks.",
                        data_.seldom_masked, data_.feature_count()));
    if (data_.floored > 0)
        all.push_back(
            fmt::format("The noise of {} of {} features has no variance, because all values are "
                        "the same; it is assumed to be {} of the squared range.",
                        data_.floored, data_.feature_count(), least_variance));
    if (dead_ > 0)
        all.push_back(
            fmt::format("{} times a cluster (of {} spikes at most) had no invertible covariance, "
                        "and its spikes were assigned to others.",
                        dead_, largest_dead_));
    return all;
}

double sparse_mixture::denominator(std::uint32_t clusters) const {
    return static_cast<double>(data_.size()) +
           options_.prior_point * static_cast<double>(clusters - 1) + options_.noise_point;
}

double sparse_mixture::noise_cost(std::size_t spikes, std::uint32_t clusters) const {
    return -std::log((static_cast<double>(spikes) + options_.noise_point) / denominator(clusters));
}

double sparse_mixture::penalty_of(member_list cluster, double spikes) const {
    double cost = 0;
    for (const std::uint32_t n : cluster) cost += data_.cost[n];
    return mean(cost, static_cast<double>(cluster.size())) * per_parameter(spikes);
}

void sparse_mixture::count_dead(std::size_t spikes) {
    ++dead_;
    largest_dead_ = std::max(largest_dead_, spikes);
}

double sparse_mixture::per_parameter(double spikes) const {
    return 2 * options_.penalty_k + options_.penalty_k_log_n * std::log(spikes) / 2;
}

sparse_mixture::tally sparse_mixture::tally_of(const partition& now) const {
    tally all{std::vector<double>(now.clusters), std::vector<double>(now.clusters)};
    for (std::size_t n = 0; n < now.labels.size(); ++n) {
        all.cost[now.labels[n]] += data_.cost[n];
        ++all.spikes[now.labels[n]];
    }
    return all;
}

halving::halving(const sparse_mixture& of, member_list whole, std::vector<std::uint8_t> sides,
                 double unsplit, std::uint32_t most_rounds)
    : of_(&of),
      whole_(whole),
      sides_(std::move(sides)),
      parts_(whole_, sides_),
      unsplit_(unsplit),
      rounds_left_(most_rounds),
      over_(parts_.is_whole()) {}

void halving::take(std::span<const double> to_first, std::span<const double> to_second) {
    bool changed = false;
    score_ = 0;
    for (std::size_t a = 0; a < whole_.size(); ++a) {
        const std::uint8_t side = to_second[a] < to_first[a] ? 1 : 0;
        if (std::exchange(sides_[a], side) != side) changed = true;
        score_ += std::min(to_first[a], to_second[a]);
    }
    parts_ = {whole_, sides_};
    if (parts_.is_whole()) {
        score_ = infinity;
        over_ = true;
        return;
    }
    const auto spikes = static_cast<double>(whole_.size());
    score_ += of_->penalty_of(parts_.first, spikes) + of_->penalty_of(parts_.second, spikes);
    over_ = !changed || !seen_.insert(digest_of(sides_)).second || --rounds_left_ == 0;
}

std::vector<std::uint8_t> halving::answer() && {
    if (!(score_ < unsplit_)) return {};
    return std::move(sides_);
}

}  // namespace spikeweave::masked_gmm
