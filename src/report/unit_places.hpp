#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/run_json.hpp"

namespace spikeweave::report {

/// Where units are on the probe, if their spikes are the `spikes.npz` of a result of `sort`: the
/// mean position of the channels around the peak of each one, weighted by the squares of the
/// heights of its waveform there.
/// @return columns `x_um` and `y_um`, null for a unit without a waveform; null if nothing is known
json unit_places(const std::filesystem::path& spikes, const std::vector<std::string>& names);

}  // namespace spikeweave::report
