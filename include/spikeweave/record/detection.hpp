#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/record/feature_basis.hpp"
#include "spikeweave/record/preprocess.hpp"

namespace spikeweave {

/// Which way spikes point.
enum class spike_sign : std::uint8_t { negative, positive, both };
std::string_view to_string(spike_sign sign);
spike_sign spike_sign_from(std::string_view name);  ///< @throws invalid_argument

struct detection_options {
    preprocessing_options preprocessing{};
    /// A spike is a connected set of samples beyond `weak`, one of them beyond `strong`, both in
    /// standard deviations of its channel's noise.
    double weak = 2;
    double strong = 4.5;
    spike_sign sign = spike_sign::negative;
    /// Channels of one shank are neighbours up to this distance. 0: up to one and a half times the
    /// distance that half of the channels have to their nearest one.
    double neighbour_um = 0;
    /// Samples of neighbours are connected when they are at most so many frames apart.
    std::uint32_t join_frames = 1;
    /// A connected set is closed after this long, and what goes on is another one; such sets are
    /// counted. Bounds the memory in the face of artefacts.
    duration longest = std::chrono::milliseconds{16};
    /// The waveform that features are made of, around the peak.
    duration before = std::chrono::microseconds{500};
    duration after = std::chrono::microseconds{800};
    std::uint32_t features_per_channel = 3;
    /// At most so many spikes, in 64 runs spread over the recording, decide on the principal
    /// components.
    std::uint32_t component_spikes = 10000;
    /// The components of another recording, so that features can be compared with those there.
    /// Without it components are this recording's own.
    std::optional<feature_basis> basis{};
};

/// Spikes that nobody has assigned to neurons yet, in the order of their peaks (then of channels),
/// with what masked clustering needs: Rossant et al. 2016, doi:10.1038/nn.4268; Kadir, Goodman and
/// Harris 2014, doi:10.1162/NECO_a_00661.
struct detected_spikes {
    double rate_hz = 0;
    std::size_t channel_count = 0;
    std::size_t features_per_channel = 0;

    /// Of each spike: the frame of its peak, how far from that frame's time the peak is (in frames,
    /// -0.5 to 0.5), and the channel where it is largest.
    std::vector<std::int64_t> frames{};
    std::vector<float> fractions{};
    std::vector<std::uint32_t> peak_channels{};

    /// Masks, in compressed rows: spike n has entries `mask_offsets[n]` to `mask_offsets[n + 1]`,
    /// channels ascending, values in (0, 1]: how far its peak there has come from the weak
    /// threshold to the strong one. All other channels have mask 0. No spike is without a mask
    /// of 1.
    std::vector<std::size_t> mask_offsets{0};
    std::vector<std::uint32_t> mask_channels{};
    std::vector<float> masks{};

    /// Dense, spike by spike, channel by channel, components fastest: the projections of the
    /// waveform in the traces' unit. Masked channels have theirs, too: the noise of the features is
    /// estimated from these.
    std::vector<float> features{};

    /// What they were projected on.
    feature_basis basis{};

    /// Of the traces, and what was taken from them: never `automatic`.
    std::vector<double> noise{};
    common_reference reference = common_reference::none;
    /// Connected sets that had to be closed because they went on too long.
    std::size_t cut = 0;
    /// What a careful colleague would say; whole sentences.
    std::vector<std::string> warnings{};
    /// As in `execution::devices`; none: the CPU.
    std::vector<int> ran_on_devices{};

    std::size_t size() const { return frames.size(); }
    std::size_t features_per_spike() const { return channel_count * features_per_channel; }
    std::span<const float> features_of(std::size_t spike) const {
        return std::span{features}.subspan(spike * features_per_spike(), features_per_spike());
    }
    /// The time of the interpolated peak, to the nearest microsecond.
    std::int64_t time_us(std::size_t spike) const;
};

/// Finds the spikes of a recording and describes them, on the CPU or on the devices of `run`: the
/// same to the bit on any of them, for any number of threads. Reads the recording twice, and parts
/// of it for its noise and its components. Memory is what comes out, and a few blocks a thread; on
/// each device about a gigabyte.
/// @throws invalid_argument for options that cannot be, or a basis that is not of such a recording
/// (`check_same_space`); io_error; device_error; cancelled.
detected_spikes detect_spikes(const recording& from, const detection_options& options = {},
                              const execution& run = {});

/// Pairs of channels that are neighbours, each list ascending, without the channel itself.
std::vector<std::vector<std::uint32_t>> neighbours_of(
    const std::vector<recording_channel>& channels, double neighbour_um = 0);

}  // namespace spikeweave
