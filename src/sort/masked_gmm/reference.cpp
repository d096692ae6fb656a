#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/stop.hpp"
#include "sort/masked_gmm/steps.hpp"

// Implements the formulas directly, on dense vectors and matrices with plain loops. It is slow and
// shares no code with the other strategies, which are tested against it.
namespace spikeweave::masked_gmm {
namespace {

using vector = std::vector<double>;

struct matrix {
    std::size_t size = 0;
    vector values{};

    explicit matrix(std::size_t n) : size(n), values(n * n) {}
    double& at(std::size_t i, std::size_t j) { return values[i * size + j]; }
    double at(std::size_t i, std::size_t j) const { return values[i * size + j]; }
};

// Returns the lower triangle L with L L' = m, or nullopt unless m is positive definite.
std::optional<matrix> cholesky(const matrix& m) {
    matrix l(m.size);
    for (std::size_t j = 0; j < m.size; ++j) {
        for (std::size_t i = j; i < m.size; ++i) {
            double sum = m.at(i, j);
            for (std::size_t k = 0; k < j; ++k) sum -= l.at(i, k) * l.at(j, k);
            if (i == j && !(sum > 0)) return {};
            l.at(i, j) = i == j ? std::sqrt(sum) : sum / l.at(j, j);
        }
    }
    return l;
}

vector solved(const matrix& l, vector b) {
    for (std::size_t i = 0; i < l.size; ++i) {
        for (std::size_t k = 0; k < i; ++k) b[i] -= l.at(i, k) * b[k];
        b[i] /= l.at(i, i);
    }
    return b;
}

double squared(const vector& v) {
    double sum = 0;
    for (const double x : v) sum += x * x;
    return sum;
}

struct spike {
    vector mask;
    vector y;
    vector eta;
    double cost = 0;  // of its parameters, for the penalty
};

struct gaussian {
    double weight = 0;
    vector mean{};
    std::vector<bool> in_block{};
    std::optional<matrix> covariance{};  // all features; 0 if one of the two is outside the block
    std::optional<matrix> root{};
    vector inverse_diagonal{};
};

using members_t = std::vector<const spike*>;

class dense_mixture final : public mixture {
public:
    dense_mixture(const spike_features& features, masked_gmm_options options,
                  std::span<const std::uint32_t> only)
        : features_(features.feature_count()), options_(std::move(options)) {
        if (features.is_local())
            throw invalid_argument("the reference takes features that are known on all channels");
        const std::vector<vector> scaled = scale(features);
        std::vector<vector> masks(features.size(), vector(features_));
        for (std::size_t n = 0; n < features.size(); ++n) features.write_masks(n, masks[n]);
        for (std::size_t i = 0; i < features_; ++i) add_noise(scaled, masks, i);
        for (std::size_t n = 0; n < features.size(); ++n)
            if (only.empty() || std::find(only.begin(), only.end(), n) != only.end())
                spikes_.push_back(virtual_spike(scaled[n], masks[n]));
    }

    const noise_model& noise() const override { return noise_; }

    assignment assign(const partition& now, const execution& run) override {
        stop_ = run.stop;
        const std::vector<gaussian> clusters = fit_all(now);
        assignment found;
        for (const spike& one : spikes_) {
            core::throw_if_stopped(stop_);
            double best = -std::log(noise_weight(now));
            double second = infinity;
            std::uint32_t best_at = 0;
            std::uint32_t second_at = no_cluster;
            for (std::uint32_t k = 1; k < now.clusters; ++k) {
                const double cost = cost_of(one, clusters[k]);
                if (cost < best) {
                    second = std::exchange(best, cost);
                    second_at = std::exchange(best_at, k);
                } else if (cost < second) {
                    second = cost;
                    second_at = k;
                }
            }
            found.best.push_back(best_at);
            found.second.push_back(second_at);
            found.best_cost.push_back(best);
            found.second_cost.push_back(second);
        }
        return found;
    }

    std::vector<cluster_model> models(const partition& now, const execution& run) override {
        stop_ = run.stop;
        std::vector<cluster_model> all;
        const std::vector<gaussian> clusters = fit_all(now);
        for (std::uint32_t k = 1; k < now.clusters; ++k) {
            const gaussian& g = clusters[k];
            cluster_model model{.weight = g.weight, .mean = g.mean};
            for (std::uint32_t i = 0; i < features_; ++i) {
                if (g.in_block[i]) model.block.push_back(i);
                model.variance.push_back(g.covariance->at(i, i));
            }
            for (const std::uint32_t i : model.block)
                for (const std::uint32_t j : model.block)
                    model.covariance.push_back(g.covariance->at(i, j));
            all.push_back(std::move(model));
        }
        return all;
    }

    double penalty(const partition& now) const override {
        double sum = 0;
        for (std::uint32_t k = 0; k < now.clusters; ++k)
            sum += penalty_of(members(now, k), spikes_.size());
        return sum;
    }

    std::vector<double> deletion_gains(const assignment& found, std::uint32_t clusters,
                                       const execution&) const override {
        const partition now{found.best, clusters};
        const double before = penalty(now);
        std::vector<double> gains(clusters, -infinity);
        for (std::uint32_t k = 1; k < clusters; ++k) {
            partition without = now;
            double loss = 0;
            bool possible = true;
            for (std::size_t n = 0; n < spikes_.size(); ++n) {
                if (now.labels[n] != k) continue;
                possible = possible && found.second[n] != no_cluster;
                if (!possible) break;
                without.labels[n] = found.second[n];
                loss += found.second_cost[n] - found.best_cost[n];
            }
            if (possible) gains[k] = before - penalty(without) - loss;
        }
        return gains;
    }

    std::vector<std::vector<std::uint8_t>> split_candidates(const partition& now,
                                                            std::span<const std::uint8_t> start,
                                                            const execution& run) override {
        stop_ = run.stop;
        std::vector<std::vector<std::uint8_t>> all(now.clusters);
        for (std::uint32_t k = 1; k < now.clusters; ++k) {
            std::vector<std::uint8_t> sides;
            for (std::size_t n = 0; n < spikes_.size(); ++n)
                if (now.labels[n] == k) sides.push_back(start[n]);
            all[k] = split(members(now, k), std::move(sides));
        }
        return all;
    }

    double split_change(const partition& now, std::uint32_t cluster,
                        std::span<const std::uint8_t> sides) override {
        partition after{now.labels, now.clusters + 1};
        std::size_t member = 0;
        for (std::size_t n = 0; n < spikes_.size(); ++n)
            if (now.labels[n] == cluster && sides[member++] == 1) after.labels[n] = now.clusters;
        return own_score(after) - own_score(now);
    }

    std::vector<std::string> warnings() const override { return {}; }

private:
    std::vector<vector> scale(const spike_features& features) const {
        std::vector<vector> scaled(features.size(), vector(features_));
        for (std::size_t i = 0; i < features_; ++i) {
            double low = infinity;
            double high = -infinity;
            for (std::size_t n = 0; n < features.size(); ++n) {
                low = std::min(low, features.values(n)[i]);
                high = std::max(high, features.values(n)[i]);
            }
            const double range = high > low ? high - low : 1;
            for (std::size_t n = 0; n < features.size(); ++n)
                scaled[n][i] = (features.values(n)[i] - low) / range;
        }
        return scaled;
    }

    // Measures the noise of a feature on the spikes in which it is masked. If these are fewer than
    // 4 and fewer than a tenth, the tenth of spikes with the lowest masks is used.
    void add_noise(const std::vector<vector>& scaled, const std::vector<vector>& masks,
                   std::size_t i) {
        vector sorted;
        for (const vector& mask : masks) sorted.push_back(mask[i]);
        std::sort(sorted.begin(), sorted.end());
        const double most = sorted[(sorted.size() + 9) / 10 - 1];
        std::size_t masked = 0;
        while (masked < sorted.size() && sorted[masked] == 0) ++masked;
        const bool enough = masked >= 4 || 10 * masked >= sorted.size();
        const double limit = enough ? 0 : most;
        double mean = 0;
        double count = 0;
        for (std::size_t n = 0; n < masks.size(); ++n) {
            if (masks[n][i] > limit) continue;
            mean += scaled[n][i];
            ++count;
        }
        mean /= count;
        double variance = 0;
        for (std::size_t n = 0; n < masks.size(); ++n)
            if (masks[n][i] <= limit) variance += std::pow(scaled[n][i] - mean, 2);
        noise_.mean.push_back(mean);
        noise_.variance.push_back(std::max(variance / count, least_variance));
    }

    spike virtual_spike(const vector& f, const vector& mask) const {
        spike one{.mask = mask, .y = f, .eta = f};
        double r = 0;
        for (std::size_t i = 0; i < features_; ++i) {
            const double m = mask[i];
            const double nu = noise_.mean[i];
            one.y[i] = m * f[i] + (1 - m) * nu;
            one.eta[i] = m * (1 - m) * std::pow(f[i] - nu, 2) + (1 - m) * noise_.variance[i];
            r += m;
        }
        one.cost = r * (r + 1) / 2 + r + 1;
        return one;
    }

    members_t members(const partition& now, std::uint32_t cluster) const {
        members_t list;
        for (std::size_t n = 0; n < spikes_.size(); ++n)
            if (now.labels[n] == cluster) list.push_back(&spikes_[n]);
        return list;
    }

    double denominator(const partition& now) const {
        return static_cast<double>(spikes_.size()) +
               options_.prior_point * static_cast<double>(now.clusters - 1) + options_.noise_point;
    }

    double noise_weight(const partition& now) const {
        return (static_cast<double>(members(now, 0).size()) + options_.noise_point) /
               denominator(now);
    }

    std::vector<gaussian> fit_all(const partition& now) const {
        std::vector<gaussian> clusters(1);
        for (std::uint32_t k = 1; k < now.clusters; ++k)
            clusters.push_back(fit(members(now, k), denominator(now)));
        return clusters;
    }

    gaussian fit(const members_t& of, double all) const {
        const double p = options_.prior_point;
        const auto n = static_cast<double>(of.size());
        gaussian g{.weight = (n + p) / all, .mean = vector(features_)};
        for (std::size_t i = 0; i < features_; ++i) {
            double sum = p * noise_.mean[i];
            double masks = 0;
            for (const spike* one : of) sum += one->y[i];
            for (const spike* one : of) masks += one->mask[i];
            g.mean[i] = sum / (n + p);
            g.in_block.push_back(masks >= options_.points_for_cluster_mask);
        }
        matrix m(features_);
        for (std::size_t i = 0; i < features_; ++i) {
            core::throw_if_stopped(stop_);
            for (std::size_t j = 0; j < features_; ++j) {
                if (!g.in_block[i] || !g.in_block[j]) continue;
                double sum = 0;
                for (const spike* one : of)
                    sum += (one->y[i] - g.mean[i]) * (one->y[j] - g.mean[j]);
                m.at(i, j) = sum / (n + p - 1);
            }
            double own = p * noise_.variance[i];
            for (const spike* one : of)
                own += g.in_block[i] || options_.exact_variances ? one->eta[i] : noise_.variance[i];
            if (!g.in_block[i] && options_.exact_variances)
                for (const spike* one : of) own += std::pow(one->y[i] - g.mean[i], 2);
            m.at(i, i) += own / (n + p - 1);
        }
        g.root = cholesky(m);
        if (!g.root) {
            for (std::size_t i = 0; i < features_; ++i)
                m.at(i, i) += 10 * p * noise_.variance[i] / (n + p - 1);
            g.root = cholesky(m);
        }
        g.covariance = std::move(m);
        for (std::size_t i = 0; g.root && i < features_; ++i) {
            vector unit(features_);
            unit[i] = 1;
            g.inverse_diagonal.push_back(squared(solved(*g.root, unit)));
        }
        return g;
    }

    double cost_of(const spike& one, const gaussian& g) const {
        if (!g.root) return infinity;
        vector residual(features_);
        double eta = 0;
        double log_root_determinant = 0;
        for (std::size_t i = 0; i < features_; ++i) {
            residual[i] = one.y[i] - g.mean[i];
            eta += one.eta[i] * g.inverse_diagonal[i];
            log_root_determinant += std::log(g.root->at(i, i));
        }
        return (squared(solved(*g.root, residual)) + eta) / 2 + log_root_determinant -
               std::log(g.weight) +
               static_cast<double>(features_) / 2 * std::log(2 * std::numbers::pi);
    }

    double penalty_of(const members_t& of, std::size_t all) const {
        if (of.empty()) return 0;
        double sum = 0;
        for (const spike* one : of) sum += one->cost;
        return sum / static_cast<double>(of.size()) *
               (2 * options_.penalty_k +
                options_.penalty_k_log_n * std::log(static_cast<double>(all)) / 2);
    }

    // Scores each spike in its own cluster, whether or not that is the best one.
    double own_score(const partition& now) const {
        const std::vector<gaussian> clusters = fit_all(now);
        double sum = penalty(now);
        for (std::size_t n = 0; n < spikes_.size(); ++n)
            sum += now.labels[n] == 0 ? -std::log(noise_weight(now))
                                      : cost_of(spikes_[n], clusters[now.labels[n]]);
        return sum;
    }

    members_t side(const members_t& of, const std::vector<std::uint8_t>& sides,
                   std::uint8_t which) const {
        members_t list;
        for (std::size_t a = 0; a < of.size(); ++a)
            if (sides[a] == which) list.push_back(of[a]);
        return list;
    }

    std::vector<std::uint8_t> split(const members_t& of, std::vector<std::uint8_t> sides) const {
        const auto n = static_cast<double>(of.size());
        const double p = options_.prior_point;
        double unsplit = penalty_of(of, of.size());
        const gaussian one = fit(of, n + p);
        for (const spike* member : of) unsplit += cost_of(*member, one);

        std::set<std::string> seen;
        double score = infinity;
        for (std::uint32_t round = 0; round < options_.max_iterations; ++round) {
            if (side(of, sides, 0).empty() || side(of, sides, 1).empty()) return {};
            const gaussian first = fit(side(of, sides, 0), n + 2 * p);
            const gaussian second = fit(side(of, sides, 1), n + 2 * p);
            std::vector<std::uint8_t> next;
            score = 0;
            for (const spike* member : of) {
                const double to_first = cost_of(*member, first);
                const double to_second = cost_of(*member, second);
                next.push_back(to_second < to_first ? 1 : 0);
                score += std::min(to_first, to_second);
            }
            score +=
                penalty_of(side(of, next, 0), of.size()) + penalty_of(side(of, next, 1), of.size());
            const bool changed = next != sides;
            sides = std::move(next);
            if (!changed || !seen.emplace(sides.begin(), sides.end()).second) break;
        }
        if (side(of, sides, 0).empty() || side(of, sides, 1).empty()) return {};
        return score < unsplit ? sides : std::vector<std::uint8_t>{};
    }

    std::size_t features_;
    masked_gmm_options options_;
    std::stop_token stop_{};  // of the current call
    noise_model noise_;
    std::vector<spike> spikes_;
};

}  // namespace

std::unique_ptr<mixture> make_reference(const spike_features& features,
                                        const masked_gmm_options& options,
                                        std::span<const std::uint32_t> only) {
    return std::make_unique<dense_mixture>(features, options, only);
}

}  // namespace spikeweave::masked_gmm
