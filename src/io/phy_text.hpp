#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/core/time.hpp"

namespace spikeweave::io {

/// The conversion of the samples of a Phy folder to times.
struct phy_clock {
    double sample_rate = 0;  ///< in Hz
    /// The time of the first sample, which only `spikeweave sort` writes: `t_start`, in seconds.
    duration begin{};
};

/// Reads the clock from a `params.py`. The file is Python, but in practice has lines NAME = VALUE.
/// @throws io_error if there is no sample rate.
phy_clock read_phy_clock(const std::filesystem::path& path);

/// A column of a table of clusters, such as their groups, from a side file of a Phy folder.
struct cluster_column {
    std::map<std::int64_t, std::string> cells{};  ///< by cluster; empty cells are left out
    std::filesystem::path file{};                 ///< empty if no file has the column
    /// Warnings about entries that were not understood and are not used, as full sentences: side
    /// files have been written by many programs, and none of them is needed to read spikes.
    std::vector<std::string> warnings{};

    /// Warns that a cell is not used, because something else was expected.
    void distrust(std::int64_t cluster, std::string_view expected);
};

/// Reads the labels of clusters, such as good, mua, noise or unsorted: those of a person in
/// `cluster_group.tsv`, else of the sorter in `cluster_KSLabel.tsv`. Also in a `.csv`, and in other
/// tables with a column `group`, `KSLabel` or `label`.
cluster_column read_phy_labels(const std::filesystem::path& folder);

/// Reads a column of the clusters from the first `cluster_*.tsv` or `.csv` of a folder that has it.
cluster_column read_phy_column(const std::filesystem::path& folder, std::string_view name);

}  // namespace spikeweave::io
