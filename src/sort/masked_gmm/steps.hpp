#pragma once

// The steps that each strategy computes; masked_gmm.cpp combines them into a search.

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/sort/masked_gmm.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave::masked_gmm {

constexpr double infinity = std::numeric_limits<double>::infinity();

inline constexpr std::uint32_t no_cluster = std::numeric_limits<std::uint32_t>::max();
/// Replaces a variance of 0; features are scaled to [0, 1].
inline constexpr double least_variance = 1e-10;

/// Labels below `clusters`. Cluster 0 is noise; all others have spikes.
struct partition {
    std::vector<std::uint32_t> labels{};
    std::uint32_t clusters = 1;
};

/// The two clusters with the lowest cost for each spike; the cost is -ln(density * weight). If
/// there is no second one, it is `no_cluster` with infinite cost.
struct assignment {
    std::vector<std::uint32_t> best{};
    std::vector<std::uint32_t> second{};
    std::vector<double> best_cost{};
    std::vector<double> second_cost{};
};

/// The parameters of one cluster, for comparing strategies.
struct cluster_model {
    double weight = 0;
    std::vector<double> mean{};
    std::vector<std::uint32_t> block{};  ///< features with covariances, ascending
    std::vector<double> covariance{};    ///< covariance of the block, row by row
    std::vector<double> variance{};      ///< variance of every feature
};

/// Mean and variance of the noise of each feature, measured on masked features, in scaled units.
struct noise_model {
    std::vector<double> mean{};
    std::vector<double> variance{};
};

struct feature_space;
class split_starts;

/// The data of one call together with its options.
class mixture {
public:
    mixture() = default;
    virtual ~mixture() = default;
    mixture(const mixture&) = delete;
    mixture& operator=(const mixture&) = delete;

    virtual const noise_model& noise() const = 0;
    /// Runs the M-step and the E-step.
    virtual assignment assign(const partition& now, const execution& run) = 0;
    /// The models of clusters 1, 2, …
    virtual std::vector<cluster_model> models(const partition& now, const execution& run) = 0;
    virtual double penalty(const partition& now) const = 0;
    /// The decrease of the score if the spikes of a cluster go to their second-best clusters; minus
    /// infinity for noise and for clusters that cannot be deleted.
    /// @param clusters  of the partition that `found` comes from
    virtual std::vector<double> deletion_gains(const assignment& found, std::uint32_t clusters,
                                               const execution& run) const = 0;
    /// Splits each cluster by itself in two, starting from the given sides. @return for each
    /// cluster the sides (0, 1) of its members in their order; empty if two clusters are not better
    /// than one.
    virtual std::vector<std::vector<std::uint8_t>> split_candidates(
        const partition& now, std::span<const std::uint8_t> start, const execution& run) = 0;
    /// The change of the score of all spikes when side 1 of a cluster becomes a new cluster.
    virtual double split_change(const partition& now, std::uint32_t cluster,
                                std::span<const std::uint8_t> sides) = 0;
    /// Warnings about clusters and variances, as full sentences.
    virtual std::vector<std::string> warnings() const = 0;
};

/// @param only  in ascending order, the spikes of the mixture; scaling and noise are those of all
/// spikes. Empty: all spikes
std::unique_ptr<mixture> make_reference(const spike_features& features,
                                        const masked_gmm_options& options,
                                        std::span<const std::uint32_t> only = {});
std::unique_ptr<mixture> make_cpu(const spike_features& features, const masked_gmm_options& options,
                                  const execution& run);
/// The scaling and noise may come from these or from other spikes.
std::unique_ptr<mixture> make_cpu(const spike_features& features, const feature_space& space,
                                  const masked_gmm_options& options, const execution& run);
/// Uses the first of the devices. @throws device_error, always in a build without CUDA.
std::unique_ptr<mixture> make_cuda(const spike_features& features,
                                   const masked_gmm_options& options, const execution& run);
std::unique_ptr<mixture> make_cuda(const spike_features& features, const feature_space& space,
                                   const masked_gmm_options& options, const execution& run);

/// @throws invalid_argument if there are no spikes or an option is out of range.
void check(const spike_features& features, const masked_gmm_options& options);
/// Resolves `automatic`. @throws invalid_argument for options of another strategy.
sort_strategy resolve(const masked_gmm_options& options, const execution& run);
/// Makes any strategy but the reference.
std::unique_ptr<mixture> make(sort_strategy strategy, const spike_features& features,
                              const feature_space& space, const masked_gmm_options& options,
                              const execution& run);

/// Searches with the steps of a strategy. `sort_spikes` is the public function; this one is for
/// tests that choose the steps.
/// @param halves  with which splits start; if null, splits start at random
clustering_result search(mixture& steps, partition now, const masked_gmm_options& options,
                         const execution& run, const split_starts* halves = nullptr);

/// The partition with which the search starts.
/// @param most_clusters  as in `masked_gmm_options::starting_clusters`
partition start_by_masks(const spike_features& features, std::uint32_t most_clusters,
                         const execution& run = {});
partition start_from(std::vector<std::uint32_t> labels, std::size_t spikes);

}  // namespace spikeweave::masked_gmm
