#pragma once

// What each strategy computes; masked_gmm.cpp makes a search of it.

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
/// What stands in for a variance that is 0: features are scaled to [0, 1].
inline constexpr double least_variance = 1e-10;

/// Labels below `clusters`; cluster 0 is noise, of the others none is empty.
struct partition {
    std::vector<std::uint32_t> labels{};
    std::uint32_t clusters = 1;
};

/// The two clusters that suit each spike best, and -ln of its density there times their weight.
/// Without a second one it is `no_cluster` at infinity.
struct assignment {
    std::vector<std::uint32_t> best{};
    std::vector<std::uint32_t> second{};
    std::vector<double> best_cost{};
    std::vector<double> second_cost{};
};

/// One cluster's parameters, for comparing strategies.
struct cluster_model {
    double weight = 0;
    std::vector<double> mean{};
    std::vector<std::uint32_t> block{};  ///< features with covariances, ascending
    std::vector<double> covariance{};    ///< of the block, rows one after another
    std::vector<double> variance{};      ///< of every feature
};

/// Noise as the masked features see it, feature by feature, in scaled units.
struct noise_model {
    std::vector<double> mean{};
    std::vector<double> variance{};
};

struct feature_space;
class split_starts;

/// The data of one call with the rules of its options.
class mixture {
public:
    mixture() = default;
    virtual ~mixture() = default;
    mixture(const mixture&) = delete;
    mixture& operator=(const mixture&) = delete;
    mixture(mixture&&) = delete;
    mixture& operator=(mixture&&) = delete;

    virtual const noise_model& noise() const = 0;
    /// M-step and E-step.
    virtual assignment assign(const partition& now, const execution& run) = 0;
    /// Those of clusters 1, 2, …
    virtual std::vector<cluster_model> models(const partition& now, const execution& run) = 0;
    virtual double penalty(const partition& now) const = 0;
    /// Decrease of the score if the spikes of a cluster go to their second-best ones; minus
    /// infinity for noise and for clusters that cannot be deleted.
    /// @param clusters  of the partition that `found` comes from
    virtual std::vector<double> deletion_gains(const assignment& found, std::uint32_t clusters,
                                               const execution& run) const = 0;
    /// Each cluster by itself as two, starting from the sides. @return for each cluster its
    /// members' sides (0, 1) in their order; nothing where two are not better than one.
    virtual std::vector<std::vector<std::uint8_t>> split_candidates(
        const partition& now, std::span<const std::uint8_t> start, const execution& run) = 0;
    /// By how much the score of all spikes rises when side 1 of a cluster becomes a new one.
    virtual double split_change(const partition& now, std::uint32_t cluster,
                                std::span<const std::uint8_t> sides) = 0;
    /// What happened to clusters and variances, in whole sentences.
    virtual std::vector<std::string> warnings() const = 0;
};

/// @param only  ascending: the mixture is of these spikes, in scaling and noise of all; none: of
/// all
std::unique_ptr<mixture> make_reference(const spike_features& features,
                                        const masked_gmm_options& options,
                                        std::span<const std::uint32_t> only = {});
std::unique_ptr<mixture> make_cpu(const spike_features& features, const masked_gmm_options& options,
                                  const execution& run);
/// In scaling and noise of these or other spikes.
std::unique_ptr<mixture> make_cpu(const spike_features& features, const feature_space& space,
                                  const masked_gmm_options& options, const execution& run);
/// On the first of the devices. @throws device_error, also where this was built without CUDA.
std::unique_ptr<mixture> make_cuda(const spike_features& features,
                                   const masked_gmm_options& options, const execution& run);
std::unique_ptr<mixture> make_cuda(const spike_features& features, const feature_space& space,
                                   const masked_gmm_options& options, const execution& run);

/// @throws invalid_argument if there are no spikes or an option is out of range.
void check(const spike_features& features, const masked_gmm_options& options, const execution& run);
/// What `automatic` is. @throws invalid_argument for options that another strategy has.
sort_strategy resolve(const masked_gmm_options& options, const execution& run);
/// Any but the reference.
std::unique_ptr<mixture> make(sort_strategy strategy, const spike_features& features,
                              const feature_space& space, const masked_gmm_options& options,
                              const execution& run);

/// What a search does with a strategy. Public in `sort_spikes`; here for tests that want the steps.
/// @param halves  with which splits begin; without them, at random
clustering_result search(mixture& steps, partition now, const masked_gmm_options& options,
                         const execution& run, const split_starts* halves = nullptr);

/// The partition to begin with.
/// @param most_clusters  as in `masked_gmm_options::starting_clusters`
partition start_by_masks(const spike_features& features, std::uint32_t most_clusters,
                         const execution& run = {});
partition start_from(std::vector<std::uint32_t> labels, std::size_t spikes);

}  // namespace spikeweave::masked_gmm
