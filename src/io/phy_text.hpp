#pragma once

#include <cstdint>
#include <filesystem>
#include <set>

namespace spikeweave::io {

/// The sample rate of a `params.py`, which is Python, but in practice lines of NAME = VALUE.
/// @throws io_error when there is none.
double read_phy_sample_rate(const std::filesystem::path& path);

/// Clusters that a `cluster_group.tsv` labels noise; empty if there is no such file.
/// @throws io_error naming the line.
std::set<std::int64_t> read_phy_noise(const std::filesystem::path& path);

}  // namespace spikeweave::io
