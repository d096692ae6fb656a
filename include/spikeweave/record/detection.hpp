#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/record/feature_basis.hpp"
#include "spikeweave/record/preprocess.hpp"

namespace spikeweave {

/// Polarity of spikes.
enum class spike_sign : std::uint8_t { negative, positive, both };
template <>
SPIKEWEAVE_API enum_table<spike_sign> enum_names<spike_sign>();

struct detection_options {
    preprocessing_options preprocessing{};
    /// A spike is a connected set of samples beyond the weak threshold, at least one of them beyond
    /// the strong one, both in standard deviations of its channel's noise.
    double weak_threshold = 2;
    double strong_threshold = 4.5;
    spike_sign sign = spike_sign::negative;
    /// Channels of one shank are neighbours up to this distance, in micrometres. 0: 1.5 times the
    /// median distance of a channel to its nearest one.
    double neighbours = 0;
    /// Samples of neighbours are connected if they are at most this many frames apart.
    std::uint32_t join_frames = 1;
    /// A connected set ends after this long, and its continuation is a new set; such sets are
    /// counted. This limits memory when there are artefacts.
    duration longest = std::chrono::milliseconds{16};
    /// The part of the waveform around the peak that features are computed from.
    duration before = std::chrono::microseconds{500};
    duration after = std::chrono::microseconds{800};
    std::uint32_t features_per_channel = 3;
    /// Each spike is described on this many channels, those nearest to its peak, which limits the
    /// memory for recordings of many channels. 0: on all.
    std::uint32_t described_channels = 0;
    /// Maximum number of spikes, in 64 runs spread over the recording, used to compute the
    /// principal components.
    std::uint32_t component_spikes = 10000;
    /// The components of another recording, so that features can be compared with those of that
    /// recording. By default the components are computed from this recording.
    std::optional<feature_basis> basis{};
};

SPIKEWEAVE_API option_list describe(detection_options& options);

/// Detected but unsorted spikes, in the order of their peaks (then of channels), with the masks and
/// features for masked clustering: Rossant et al. 2016, doi:10.1038/nn.4268; Kadir, Goodman and
/// Harris 2014, doi:10.1162/NECO_a_00661.
struct SPIKEWEAVE_API detection_result {
    double rate_hz = 0;
    std::size_t channel_count = 0;
    std::size_t features_per_channel = 0;

    /// For each spike: the frame of its peak, the offset of the peak from that frame (in frames,
    /// -0.5 to 0.5), and the channel where it is largest.
    std::vector<std::int64_t> frames{};
    std::vector<float> fractions{};
    std::vector<std::uint32_t> peak_channels{};

    /// Masks, in compressed rows: spike n has entries `mask_offsets[n]` to `mask_offsets[n + 1]`,
    /// channels ascending, values in (0, 1]: the position of its peak between the weak and the
    /// strong threshold. All other channels have mask 0. Every spike has a mask of 1.
    /// Channels on which a spike is not described have no mask either.
    std::vector<std::size_t> mask_offsets{0};
    std::vector<std::uint32_t> mask_channels{};
    std::vector<float> masks{};

    /// The channels on which spikes with their peak on each channel are described, ascending, in
    /// lists of one length. Empty: on all channels.
    std::vector<std::vector<std::uint32_t>> described_channels{};
    /// Spike by spike, described channel by described channel, components fastest: the projections
    /// of the waveform in the traces' unit. Masked channels are included: the noise of the features
    /// is estimated from them.
    std::vector<float> features{};

    /// The basis of the features.
    feature_basis basis{};

    /// The noise of the traces, and the reference subtracted from them; never `automatic`.
    std::vector<double> noise{};
    common_reference reference = common_reference::none;
    /// Number of connected sets that were ended because they were too long.
    std::size_t cut = 0;
    /// Warnings for the user, as full sentences.
    std::vector<std::string> warnings{};
    /// As in `execution::devices`; none: the CPU.
    std::vector<int> ran_on_devices{};

    std::size_t size() const { return frames.size(); }
    std::size_t features_per_spike() const {
        return features_per_channel *
               (described_channels.empty() ? channel_count : described_channels.front().size());
    }
    std::span<const float> features_of(std::size_t spike) const {
        return std::span{features}.subspan(spike * features_per_spike(), features_per_spike());
    }
    /// The time of the interpolated peak, to the nearest microsecond.
    std::int64_t time_us(std::size_t spike) const;
};

/// Finds the spikes of a recording and describes them, on the CPU or on the devices of `run`:
/// results are bit-identical on all of them, for any number of threads. Reads the recording twice,
/// and parts of it for the noise and the components. Memory is the size of the result plus a few
/// blocks per thread; on each device about a gigabyte.
/// @throws invalid_argument if an option is out of range, or the basis is of a different kind of
/// recording (`check_same_space`); io_error; device_error; cancelled.
SPIKEWEAVE_API detection_result detect_spikes(const recording& from,
                                              const detection_options& options = {},
                                              const execution& run = {});

/// Lists faults of the rig that the samples of a recording show, as full sentences: the warnings of
/// `detect_spikes` before it detects, and whether it would refuse the samples. Reads up to 64
/// pieces of a quarter of a second. @throws io_error; cancelled.
SPIKEWEAVE_API std::vector<std::string> check_recording(const recording& from,
                                                        const detection_options& options = {},
                                                        const execution& run = {});

/// Where spikes are that were found by other means than `detect_spikes`.
struct known_spikes {
    std::span<const std::int64_t> frames{};          ///< ascending
    std::span<const float> fractions{};              ///< offset of the peak, -0.5 to 0.5 frames
    std::span<const std::uint32_t> peak_channels{};  ///< where each spike is largest
};

/// Describes spikes that are known already by masks and features, as `detect_spikes` does. A mask
/// is that of the highest sample within 0.25 ms; on the peak channel it is 1. Traces are filtered
/// on the devices of `run`, if it has any, with the same result.
/// @param options  as for the detection; with its basis
/// @throws invalid_argument if the options have no basis or one of another kind of recording, if
/// the lists differ in length, or if a spike is not in the recording; io_error; device_error;
/// cancelled.
SPIKEWEAVE_API detection_result describe_spikes(const recording& from, const known_spikes& spikes,
                                                const detection_options& options,
                                                const execution& run = {});

/// Pairs of channels that are neighbours, each list ascending, without the channel itself.
SPIKEWEAVE_API std::vector<std::vector<std::uint32_t>> neighbours_of(
    const std::vector<recording_channel>& channels, double neighbour_um = 0);

}  // namespace spikeweave
