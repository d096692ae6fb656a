#include "sort/masked_gmm/cluster_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "parallel/parallel_for.hpp"

namespace spikeweave::masked_gmm {
namespace {

// Sums are added up in pieces of this size, in order. The size is part of their definition.
constexpr std::size_t piece_spikes = 2048;
constexpr std::size_t batch_spikes = 128;

struct piece {
    std::size_t cluster = 0;
    member_list spikes{};
};

std::vector<piece> pieces_of(const std::vector<member_list>& clusters) {
    std::vector<piece> all;
    for (std::size_t k = 0; k < clusters.size(); ++k) {
        for (std::size_t at = 0; at < clusters[k].size(); at += piece_spikes)
            all.push_back(
                {k, clusters[k].subspan(at, std::min(piece_spikes, clusters[k].size() - at))});
    }
    return all;
}

struct sums {
    std::vector<double> delta{};
    std::vector<double> mask{};
    std::vector<double> eta{};
    std::vector<double> squares{};  // squares of the deltas

    explicit sums(std::size_t features)
        : delta(features), mask(features), eta(features), squares(features) {}
    void add(const sums& other) {
        for (std::size_t i = 0; i < delta.size(); ++i) {
            delta[i] += other.delta[i];
            squares[i] += other.squares[i];
            mask[i] += other.mask[i];
            eta[i] += other.eta[i];
        }
    }
};

sums sums_of(const sparse_data& data, member_list spikes) {
    sums out(data.feature_count());
    for (const std::uint32_t n : spikes) {
        const auto columns = data.columns(n);
        const auto masks = data.masks(n);
        const auto deltas = data.deltas(n);
        const auto etas = data.etas(n);
        for (std::size_t a = 0; a < columns.size(); ++a) {
            out.delta[columns[a]] += deltas[a];
            out.squares[columns[a]] += deltas[a] * deltas[a];
            out.mask[columns[a]] += masks[a];
            out.eta[columns[a]] += etas[a];
        }
    }
    return out;
}

// Fills one column per spike with its residual from the mean on the block's features.
void fill_residuals(const sparse_data& data, const cluster_fit& fit, member_list spikes,
                    Eigen::MatrixXd& residuals) {
    const auto u = static_cast<Eigen::Index>(fit.block.size());
    residuals.resize(u, static_cast<Eigen::Index>(spikes.size()));
    Eigen::VectorXd masked(u);
    for (Eigen::Index b = 0; b < u; ++b)
        masked[b] = -fit.mean[fit.block[static_cast<std::size_t>(b)]];
    for (std::size_t s = 0; s < spikes.size(); ++s) {
        auto column = residuals.col(static_cast<Eigen::Index>(s));
        column = masked;
        const auto columns = data.columns(spikes[s]);
        const auto deltas = data.deltas(spikes[s]);
        for (std::size_t a = 0; a < columns.size(); ++a)
            if (const std::int32_t at = fit.block_index[columns[a]]; at >= 0)
                column[at] += deltas[a];
    }
}

Eigen::MatrixXd scatter_of(const sparse_data& data, const cluster_fit& fit, member_list spikes) {
    const auto u = static_cast<Eigen::Index>(fit.block.size());
    Eigen::MatrixXd scatter = Eigen::MatrixXd::Zero(u, u);
    Eigen::MatrixXd residuals;
    for (std::size_t at = 0; at < spikes.size() && u > 0; at += batch_spikes) {
        fill_residuals(data, fit, spikes.subspan(at, std::min(batch_spikes, spikes.size() - at)),
                       residuals);
        scatter.selfadjointView<Eigen::Lower>().rankUpdate(residuals);
    }
    return scatter;
}

void set_means(const sparse_data& data, const sums& total, double spikes,
               const masked_gmm_options& options, cluster_fit& fit) {
    fit.mean.resize(data.feature_count());
    fit.block_index.assign(data.feature_count(), -1);
    for (std::uint32_t i = 0; i < data.feature_count(); ++i) {
        fit.mean[i] = total.delta[i] / (spikes + options.prior_point);
        if (total.mask[i] < options.points_for_cluster_mask) continue;
        fit.block_index[i] = static_cast<std::int32_t>(fit.block.size());
        fit.block.push_back(i);
    }
}

bool set_block(const Eigen::MatrixXd& covariance, cluster_fit& fit, double& log_determinant) {
    const Eigen::LLT<Eigen::MatrixXd> root(covariance);
    if (root.info() != Eigen::Success) return false;
    const Eigen::Index u = covariance.rows();
    fit.root_inverse = root.matrixL().solve(Eigen::MatrixXd::Identity(u, u));
    fit.inverse = fit.root_inverse.transpose() * fit.root_inverse;
    for (Eigen::Index b = 0; b < u; ++b) log_determinant += 2 * std::log(root.matrixLLT()(b, b));
    return true;
}

void set_inverse(const sparse_data& data, const std::vector<double>& variance, cluster_fit& fit) {
    const std::size_t features = data.feature_count();
    fit.inverse_diagonal.resize(features);
    for (std::size_t i = 0; i < features; ++i) {
        const std::int32_t at = fit.block_index[i];
        fit.inverse_diagonal[i] = at >= 0 ? fit.inverse(at, at) : 1 / variance[i];
        fit.plain += fit.inverse_diagonal[i] * data.noise.variance[i] / 2;
    }
    write_out_around_noise(fit);
}

// @param scatter  lower triangle of the sum of squared residuals in the block
void finish(const sparse_data& data, const sums& total, double spikes, const fit_rules& rules,
            Eigen::MatrixXd scatter, cluster_fit& fit) {
    const double p = rules.options->prior_point;
    const double divisor = spikes + p - 1;
    const auto& noise = data.noise.variance;
    const auto diagonal = [&](std::size_t b) -> double& {
        return scatter(static_cast<Eigen::Index>(b), static_cast<Eigen::Index>(b));
    };
    for (std::size_t b = 0; b < fit.block.size(); ++b) {
        const std::uint32_t i = fit.block[b];
        diagonal(b) += total.eta[i] + (spikes + p) * noise[i];
    }
    scatter /= divisor;
    fit.weight = (spikes + p) / rules.denominator;
    double log_determinant = 0;
    std::vector<double> variance(data.feature_count());
    for (std::size_t i = 0; i < variance.size(); ++i) {
        variance[i] = noise[i] * (spikes + p) / divisor;
        if (rules.options->exact_variances)
            // The mean is the deltas' sum / (spikes + p).
            variance[i] +=
                (total.eta[i] + total.squares[i] - fit.mean[i] * fit.mean[i] * (spikes + 2 * p)) /
                divisor;
        if (fit.block_index[i] < 0) log_determinant += std::log(variance[i]);
    }
    if (!set_block(scatter, fit, log_determinant)) {
        // Makes up for rounding errors by adding a larger multiple of the noise's variance than the
        // prior has.
        constexpr double more = 10;
        for (std::size_t b = 0; b < fit.block.size(); ++b)
            diagonal(b) += more * p * noise[fit.block[b]] / divisor;
        if (!set_block(scatter, fit, log_determinant)) {
            fit.dead = true;
            return;
        }
    }
    fit.plain = log_determinant / 2 - std::log(fit.weight) +
                static_cast<double>(data.feature_count()) / 2 * std::log(2 * std::numbers::pi);
    set_inverse(data, variance, fit);
    if (!rules.keep_covariance) return;
    fit.covariance = scatter.selfadjointView<Eigen::Lower>();
    fit.variance = std::move(variance);
    for (std::size_t b = 0; b < fit.block.size(); ++b) fit.variance[fit.block[b]] = diagonal(b);
}

}  // namespace

void write_out_around_noise(cluster_fit& fit) {
    const std::size_t features = fit.mean.size();
    fit.inverse_times_mean.resize(features);
    Eigen::VectorXd block_mean(static_cast<Eigen::Index>(fit.block.size()));
    for (std::size_t b = 0; b < fit.block.size(); ++b)
        block_mean[static_cast<Eigen::Index>(b)] = fit.mean[fit.block[b]];
    const Eigen::VectorXd product = fit.inverse * block_mean;
    fit.cancelling = 0;
    fit.at_noise_outside = 0;
    for (std::size_t i = 0; i < features; ++i) {
        const std::int32_t at = fit.block_index[i];
        fit.inverse_times_mean[i] = at >= 0 ? product[at] : fit.mean[i] * fit.inverse_diagonal[i];
        fit.cancelling += fit.inverse_diagonal[i] * fit.mean[i] * fit.mean[i];
        if (at < 0) fit.at_noise_outside += fit.mean[i] * fit.inverse_times_mean[i];
    }
    fit.at_noise = fit.at_noise_outside + (fit.root_inverse * block_mean).squaredNorm();
}

std::vector<cluster_fit> fit_clusters(const sparse_data& data,
                                      const std::vector<member_list>& clusters,
                                      const fit_rules& rules, const execution& run) {
    const std::vector<piece> pieces = pieces_of(clusters);
    std::vector<cluster_fit> fits(clusters.size());
    std::vector<sums> partial(pieces.size(), sums(0));
    parallel::parallel_for(pieces.size(), run, "means",
                           [&](std::size_t c) { partial[c] = sums_of(data, pieces[c].spikes); });
    std::vector<sums> total(clusters.size(), sums(data.feature_count()));
    for (std::size_t c = 0; c < pieces.size(); ++c) total[pieces[c].cluster].add(partial[c]);
    partial.clear();
    for (std::size_t k = 0; k < fits.size(); ++k)
        set_means(data, total[k], static_cast<double>(clusters[k].size()), *rules.options, fits[k]);

    std::vector<Eigen::MatrixXd> scatters(pieces.size());
    parallel::parallel_for(pieces.size(), run, "covariances", [&](std::size_t c) {
        scatters[c] = scatter_of(data, fits[pieces[c].cluster], pieces[c].spikes);
    });
    std::vector<std::size_t> first(clusters.size());
    for (std::size_t c = pieces.size(); c > 0; --c) first[pieces[c - 1].cluster] = c - 1;
    parallel::parallel_for(fits.size(), run, "covariances", [&](std::size_t k) {
        Eigen::MatrixXd scatter = std::move(scatters[first[k]]);
        for (std::size_t c = first[k] + 1; c < pieces.size() && pieces[c].cluster == k; ++c)
            scatter += scatters[c];
        finish(data, total[k], static_cast<double>(clusters[k].size()), rules, std::move(scatter),
               fits[k]);
    });
    return fits;
}

void costs_in(const sparse_data& data, const cluster_fit& fit, member_list spikes,
              std::span<double> costs) {
    if (fit.dead) {
        std::fill(costs.begin(), costs.end(), std::numeric_limits<double>::infinity());
        return;
    }
    Eigen::MatrixXd residuals;
    for (std::size_t begin = 0; begin < spikes.size(); begin += batch_spikes) {
        const auto batch = spikes.subspan(begin, std::min(batch_spikes, spikes.size() - begin));
        fill_residuals(data, fit, batch, residuals);
        if (!fit.block.empty())  // Eigen 3.4 divides by the size of the triangle
            residuals = fit.root_inverse.triangularView<Eigen::Lower>() * residuals;
        for (std::size_t s = 0; s < batch.size(); ++s) {
            const auto columns = data.columns(batch[s]);
            const auto deltas = data.deltas(batch[s]);
            const auto etas = data.etas(batch[s]);
            double sum =
                residuals.col(static_cast<Eigen::Index>(s)).squaredNorm() + fit.at_noise_outside;
            for (std::size_t a = 0; a < columns.size(); ++a) {
                const std::uint32_t i = columns[a];
                sum += etas[a] * fit.inverse_diagonal[i];
                if (fit.block_index[i] < 0)
                    sum += deltas[a] * (deltas[a] - 2 * fit.mean[i]) * fit.inverse_diagonal[i];
            }
            costs[begin + s] = fit.plain + sum / 2;
        }
    }
}

}  // namespace spikeweave::masked_gmm
