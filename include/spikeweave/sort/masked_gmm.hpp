#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

enum class sort_strategy : std::uint8_t {
    automatic,
    reference,  ///< the formulas on dense matrices, one spike and one cluster at a time
    cpu,        ///< sparse, over threads
    cuda,       ///< sparse, on a GPU: the first of `execution::devices`
};
std::string_view to_string(sort_strategy strategy);
sort_strategy sort_strategy_from(std::string_view name);  ///< @throws invalid_argument
/// Those that this was built with, `automatic` first.
std::vector<sort_strategy> available_sort_strategies();

/// Of the costs of spikes in clusters; everything else is in double precision.
enum class sort_precision : std::uint8_t {
    full,  ///< double
    fast,  ///< single, on GPUs: what is near a boundary is worked out again in double; scores agree
           ///< to 1e-5 of themselves. Pays on GPUs that are slow in double precision
};
std::string_view to_string(sort_precision precision);
sort_precision sort_precision_from(std::string_view name);  ///< @throws invalid_argument

/// When to stop iterating.
enum class stop_rule : std::uint8_t {
    klustakwik2,  ///< when no spike moves and no split helps
    seed,         ///< Cai et al. 2020: when fewer than 5 % of spikes move or the score by less than
                  ///< 0.01, which is before convergence
};
std::string_view to_string(stop_rule rule);
stop_rule stop_rule_from(std::string_view name);  ///< @throws invalid_argument

/// The names and defaults are klustakwik2's unless it says otherwise.
struct masked_gmm_options {
    /// Units to begin with, one a set of unmasked features; fewer when there are fewer such sets.
    /// 0: so many that follow the spikes, one in 200, at least 50 and at most 500 (Cai et al. 2020
    /// have them follow, without a number).
    std::uint32_t starting_clusters = 500;
    /// Splits make no more units than this.
    std::uint32_t max_clusters = 1000;
    std::uint32_t max_iterations = 1000;
    stop_rule stop = stop_rule::klustakwik2;
    /// A feature has covariances within a cluster whose masks add up to this there; at least one
    /// spike's. Larger is coarser and faster; klustakwik2 has 100, KlustaKwik 10.
    double points_for_cluster_mask = 50;
    /// The variance of a cluster's other features: exact, or the noise's, as klustakwik2 has it.
    bool exact_variances = false;
    /// Spikes at the noise's mean that every cluster has beforehand, above 0.
    double prior_point = 1;
    /// The same of the noise cluster's weight, above 0.
    double noise_point = 1;
    /// A parameter costs 2 `penalty_k` (0.5 is Akaike's) + `penalty_k_log_n` (1 is Bayes') *
    /// ln(spikes) / 2.
    double penalty_k = 0;
    double penalty_k_log_n = 1;
    bool delete_clusters = true;
    /// Give up all clusters that do not depend on each other in one iteration, not one.
    bool delete_many = false;
    bool split_clusters = true;
    /// Iterations before the first attempt to split clusters, and between two.
    std::uint32_t split_first = 20;
    std::uint32_t split_every = 40;
    /// Splits begin with random halves, as klustakwik2's do, not with those on either side of the
    /// mean in the direction of largest variance.
    bool random_splits = false;
    std::uint64_t seed = 0;  ///< of these halves
    /// Clusters to begin with, one a spike: 0 is noise. Empty: by masks.
    std::vector<std::uint32_t> start{};
    /// `automatic` is `cuda` if there are devices, `cpu` if not.
    sort_strategy strategy = sort_strategy::automatic;
    sort_precision precision = sort_precision::full;
};

struct masked_gmm_iteration {
    std::uint32_t clusters = 0;  ///< that the iteration began with, without noise
    std::uint64_t changed = 0;   ///< spikes that moved
    std::uint32_t deleted = 0;   ///< clusters given up
    std::uint32_t splits = 0;    ///< accepted after it
    /// -ln of the likelihood in which each spike is of its own cluster, on features scaled to
    /// [0, 1], and the penalty of the parameters.
    double negated_log_likelihood = 0;
    double penalty = 0;
    double score() const { return negated_log_likelihood + penalty; }
};

enum class stop_reason : std::uint8_t {
    converged,       ///< no spike moved, no split helped
    cycle,           ///< labels came back, and splitting did not lead out
    max_iterations,  ///< not converged
    few_changed,     ///< `stop_rule::seed`: not converged
    score_steady,    ///< `stop_rule::seed`: not converged
    assigned,        ///< there was nothing to iterate: a model told what spikes are
};
std::string_view to_string(stop_reason reason);

struct clustered_spikes {
    /// Of each spike: 0 is noise, then units from 1 without gaps.
    std::vector<std::uint32_t> labels{};
    std::uint32_t units = 0;
    std::vector<masked_gmm_iteration> iterations{};
    stop_reason stopped = stop_reason::converged;
    sort_strategy ran_on = sort_strategy::automatic;
    /// Whole sentences.
    std::vector<std::string> warnings{};

    /// The last iteration's, of which less is better.
    double score() const { return iterations.empty() ? 0 : iterations.back().score(); }
    /// As Cai et al. 2020 have it in equation (12): 2 score - ln(spikes).
    double seed_score() const;
};

/// Finds units as a mixture of Gaussians in which a masked feature counts as noise: it has the mean
/// and variance of all spikes that are masked there. Features are scaled to [0, 1]; a noise cluster
/// is uniform on that cube. Clusters whose loss is outweighed by their parameters are given up, and
/// split where that helps.
///
/// The answer depends on the spikes, the options and the seed, not on threads. On a GPU sums have
/// another order than on the CPU: scores agree to 1e-6, and labels unless a spike suits
/// two clusters just as well.
/// @throws invalid_argument for no spikes, options that cannot be, or more than one device;
/// device_error; cancelled.
///
/// Kadir, Goodman, Harris 2014, doi:10.1162/NECO_a_00661. docs/algorithms/masked-gmm.md says what
/// is taken from klustakwik2 and what not.
clustered_spikes sort_spikes(const spike_features& features, const masked_gmm_options& options = {},
                             const execution& run = {});

}  // namespace spikeweave
