#pragma once

#include <vector>

#include "bindings/core/arrays.hpp"
#include "spikeweave/pipeline/sort.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave::python {

/// Returns columns with a row for each unit.
nb::dict unit_columns(const sort_result& data);
spike_masks masks_of(const matrix_in<double>& rows);
/// Returns features and masks as matrices of spikes × features.
nb::dict dense_arrays(const spike_features& features);

/// Pickles and copies keep what `write_phy` needs of a result, as arrays.
nb::dict state_of(const sort_result& data);
sort_result data_of(const nb::dict& state);

}  // namespace spikeweave::python
