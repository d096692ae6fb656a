#include "sort/masked_gmm/cluster_fit.hpp"

#include <algorithm>

#include "parallel/parallel_for.hpp"

// A spike differs from noise in its few unmasked features only. The quadratic form of a cluster,
// expanded around the noise mean, is linear in the spike's deltas, their squares and their
// products. So the costs of all spikes of a group in all clusters are one matrix product of these
// terms with coefficients gathered from each cluster. Work grows with the square of the number of
// unmasked features and does not depend on the number of channels.
namespace spikeweave::masked_gmm {
namespace {

using row_matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Largest number of terms, such that they fit into the second-level cache.
constexpr std::size_t most_numbers = std::size_t{1} << 17;
constexpr std::size_t most_spikes = 256;
constexpr std::size_t fewest_spikes = 16;
constexpr std::size_t clusters_at_once = 32;
// If more than this cancels, rounding errors of the costs could affect a score, so the costs are
// computed from residuals.
constexpr double too_much_cancels = 1e6;

std::size_t term_count(std::size_t features) {
    return 1 + 2 * features + features * (features - 1) / 2;
}

struct task {
    const spike_group* group = nullptr;
    member_list spikes{};
};

std::vector<task> tasks_of(const std::vector<spike_group>& groups) {
    std::vector<task> all;
    for (const spike_group& group : groups) {
        const std::size_t size =
            std::clamp(most_numbers / term_count(group.columns.size()), fewest_spikes, most_spikes);
        const member_list spikes = group.spikes;
        for (std::size_t at = 0; at < spikes.size(); at += size)
            all.push_back({&group, spikes.subspan(at, std::min(size, spikes.size() - at))});
    }
    return all;
}

// The terms of each spike: 1, the deltas, their squares plus eta, their products.
row_matrix terms_of(const sparse_data& data, const task& what) {
    const std::vector<std::uint32_t>& columns = what.group->columns;
    const std::size_t v = columns.size();
    row_matrix terms(static_cast<Eigen::Index>(what.spikes.size()),
                     static_cast<Eigen::Index>(term_count(v)));
    std::vector<double> delta(v);
    for (std::size_t s = 0; s < what.spikes.size(); ++s) {
        const std::uint32_t n = what.spikes[s];
        double* const row = terms.row(static_cast<Eigen::Index>(s)).data();
        double* const squares = row + 1 + v;
        std::fill(delta.begin(), delta.end(), 0.0);
        std::fill_n(squares, v, 0.0);
        const auto own = data.columns(n);
        std::size_t at = 0;
        for (std::size_t a = 0; a < own.size(); ++a) {
            while (columns[at] != own[a]) ++at;
            delta[at] = data.deltas(n)[a];
            squares[at] = delta[at] * delta[at] + data.etas(n)[a];
        }
        row[0] = 1;
        std::copy(delta.begin(), delta.end(), row + 1);
        double* product = squares + v;
        for (std::size_t i = 0; i < v; ++i)
            for (std::size_t j = i + 1; j < v; ++j) *product++ = delta[i] * delta[j];
    }
    return terms;
}

void gather(const cluster_fit& fit, const std::vector<std::uint32_t>& columns, double* into) {
    const std::size_t v = columns.size();
    *into++ = fit.plain + fit.at_noise / 2;
    for (std::size_t i = 0; i < v; ++i) *into++ = -fit.inverse_times_mean[columns[i]];
    for (std::size_t i = 0; i < v; ++i) *into++ = fit.inverse_diagonal[columns[i]] / 2;
    for (std::size_t i = 0; i < v; ++i) {
        const std::int32_t row = fit.block_index[columns[i]];
        if (row < 0) {
            std::fill_n(into, v - i - 1, 0.0);
            into += v - i - 1;
            continue;
        }
        const double* const inverse = fit.inverse.col(row).data();
        for (std::size_t j = i + 1; j < v; ++j) {
            const std::int32_t at = fit.block_index[columns[j]];
            *into++ = at < 0 ? 0 : inverse[at];
        }
    }
}

void offer(assignment& found, std::uint32_t spike, std::uint32_t cluster, double cost) {
    if (cost < found.best_cost[spike]) {
        found.second[spike] = found.best[spike];
        found.second_cost[spike] = found.best_cost[spike];
        found.best[spike] = cluster;
        found.best_cost[spike] = cost;
    } else if (cost < found.second_cost[spike]) {
        found.second[spike] = cluster;
        found.second_cost[spike] = cost;
    }
}

// Recomputes costs that rounding errors may have made inaccurate.
void refine(const sparse_data& data, const std::vector<cluster_fit>& fits, member_list spikes,
            assignment& found) {
    const auto again = [&](const std::uint32_t& spike, std::uint32_t cluster, double& cost) {
        if (cluster == 0 || cluster == no_cluster) return;
        const cluster_fit& fit = fits[cluster - 1];
        if (fit.cancelling > too_much_cancels) costs_in(data, fit, {&spike, 1}, {&cost, 1});
    };
    for (const std::uint32_t& n : spikes) {
        again(n, found.best[n], found.best_cost[n]);
        again(n, found.second[n], found.second_cost[n]);
        if (found.second_cost[n] < found.best_cost[n]) {
            std::swap(found.second[n], found.best[n]);
            std::swap(found.second_cost[n], found.best_cost[n]);
        }
    }
}

void evaluate_task(const sparse_data& data, const std::vector<cluster_fit>& fits, const task& what,
                   assignment& found) {
    const row_matrix terms = terms_of(data, what);
    Eigen::MatrixXd coefficients(terms.cols(), clusters_at_once);
    Eigen::MatrixXd costs;
    for (std::size_t begin = 0; begin < fits.size(); begin += clusters_at_once) {
        const std::size_t count = std::min(clusters_at_once, fits.size() - begin);
        for (std::size_t k = 0; k < count; ++k) {
            const cluster_fit& fit = fits[begin + k];
            double* const column = coefficients.col(static_cast<Eigen::Index>(k)).data();
            if (fit.dead) {
                std::fill_n(column, terms.cols(), 0.0);
            } else {
                gather(fit, what.group->columns, column);
            }
        }
        costs.noalias() = terms * coefficients.leftCols(static_cast<Eigen::Index>(count));
        for (std::size_t k = 0; k < count; ++k) {
            if (fits[begin + k].dead) continue;
            for (std::size_t s = 0; s < what.spikes.size(); ++s)
                offer(found, what.spikes[s], static_cast<std::uint32_t>(begin + k) + 1,
                      costs(static_cast<Eigen::Index>(s), static_cast<Eigen::Index>(k)));
        }
    }
    refine(data, fits, what.spikes, found);
}

}  // namespace

assignment evaluate(const sparse_data& data, const std::vector<cluster_fit>& fits,
                    double noise_cost, const execution& run) {
    const std::size_t n = data.size();
    assignment found{
        .best = std::vector<std::uint32_t>(n),
        .second = std::vector<std::uint32_t>(n, no_cluster),
        .best_cost = std::vector<double>(n, noise_cost),
        .second_cost = std::vector<double>(n, std::numeric_limits<double>::infinity())};
    const std::vector<task> tasks = tasks_of(data.groups);
    parallel::parallel_for(tasks.size(), run, "densities",
                           [&](std::size_t t) { evaluate_task(data, fits, tasks[t], found); });
    return found;
}

}  // namespace spikeweave::masked_gmm
