#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/sort/masked_gmm.hpp"
#include "spikeweave/sort/sorting_model.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

struct incremental_options {
    /// How to fit. Its `start` must be empty.
    masked_gmm_options search{};
    /// Spikes to wait for before the first fit; until then all are noise. At least 1.
    std::size_t first = 1000;
    /// Spikes over which the running score is a mean, in the way of 1 - exp(-spikes / window); so
    /// many spikes pass between two fits at least. At least 1.
    std::size_t window = 500;
    /// Fit again when the running score is worse than that of the fit by more than this, in nats a
    /// spike. Above 0; infinity: never.
    double drift = 5;
    /// Fit again when there are this many times the spikes of the fit before. Above 1; infinity:
    /// never. Units that fire seldom are not known before.
    double growth = 2;
    /// Fit to the latest so many spikes only, and keep no more of them in memory; at least `first`.
    std::size_t most_kept = std::numeric_limits<std::size_t>::max();
};

enum class fit_reason : std::uint8_t { first, drift, growth, asked };
const char* to_string(fit_reason reason);

/// One fit of a sorting that goes on.
struct incremental_fit {
    std::uint64_t spikes = 0;  ///< that had come
    fit_reason reason = fit_reason::first;
    /// Of the spikes before the fit, against `before`: what the last fit expected. 0 at the first.
    double running_cost = 0;
    double cost_before = 0;
    /// Of the fit, and how many iterations it took.
    double cost = 0;
    std::size_t iterations = 0;
    std::size_t units = 0;
};

/// Sorts spikes as they come. Each is assigned to the unit of the model that suits it best, in time
/// that does not grow with the spikes before; how well the model suits them is watched, and when it
/// no longer does, it is fitted anew from the labels so far. Spikes in noise may then become units.
///
/// A unit keeps its number over fits as long as most of its spikes are of it before and after;
/// no number is used twice. The answer depends on the spikes and their order, not on how they are
/// cut into pieces (but for rounding, as costs are worked out together), nor on threads.
class incremental_sorter {
public:
    /// @throws invalid_argument for options that cannot be.
    explicit incremental_sorter(incremental_options options = {});
    /// Begins with a model of other spikes; noise and units are its. It is fitted anew as above, to
    /// the spikes that have come here.
    incremental_sorter(sorting_model model, incremental_options options);

    /// Sorts the next spikes. @return their labels as of now; a later fit may change them.
    /// @throws invalid_argument for other features than before, cancelled; then nothing is added,
    /// but for spikes up to a fit that had begun.
    std::vector<std::uint32_t> add(const spike_features& features, const execution& run = {});
    /// Fits to all spikes that are kept, now. Without any it does nothing.
    void fit(const execution& run = {});

    /// Of all spikes, as of now: 0 is noise.
    const std::vector<std::uint32_t>& labels() const { return labels_; }
    /// Of the spikes that came since the fit, the mean that fades over `window`; 0 without a model.
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
    // The latest spikes, which a fit is to.
    std::size_t feature_count_ = 0;
    std::vector<double> values_{};
    spike_masks masks_{};
};

}  // namespace spikeweave
