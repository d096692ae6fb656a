#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace spikeweave::io {

/// Reads the sample rate from a `params.py`. The file is Python, but in practice has lines NAME =
/// VALUE.
/// @throws io_error if there is none.
double read_phy_sample_rate(const std::filesystem::path& path);

/// Reads the group of each cluster from a `cluster_group.tsv`, such as good, mua, noise or
/// unsorted; empty if there is no such file.
/// @throws io_error naming the line.
std::map<std::int64_t, std::string> read_phy_groups(const std::filesystem::path& path);

/// Reads a column of numbers of the clusters from the first `cluster_*.tsv` of a folder that has
/// it, by cluster; clusters without a number are left out. Empty if no file has the column.
/// @throws io_error naming the line.
std::map<std::int64_t, double> read_phy_column(const std::filesystem::path& folder,
                                               std::string_view name);

}  // namespace spikeweave::io
