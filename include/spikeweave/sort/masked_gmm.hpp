#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

enum class sort_strategy : std::uint8_t {
    automatic,
    reference,  ///< the formulas on dense matrices, one spike and one cluster at a time
    cpu,        ///< sparse, over threads
    cuda,       ///< sparse, on a GPU: the first of `execution::devices`
};
template <>
SPIKEWEAVE_API enum_table<sort_strategy> enum_names<sort_strategy>();
/// The strategies in this build, `automatic` first.
SPIKEWEAVE_API std::vector<sort_strategy> available_sort_strategies();

/// Precision of the costs of spikes in clusters; everything else is in double precision.
enum class sort_precision : std::uint8_t {
    full,  ///< double
    fast,  ///< single, on GPUs; spikes near a boundary are recomputed in double, and scores agree
           ///< to a relative 1e-5. Useful on GPUs that are slow in double precision
};
template <>
SPIKEWEAVE_API enum_table<sort_precision> enum_names<sort_precision>();

/// When to stop iterating.
enum class em_stop_rule : std::uint8_t {
    klustakwik2,  ///< when no spike moves and no split helps
    seed,         ///< Cai et al. 2020: when fewer than 5 % of spikes move or the score by less than
                  ///< 0.01, which is before convergence
};
template <>
SPIKEWEAVE_API enum_table<em_stop_rule> enum_names<em_stop_rule>();

/// The number of clusters deleted per iteration, among those whose parameters cost more than they
/// gain.
enum class cluster_deletions : std::uint8_t {
    none,
    one,  ///< the best one
    all,  ///< several, none of which hands spikes to another
};
template <>
SPIKEWEAVE_API enum_table<cluster_deletions> enum_names<cluster_deletions>();

/// The halves that a split begins with.
enum class split_halves : std::uint8_t {
    principal,  ///< the two sides of the mean along the direction of largest variance
    random,     ///< as in klustakwik2
};
template <>
SPIKEWEAVE_API enum_table<split_halves> enum_names<split_halves>();

/// The names and defaults are klustakwik2's unless stated otherwise.
struct masked_gmm_options {
    /// Number of clusters at the start, one per set of unmasked features; fewer if there are fewer
    /// such sets. 0: one per 200 spikes, at least 50 and at most 500 (Cai et al. 2020 do not give
    /// their formula).
    std::uint32_t starting_clusters = 500;
    /// Maximum number of units that splits may create.
    std::uint32_t max_clusters = 1000;
    std::uint32_t max_iterations = 1000;
    em_stop_rule stop = em_stop_rule::klustakwik2;
    /// A feature has covariances within a cluster if its masks there sum to at least this; above 0.
    /// Larger is coarser and faster; klustakwik2 uses 100, KlustaKwik 10.
    double points_for_cluster_mask = 50;
    /// The variance of a cluster's other features: exact, or that of the noise, as in klustakwik2.
    bool exact_variances = false;
    /// Number of prior spikes at the mean of the noise in every cluster, above 0.
    double prior_point = 1;
    /// The number of spikes added to the weight of the noise cluster, above 0.
    double noise_point = 1;
    /// A parameter costs 2 `penalty_k` (0.5 is Akaike's) + `penalty_k_log_n` (1 is Bayes') *
    /// ln(spikes) / 2.
    double penalty_k = 0;
    double penalty_k_log_n = 1;
    cluster_deletions deletions = cluster_deletions::one;
    bool splits = true;
    /// Iterations before the first attempt to split clusters, and between two.
    std::uint32_t split_first = 20;
    std::uint32_t split_every = 40;
    split_halves split_start = split_halves::principal;
    std::uint64_t seed = 0;  ///< of random halves
    /// Initial cluster of each spike; 0 means noise. Empty: clusters by masks.
    std::vector<std::uint32_t> start{};
    /// `automatic` is `cuda` if there are devices, `cpu` if not.
    sort_strategy strategy = sort_strategy::automatic;
    sort_precision precision = sort_precision::full;
};

SPIKEWEAVE_API option_list describe(masked_gmm_options& options);

struct masked_gmm_iteration {
    std::uint32_t clusters = 0;  ///< at the beginning of the iteration, without noise
    std::uint64_t changed = 0;   ///< spikes that moved
    std::uint32_t deleted = 0;   ///< clusters deleted
    std::uint32_t splits = 0;    ///< accepted after it
    /// -ln of the likelihood in which each spike is of its own cluster, on features scaled to
    /// [0, 1], and the penalty of the parameters.
    double negated_log_likelihood = 0;
    double penalty = 0;
    double score() const { return negated_log_likelihood + penalty; }
};

enum class stop_reason : std::uint8_t {
    converged,       ///< no spike moved, no split helped
    cycle,           ///< earlier labels recurred, and splitting did not escape the cycle
    max_iterations,  ///< not converged
    few_changed,     ///< `em_stop_rule::seed`: not converged
    score_steady,    ///< `em_stop_rule::seed`: not converged
    assigned,        ///< no iterations: spikes were assigned by a model
    by_channel,      ///< no iterations of all spikes: those of each channel were clustered alone
    matched,         ///< no iterations: spikes were found by templates of another recording
};
SPIKEWEAVE_API std::string_view to_string(stop_reason reason);

struct SPIKEWEAVE_API clustering_result {
    /// Label of each spike; 0 means noise, units are numbered from 1 without gaps.
    std::vector<std::uint32_t> labels{};
    std::uint32_t units = 0;
    std::vector<masked_gmm_iteration> iterations{};
    stop_reason stopped = stop_reason::converged;
    sort_strategy ran_on = sort_strategy::automatic;
    /// Warnings, as full sentences.
    std::vector<std::string> warnings{};

    /// The score of the last iteration; lower is better.
    double score() const { return iterations.empty() ? 0 : iterations.back().score(); }
    /// The score of Cai et al. 2020, equation (12): 2 score - ln(spikes).
    double seed_score() const;
};

/// Finds units as a mixture of Gaussians in which a masked feature counts as noise: it has the mean
/// and variance of all spikes that are masked there. Features are scaled to [0, 1]; a noise cluster
/// is uniform on that cube. Clusters are deleted if the penalty of their parameters outweighs the
/// loss, and split if that improves the score.
///
/// The result depends on the spikes, the options and the seed, not on threads. On a GPU sums are
/// made in a different order than on the CPU: scores agree to 1e-6, and labels agree unless a spike
/// fits two clusters equally well.
/// @throws invalid_argument if there are no spikes, an option is out of range, or there is more
/// than one device; device_error; cancelled.
///
/// Kadir, Goodman, Harris 2014, doi:10.1162/NECO_a_00661. docs/algorithms/masked-gmm.md lists the
/// differences from klustakwik2.
SPIKEWEAVE_API clustering_result sort_spikes(const spike_features& features,
                                             const masked_gmm_options& options = {},
                                             const execution& run = {});

}  // namespace spikeweave
