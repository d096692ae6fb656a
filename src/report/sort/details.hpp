#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "spikeweave/report/sort.hpp"

namespace spikeweave::report {

/// The views of a sorting besides its tables; `waveforms.npz` contains them.
struct sorting_details {
    std::uint32_t unit_count = 0;
    std::int64_t sample_count = 0;  ///< length of the recording; 0 if unknown

    /// Positions of the channels; empty if they are not known.
    std::vector<double> x_um{};
    std::vector<double> y_um{};
    std::vector<std::uint32_t> shanks{};

    /// The channels around the peak of each unit, units x `channels_per_unit`; empty without
    /// waveforms, as are the next ones.
    std::vector<std::uint32_t> channels{};
    std::size_t channels_per_unit = 0;
    std::size_t frames = 0;
    std::size_t before = 0;  ///< the frame of the peak
    /// Units x frames x channels around the peak.
    std::vector<float> mean{};
    std::vector<float> deviation{};
    std::vector<std::uint64_t> averaged{};  ///< spikes of each unit
    /// Half of the recording x units x frames x channels, and half x units; empty in older files.
    std::vector<float> halves{};
    std::vector<std::uint64_t> averaged_of_halves{};

    /// Of each spike in the order of `sorting.npz`. Amplitudes are in microvolts if spikes were
    /// found by templates, else norms of features as in `phy/amplitudes.npy`.
    std::vector<float> amplitudes{};
    bool in_microvolts = false;
    /// Empty without positions.
    std::vector<float> depths_um{};
};

/// The sources of the details.
struct sorting_source {
    const sorting& sorted;
    const std::vector<recording_channel>& channels;
    const mean_waveforms& waveforms;
    /// Null: there are no amplitudes and depths.
    const spike_features* features = nullptr;
    std::size_t features_per_channel = 1;
    /// Relative to the templates; empty without them.
    const std::vector<float>& amplitudes;
};

sorting_details details_of(const sorting_source& from);

void write_details(const std::filesystem::path& path, const sorting_details& details);
/// @throws io_error
sorting_details read_details(const std::filesystem::path& path);

/// Whether waveforms and positions have the numbers of units and channels that they should have.
bool fit_together(const sorting_details& details);

}  // namespace spikeweave::report
