#include <algorithm>
#include <cmath>
#include <utility>

#include "parallel/parallel_for.hpp"
#include "sort/masked_gmm/cluster_fit.hpp"
#include "sort/masked_gmm/sparse_mixture.hpp"
#include "sort/masked_gmm/steps.hpp"

namespace spikeweave::masked_gmm {
namespace {

class cpu_mixture final : public sparse_mixture {
public:
    cpu_mixture(const spike_features& features, const feature_space& space,
                const masked_gmm_options& options, const execution& run)
        : sparse_mixture(features, space, options, cpu_groups, run) {}

    assignment assign(const partition& now, const execution& run) override {
        const member_lists members(now);
        const std::vector<cluster_fit> fits = fit_all(now, members, false, run);
        for (std::uint32_t k = 1; k < now.clusters; ++k) {
            if (fits[k - 1].dead) count_dead(members.of(k).size());
        }
        return evaluate(data(), fits, noise_cost(members.of(0).size(), now.clusters), run);
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
                model.mean[i] += data().noise.mean[i];
            all.push_back(std::move(model));
        }
        return all;
    }

    std::vector<std::vector<std::uint8_t>> split_candidates(const partition& now,
                                                            std::span<const std::uint8_t> start,
                                                            const execution& run) override {
        const member_lists members(now);
        std::vector<std::vector<std::uint8_t>> all(now.clusters);
        parallel::parallel_for(now.clusters - 1, run, "splits", [&](std::size_t c) {
            const member_list own = members.of(c + 1);
            std::vector<std::uint8_t> sides(own.size());
            for (std::size_t a = 0; a < own.size(); ++a) sides[a] = start[own[a]];
            all[c + 1] = split(own, std::move(sides), {.threads = 1, .stop = run.stop});
        });
        return all;
    }

    // A split changes the other clusters only through the denominator of all weights, which counts
    // one more cluster.
    double split_change(const partition& now, std::uint32_t cluster,
                        std::span<const std::uint8_t> sides) override {
        const execution alone{.threads = 1};
        std::vector<std::uint32_t> whole;
        for (std::uint32_t n = 0; n < now.labels.size(); ++n)
            if (now.labels[n] == cluster) whole.push_back(n);
        const halves parts(whole, sides);
        const double before = denominator(now.clusters);
        const double after = denominator(now.clusters + 1);
        const auto others = static_cast<double>(data().size() - whole.size());
        const auto own = [&](const std::vector<member_list>& clusters, double all) {
            const auto fits =
                fit_clusters(data(), clusters, {.options = &options(), .denominator = all}, alone);
            double score = 0;
            for (std::size_t k = 0; k < clusters.size(); ++k) {
                std::vector<double> costs(clusters[k].size());
                costs_in(data(), fits[k], clusters[k], costs);
                score += sum(costs) + penalty_of(clusters[k], static_cast<double>(data().size()));
            }
            return score;
        };
        return others * std::log(after / before) + own({parts.first, parts.second}, after) -
               own({whole}, before);
    }

private:
    std::vector<cluster_fit> fit_all(const partition& now, const member_lists& members, bool keep,
                                     const execution& run) const {
        std::vector<member_list> lists;
        lists.reserve(now.clusters);
        for (std::uint32_t k = 1; k < now.clusters; ++k) lists.push_back(members.of(k));
        return fit_clusters(data(), lists,
                            {.options = &options(),
                             .denominator = denominator(now.clusters),
                             .keep_covariance = keep},
                            run);
    }

    std::vector<std::uint8_t> split(member_list whole, std::vector<std::uint8_t> sides,
                                    const execution& run) const {
        const auto n = static_cast<double>(whole.size());
        const double p = options().prior_point;
        const auto one =
            fit_clusters(data(), {whole}, {.options = &options(), .denominator = n + p}, run);
        std::vector<double> to_first(whole.size());
        std::vector<double> to_second(whole.size());
        costs_in(data(), one[0], whole, to_first);
        halving now(*this, whole, std::move(sides), sum(to_first) + penalty_of(whole, n),
                    options().max_iterations);
        while (!now.over()) {
            const auto two = fit_clusters(data(), {now.parts().first, now.parts().second},
                                          {.options = &options(), .denominator = n + 2 * p}, run);
            costs_in(data(), two[0], whole, to_first);
            costs_in(data(), two[1], whole, to_second);
            now.take(to_first, to_second);
        }
        return std::move(now).answer();
    }
};

}  // namespace

std::unique_ptr<mixture> make_cpu(const spike_features& features, const masked_gmm_options& options,
                                  const execution& run) {
    return make_cpu(features, measure_space(features, run), options, run);
}

std::unique_ptr<mixture> make_cpu(const spike_features& features, const feature_space& space,
                                  const masked_gmm_options& options, const execution& run) {
    return std::make_unique<cpu_mixture>(features, space, options, run);
}

}  // namespace spikeweave::masked_gmm
