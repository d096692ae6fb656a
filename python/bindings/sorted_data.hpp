#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "spikeweave/record/mean_waveforms.hpp"
#include "spikeweave/report/sorting.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave::python {

/// What a sorting was made of and came to: enough to write Phy's folder of it later.
struct sorted_data {
    spike_features features{};
    sorting sorted{};
    clustering_result search{};
    std::vector<sorted_unit> units{};
    mean_waveforms waveforms{};
    std::vector<recording_channel> channels{};
    std::size_t features_per_channel = 3;
    std::filesystem::path raw{};
    std::vector<std::string> warnings{};
    /// What the detection left out of `automatic`, and where it ran.
    common_reference reference = common_reference::automatic;
    std::vector<int> devices{};
};

/// A row a unit.
nb::dict unit_columns(const sorted_data& data);
/// Features and masks as matrices of spikes × features.
nb::dict dense_arrays(const spike_features& features);
spike_masks masks_of(const matrix_in<double>& rows);
std::vector<double> doubles(const matrix_in<double>& values);

/// What `write_phy` needs, as arrays, and back: for pickles and copies.
nb::dict state_of(const sorted_data& data);
sorted_data data_of(const nb::dict& state);

}  // namespace spikeweave::python
