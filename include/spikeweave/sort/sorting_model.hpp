#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/record/feature_basis.hpp"
#include "spikeweave/sort/masked_gmm.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

struct assignment_result {
    /// The best-matching unit of the model for each spike; 0 means noise.
    std::vector<std::uint32_t> labels{};
    /// -ln of the density times the unit's weight, in nats, for features as scaled by the model. On
    /// average larger than the model's `cost()` for spikes unlike those it was fitted to.
    std::vector<double> costs{};
};

/// A model for sorting later spikes: the scaling of features, their noise, and each unit's weight,
/// mean and covariance. A value type: copies share immutable data.
class SPIKEWEAVE_API sorting_model {
public:
    struct SPIKEWEAVE_LOCAL parts;

    /// An empty model without units; it cannot assign spikes.
    sorting_model();
    explicit sorting_model(std::shared_ptr<const parts> what);

    std::size_t feature_count() const;
    /// The units' labels, ascending; never 0.
    const std::vector<std::uint32_t>& units() const;
    /// Number of spikes it was fitted to.
    std::uint64_t spikes() const;
    /// Mean of `assignment_result::costs` over these spikes.
    double cost() const;
    /// The basis of its features, if they were detected in a recording. To assign spikes of another
    /// recording, detect them with this basis (`detection_options::basis`).
    const std::optional<feature_basis>& basis() const;
    /// The same model with this basis.
    /// @throws invalid_argument if the number of features differs.
    sorting_model with_basis(feature_basis basis) const;

    /// Assigns spikes, in time proportional to the number of these spikes and of units. Values may
    /// lie outside the range of the model.
    /// @throws invalid_argument if the features do not match, or the model is empty; cancelled.
    assignment_result assign(const spike_features& features, const execution& run = {}) const;

    /// For the library: `parts` is not part of the interface.
    const parts& internals() const { return *parts_; }

private:
    std::shared_ptr<const parts> parts_;
};

/// The model of spikes whose units are known: one M-step, as `sort_spikes` does it.
/// @param labels the label of each spike, any numbers, which the model keeps; 0 is noise. Units
/// whose covariance cannot be inverted are omitted.
/// @throws invalid_argument if the number of labels differs from that of spikes, else as
/// `sort_spikes`.
SPIKEWEAVE_API sorting_model fit_model(const spike_features& features,
                                       const std::vector<std::uint32_t>& labels,
                                       const masked_gmm_options& options = {},
                                       const execution& run = {});

/// Writes an `.npz`, described in docs/formats.md. A model read back gives bit-identical
/// assignments.
/// @throws io_error
SPIKEWEAVE_API void write_model(const std::filesystem::path& path, const sorting_model& model);

class template_set;

/// The file of a model, or of templates, that is complete on disk, but has its name only after
/// `commit`, for results that appear together with it.
class SPIKEWEAVE_API model_file {
public:
    /// Writes it under a temporary name, which is removed unless it is committed.
    /// @param overwrite  false: a file of that name, even one that appears meanwhile, is an error
    /// @throws as `write_model`
    model_file(const std::filesystem::path& path, const sorting_model& model, bool overwrite);
    model_file(const std::filesystem::path& path, const template_set& set, bool overwrite);
    ~model_file();
    model_file(const model_file&) = delete;
    model_file& operator=(const model_file&) = delete;

    /// @throws io_error
    void commit();

private:
    struct state;
    std::unique_ptr<state> state_;
};

/// @throws io_error naming the file, the array, what was found and expected.
SPIKEWEAVE_API sorting_model read_model(const std::filesystem::path& path);

}  // namespace spikeweave
