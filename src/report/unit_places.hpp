#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/run_json.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::report {

/// The positions that the spikes have; or those on the probe, if the spikes are a result of `sort`
/// or its `spikes.npz`: the mean position of the channels around the peak of each unit, weighted by
/// the squares of the heights of its waveform there. Units without one are missing.
unit_places places_of(const spike_sequence& spikes, const std::filesystem::path& path);

/// As columns `x_um` and `y_um`, null for a unit without a position; null if there are none.
json columns_of(const unit_places& places, const std::vector<std::string>& names);

/// Reads them from the `places` of the data of a page; none if it has none.
/// @throws json::exception if they are damaged.
unit_places places_in(const json& page, const std::vector<std::string>& names);

}  // namespace spikeweave::report
