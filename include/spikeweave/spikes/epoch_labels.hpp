#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/time.hpp"

/// Labels of epochs, such as the condition of each trial.
namespace spikeweave {

/// The label of the epoch that begins at a time; empty if that epoch has none.
struct epoch_label {
    duration begin{};
    std::string label{};

    friend bool operator==(const epoch_label&, const epoch_label&) = default;
};

/// The label of each epoch: the last one that begins no later, so that an epoch of which only a
/// part was recorded keeps its label. Nothing if there are no labels.
/// @param labels  in the order of their begins
SPIKEWEAVE_API std::vector<std::string> labels_of(std::span<const time_span> epochs,
                                                  std::span<const epoch_label> labels);

/// Reads epochs as `read_epochs` of spikes/epochs.hpp, and their labels.
/// @param column  the column of the labels. If empty, it is the first one named condition, label,
///        stimulus or trial_type; without a header, the third one, unless it begins with a number.
/// @param labels  receives one label per epoch; nothing if the file has no such column
/// @throws io_error also if the named column is missing, or an epoch has no label
SPIKEWEAVE_API std::vector<time_span> read_epochs(const std::filesystem::path& path,
                                                  const std::string& column,
                                                  std::vector<epoch_label>& labels,
                                                  const execution& run = {},
                                                  std::vector<std::string>* warnings = nullptr);

/// Reads the labels in a table of intervals of an NWB file, in the order of their begins: texts,
/// numbers, or lists of texts such as tags. Intervals whose begin is NaN are left out.
/// @param column  as for `read_epochs`; "tags" is tried last
/// @throws io_error if the named column is missing or does not have one label per interval
SPIKEWEAVE_API std::vector<epoch_label> read_nwb_labels(const std::filesystem::path& path,
                                                        const std::string& table,
                                                        const std::string& column,
                                                        const execution& run = {});

}  // namespace spikeweave
