#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/record/mean_waveforms.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/sort/quality.hpp"
#include "spikeweave/sort/sorting.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

struct phy_content {
    const spike_features& features;
    const sorting& sorted;
    /// Their quality and labels. Unit u is at index u - 1.
    std::span<const sorted_unit> units{};
    /// Columns of `features` are channel * features_per_channel + component. If their number is not
    /// a multiple, each column counts as a channel.
    std::size_t features_per_channel = 3;
    /// Empty: on a line, 20 um apart.
    std::span<const recording_channel> channels{};
    /// One group for noise, then one per unit; empty: no templates.
    const mean_waveforms* waveforms = nullptr;
    /// A file of flat int16 samples of exactly these channels, and the position of the first one;
    /// empty: none.
    std::filesystem::path raw{};
    std::uint64_t raw_offset_bytes = 0;
};

/// The file that contains only the recording's samples as int16 after its header, with all channels
/// in order, so that Phy can show it. Else an empty path.
SPIKEWEAVE_API std::filesystem::path raw_samples_of(const recording& from);

/// Writes a new folder for Phy's template view, phylib and SpikeInterface; docs/formats.md
/// describes its files. Cluster and template u are unit u, and 0 is noise. Spikes are in time
/// order.
/// @throws io_error; invalid_argument unless `sorted.has_times()`, or if the parts are
/// inconsistent; cancelled.
SPIKEWEAVE_API void write_phy(const std::filesystem::path& folder, const phy_content& content,
                              const execution& run = {});

}  // namespace spikeweave
