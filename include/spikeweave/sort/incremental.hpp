#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/sort/masked_gmm.hpp"
#include "spikeweave/sort/sorting_model.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

struct incremental_options {
    /// The options of a fit. Their `start` must be empty.
    masked_gmm_options search{};
    /// Spikes to wait for before the first fit; until then all are noise. At least 1.
    std::size_t first_fit = 1000;
    /// Spikes over which the running score is a mean, weighted as 1 - exp(-spikes / window); also
    /// the minimum number of spikes between two fits. At least 1.
    std::size_t window = 500;
    /// Refit if the running score is worse than that of the fit by more than this, in nats per
    /// spike. Above 0; infinity: never.
    double refit_above = 5;
    /// Refit when there are this many times the spikes of the last fit, to find units that rarely
    /// fire. Above 1; infinity: never.
    double growth = 2;
    /// Fit only to this many of the latest spikes, and keep no more in memory; at least
    /// `first_fit`.
    std::size_t most_kept = std::numeric_limits<std::size_t>::max();
};

enum class fit_reason : std::uint8_t { first, drift, growth, asked };
SPIKEWEAVE_API const char* to_string(fit_reason reason);

/// One fit of an incremental sorting.
struct incremental_fit {
    std::uint64_t spikes = 0;  ///< received so far
    fit_reason reason = fit_reason::first;
    /// The running cost of the spikes before the fit, to compare with `before`, which the last fit
    /// expected. 0 at the first.
    double running_cost = 0;
    double cost_before = 0;
    /// The cost of the fit, and the number of its iterations.
    double cost = 0;
    std::size_t iterations = 0;
    std::size_t units = 0;
};

/// Sorts spikes incrementally. Each is assigned to the best-matching unit of the model, in time
/// that does not grow with the number of earlier spikes. The fit of the model is monitored; if it
/// becomes poor, the model is refitted from the current labels. Spikes in noise may then become
/// units.
///
/// A unit keeps its number over fits as long as most of its spikes belong to it before and after;
/// numbers are not reused. The result depends on the spikes and their order, not on how they are
/// divided into pieces (except for rounding, because costs are computed together), nor on threads.
class SPIKEWEAVE_API incremental_sorter {
public:
    /// @throws invalid_argument if an option is out of range.
    explicit incremental_sorter(incremental_options options = {});
    /// Begins with a model of other spikes, including its noise and units. It is refitted as above,
    /// to the spikes received here.
    incremental_sorter(sorting_model model, incremental_options options);

    /// Sorts the next spikes. @return their labels as of now; a later fit may change them.
    /// @throws invalid_argument if the features differ from earlier ones, cancelled; nothing is
    /// then added, except spikes up to a fit that had begun.
    std::vector<std::uint32_t> add(const spike_features& features, const execution& run = {});
    /// Refits to all stored spikes now. Does nothing if there are none.
    void fit(const execution& run = {});

    /// Current labels of all spikes; 0 is noise.
    const std::vector<std::uint32_t>& labels() const { return labels_; }
    /// Running mean over the spikes since the last fit, with the decay of `window`; 0 without a
    /// model.
    double running_cost() const { return running_cost_; }
    const sorting_model& model() const { return model_; }
    const std::vector<incremental_fit>& fits() const { return fits_; }

private:
    std::size_t kept() const { return masks_.size(); }
    bool has_model() const { return model_.feature_count() > 0; }
    void keep(const spike_features& features, std::size_t begin, std::size_t end);
    std::size_t add_some(const spike_features& features, std::size_t begin, const execution& run);
    std::size_t add_unfitted(const spike_features& features, std::size_t begin,
                             const execution& run);
    void fit_for(fit_reason reason, const execution& run);
    void forget_oldest();

    incremental_options options_;
    sorting_model model_;
    std::vector<incremental_fit> fits_{};
    std::vector<std::uint32_t> labels_{};
    std::uint32_t next_label_ = 1;
    double running_cost_ = 0;
    std::uint64_t since_fit_ = 0;
    // The latest spikes, which the next fit uses.
    std::size_t feature_count_ = 0;
    std::vector<double> values_{};
    spike_masks masks_{};
};

}  // namespace spikeweave
