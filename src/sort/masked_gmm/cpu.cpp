#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "parallel/parallel_for.hpp"
#include "sort/masked_gmm/cluster_fit.hpp"
#include "sort/masked_gmm/e_step.hpp"
#include "sort/masked_gmm/steps.hpp"

namespace synfire::masked_gmm {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The spikes of each cluster, ascending, one cluster after another.
struct member_lists {
    std::vector<std::size_t> begin{};
    std::vector<std::uint32_t> spikes{};

    explicit member_lists(const partition& now)
        : begin(std::size_t{now.clusters} + 1), spikes(now.labels.size()) {
        for (const std::uint32_t label : now.labels) ++begin[label + 1];
        for (std::size_t k = 1; k < begin.size(); ++k) begin[k] += begin[k - 1];
        std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
        for (std::uint32_t n = 0; n < now.labels.size(); ++n) spikes[next[now.labels[n]]++] = n;
    }
    member_list of(std::size_t cluster) const {
        return std::span{spikes}.subspan(begin[cluster], begin[cluster + 1] - begin[cluster]);
    }
};

std::size_t digest_of(const std::vector<std::uint8_t>& sides) {
    return std::hash<std::string_view>{}(
        {reinterpret_cast<const char*>(sides.data()), sides.size()});
}

double sum(std::span<const double> values) {
    double total = 0;
    for (const double x : values) total += x;
    return total;
}

class sparse_mixture final : public mixture {
public:
    sparse_mixture(const spike_features& features, masked_gmm_options options, const execution& run)
        : options_(std::move(options)), data_(features, run) {}

    const noise_model& noise() const override { return data_.noise; }

    assignment assign(const partition& now, const execution& run) override {
        const member_lists members(now);
        const std::vector<cluster_fit> fits = fit_all(now, members, false, run);
        for (std::uint32_t k = 1; k < now.clusters; ++k) {
            if (!fits[k - 1].dead) continue;
            ++dead_;
            largest_dead_ = std::max(largest_dead_, members.of(k).size());
        }
        const double noise_weight =
            (static_cast<double>(members.of(0).size()) + options_.noise_point) /
            denominator(now.clusters);
        return evaluate(data_, fits, -std::log(noise_weight), run);
    }

    std::vector<cluster_model> models(const partition& now, const execution& run) override {
        std::vector<cluster_model> all;
        for (cluster_fit& fit : fit_all(now, member_lists(now), true, run)) {
            cluster_model model{
                .weight = fit.weight,
                .mean = std::move(fit.mean),
                .block = std::move(fit.block),
                .covariance = {fit.covariance.reshaped().begin(), fit.covariance.reshaped().end()},
                .variance = std::move(fit.variance)};
            for (std::size_t i = 0; i < model.mean.size(); ++i)
                model.mean[i] += data_.noise.mean[i];
            all.push_back(std::move(model));
        }
        return all;
    }

    double penalty(const partition& now) const override {
        const tally costs = tally_of(now);
        double total = 0;
        for (std::uint32_t k = 0; k < now.clusters; ++k)
            total += mean(costs.cost[k], costs.spikes[k]);
        return total * per_parameter(static_cast<double>(data_.size()));
    }

    // Of the penalty only the terms of the cluster and of those that take its spikes change.
    std::vector<double> deletion_gains(const assignment& found,
                                       std::uint32_t clusters) const override {
        const partition now{found.best, clusters};
        const member_lists members(now);
        const tally costs = tally_of(now);
        const double scale = per_parameter(static_cast<double>(data_.size()));
        std::vector<double> gains(clusters, -infinity);
        std::vector<double> more_cost(clusters);
        std::vector<double> more_spikes(clusters);
        for (std::uint32_t k = 1; k < clusters; ++k) {
            double loss = 0;
            std::set<std::uint32_t> receivers;
            for (const std::uint32_t n : members.of(k)) {
                loss += found.second_cost[n] - found.best_cost[n];
                const std::uint32_t to = found.second[n];
                if (to == no_cluster) continue;
                receivers.insert(to);
                more_cost[to] += data_.cost[n];
                ++more_spikes[to];
            }
            double change = -mean(costs.cost[k], costs.spikes[k]);
            for (const std::uint32_t to : receivers) {
                change += mean(costs.cost[to] + std::exchange(more_cost[to], 0),
                               costs.spikes[to] + std::exchange(more_spikes[to], 0)) -
                          mean(costs.cost[to], costs.spikes[to]);
            }
            if (std::isfinite(loss)) gains[k] = -(change * scale + loss);
        }
        return gains;
    }

    std::vector<std::vector<std::uint8_t>> split_candidates(const partition& now,
                                                            std::span<const std::uint8_t> start,
                                                            const execution& run) override {
        const member_lists members(now);
        std::vector<std::vector<std::uint8_t>> all(now.clusters);
        parallel_for(now.clusters - 1, run, "splits", [&](std::size_t c) {
            const member_list own = members.of(c + 1);
            std::vector<std::uint8_t> sides(own.size());
            for (std::size_t a = 0; a < own.size(); ++a) sides[a] = start[own[a]];
            all[c + 1] = split(own, std::move(sides), {.threads = 1, .stop = run.stop});
        });
        return all;
    }

    // Other clusters feel of a split only that all weights have one more cluster in their
    // denominator.
    double split_change(const partition& now, std::uint32_t cluster,
                        std::span<const std::uint8_t> sides) override {
        const execution alone{.threads = 1};
        std::vector<std::uint32_t> whole;
        for (std::uint32_t n = 0; n < now.labels.size(); ++n)
            if (now.labels[n] == cluster) whole.push_back(n);
        const halves parts(whole, sides);
        const double before = denominator(now.clusters);
        const double after = denominator(now.clusters + 1);
        const auto others = static_cast<double>(data_.size() - whole.size());
        const auto own = [&](const std::vector<member_list>& clusters, double all) {
            const auto fits =
                fit_clusters(data_, clusters, {.options = &options_, .denominator = all}, alone);
            double score = 0;
            for (std::size_t k = 0; k < clusters.size(); ++k) {
                std::vector<double> costs(clusters[k].size());
                costs_in(data_, fits[k], clusters[k], costs);
                score += sum(costs) + penalty_of(clusters[k], static_cast<double>(data_.size()));
            }
            return score;
        };
        return others * std::log(after / before) + own({parts.first, parts.second}, after) -
               own({whole}, before);
    }

    std::vector<std::string> warnings() const override {
        std::vector<std::string> all;
        if (data_.never_masked > 0 && data_.never_masked < data_.feature_count())
            all.push_back(fmt::format(
                "{} of {} features are masked for no spike; the tenth of spikes with the smallest "
                "masks stands in for noise there.",
                data_.never_masked, data_.feature_count()));
        if (data_.floored > 0)
            all.push_back(
                fmt::format("The noise of {} of {} features has no variance; {} stands in for it.",
                            data_.floored, data_.feature_count(), least_variance));
        if (dead_ > 0)
            all.push_back(fmt::format(
                "{} times a cluster (of {} spikes at most) had no covariance that could be "
                "inverted, and its spikes went to others.",
                dead_, largest_dead_));
        return all;
    }

private:
    struct tally {
        std::vector<double> cost{};
        std::vector<double> spikes{};
    };

    struct halves {
        std::vector<std::uint32_t> first{};
        std::vector<std::uint32_t> second{};

        halves(member_list whole, std::span<const std::uint8_t> sides) {
            for (std::size_t a = 0; a < whole.size(); ++a)
                (sides[a] == 0 ? first : second).push_back(whole[a]);
        }
        bool is_whole() const { return first.empty() || second.empty(); }
    };

    static double mean(double total, double count) { return count > 0 ? total / count : 0; }

    double per_parameter(double spikes) const {
        return 2 * options_.penalty_k + options_.penalty_k_log_n * std::log(spikes) / 2;
    }

    double penalty_of(member_list cluster, double spikes) const {
        double cost = 0;
        for (const std::uint32_t n : cluster) cost += data_.cost[n];
        return mean(cost, static_cast<double>(cluster.size())) * per_parameter(spikes);
    }

    tally tally_of(const partition& now) const {
        tally all{std::vector<double>(now.clusters), std::vector<double>(now.clusters)};
        for (std::size_t n = 0; n < now.labels.size(); ++n) {
            all.cost[now.labels[n]] += data_.cost[n];
            ++all.spikes[now.labels[n]];
        }
        return all;
    }

    double denominator(std::uint32_t clusters) const {
        return static_cast<double>(data_.size()) +
               options_.prior_point * static_cast<double>(clusters - 1) + options_.noise_point;
    }

    std::vector<cluster_fit> fit_all(const partition& now, const member_lists& members, bool keep,
                                     const execution& run) const {
        std::vector<member_list> lists;
        lists.reserve(now.clusters);
        for (std::uint32_t k = 1; k < now.clusters; ++k) lists.push_back(members.of(k));
        return fit_clusters(data_, lists,
                            {.options = &options_,
                             .denominator = denominator(now.clusters),
                             .keep_covariance = keep},
                            run);
    }

    // The cluster by itself: without noise, and with its own number of spikes in the penalty.
    std::vector<std::uint8_t> split(member_list whole, std::vector<std::uint8_t> sides,
                                    const execution& run) const {
        const auto n = static_cast<double>(whole.size());
        const double p = options_.prior_point;
        const auto one =
            fit_clusters(data_, {whole}, {.options = &options_, .denominator = n + p}, run);
        std::vector<double> to_first(whole.size());
        std::vector<double> to_second(whole.size());
        costs_in(data_, one[0], whole, to_first);
        const double unsplit = sum(to_first) + penalty_of(whole, n);

        double score = infinity;
        std::set<std::size_t> seen;  // digests: halves that come back would go on for ever
        for (std::uint32_t round = 0; round < options_.max_iterations; ++round) {
            const halves parts(whole, sides);
            if (parts.is_whole()) return {};
            const auto two = fit_clusters(data_, {parts.first, parts.second},
                                          {.options = &options_, .denominator = n + 2 * p}, run);
            costs_in(data_, two[0], whole, to_first);
            costs_in(data_, two[1], whole, to_second);
            bool changed = false;
            score = 0;
            for (std::size_t a = 0; a < whole.size(); ++a) {
                const std::uint8_t side = to_second[a] < to_first[a] ? 1 : 0;
                if (std::exchange(sides[a], side) != side) changed = true;
                score += std::min(to_first[a], to_second[a]);
            }
            const halves next(whole, sides);
            if (next.is_whole()) return {};
            score += penalty_of(next.first, n) + penalty_of(next.second, n);
            if (!changed || !seen.insert(digest_of(sides)).second) break;
        }
        if (!(score < unsplit)) return {};
        return sides;
    }

    masked_gmm_options options_;
    sparse_data data_;
    std::size_t dead_ = 0;
    std::size_t largest_dead_ = 0;
};

}  // namespace

std::unique_ptr<mixture> make_cpu(const spike_features& features, const masked_gmm_options& options,
                                  const execution& run) {
    return std::make_unique<sparse_mixture>(features, options, run);
}

}  // namespace synfire::masked_gmm
