#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/record/feature_basis.hpp"
#include "spikeweave/sort/masked_gmm.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

struct assigned_spikes {
    /// Of each spike the model's unit that suits it best, 0 for noise.
    std::vector<std::uint32_t> labels{};
    /// -ln of the density there times the unit's weight, in nats, of features as the model scales
    /// them. On average more than the model's `cost()` for spikes that are not as those it knows.
    std::vector<double> costs{};
};

/// What a sorting says of spikes that are yet to come: how features are scaled, what their noise
/// is, and each unit's weight, mean and covariance. A value: copies share what never changes.
class sorting_model {
public:
    struct parts;

    /// Without units: everything is noise, and nothing can be assigned.
    sorting_model();
    explicit sorting_model(std::shared_ptr<const parts> what);

    std::size_t feature_count() const;
    /// The units' labels, ascending; never 0.
    const std::vector<std::uint32_t>& units() const;
    /// Spikes that it was fitted to.
    std::uint64_t spikes() const;
    /// Mean over these of what `assigned_spikes::costs` says.
    double cost() const;
    /// What its features stand for, where they were detected in a recording. Whoever assigns spikes
    /// of another recording has to detect them with it (`detection_options::basis`).
    const std::optional<feature_basis>& basis() const;
    /// The same model, which now says of which basis it is.
    /// @throws invalid_argument for one of another number of features.
    sorting_model with_basis(feature_basis basis) const;

    /// In time that follows the number of these spikes and of units alone. Values may lie outside
    /// of the range that the model knows.
    /// @throws invalid_argument for spikes of other features, or without a model; cancelled.
    assigned_spikes assign(const spike_features& features, const execution& run = {}) const;

    const parts& inside() const { return *parts_; }

private:
    std::shared_ptr<const parts> parts_;
};

/// The model of spikes whose units are known: one M-step, as `sort_spikes` does it.
/// @param labels  of each spike, in any numbers, which the model keeps; 0 is noise. Units whose
/// covariance cannot be inverted are left out.
/// @throws invalid_argument for labels of another number of spikes, else as `sort_spikes`.
sorting_model fit_model(const spike_features& features, const std::vector<std::uint32_t>& labels,
                        const masked_gmm_options& options = {}, const execution& run = {});

/// An `.npz`, which docs/formats.md describes. What is read assigns to the bit as what was written.
/// @throws io_error
void write_model(const std::filesystem::path& path, const sorting_model& model);
/// @throws io_error naming the file, the array, what was found and expected.
sorting_model read_model(const std::filesystem::path& path);

}  // namespace spikeweave
