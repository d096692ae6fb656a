#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/record/motion.hpp"
#include "spikeweave/record/recording.hpp"

namespace spikeweave {

namespace record {
class block_reader;
}

/// The common reference subtracted from every channel at each frame, after the filter.
enum class common_reference : std::uint8_t {
    automatic,  ///< the median for 64 channels or more, else none
    none,
    /// The median of all channels except dead ones: a shared signal does not originate from a
    /// single neuron.
    median,
};
template <>
SPIKEWEAVE_API enum_table<common_reference> enum_names<common_reference>();

struct preprocessing_options {
    /// Pass band of a Butterworth filter that runs forward and backward, so that nothing is
    /// delayed; each pass keeps half of the power at its corners, which are in Hz.
    double low_corner = 300;
    double high_corner = 6000;  ///< limited to 0.95 of half the sample rate
    std::uint32_t filter_order = 3;
    common_reference reference = common_reference::automatic;
    /// Decorrelate the noise of the channels (ZCA). Traces are then in standard deviations of the
    /// noise instead of microvolts.
    bool whiten = false;
    /// The motion of the tissue: traces are then those of contacts that move with it, interpolated
    /// from the filtered ones. They are computed on the CPU. Null or empty: it does not move.
    std::shared_ptr<const probe_motion> moved{};
    /// The filter runs forward only, so that no value depends on samples after it, as while samples
    /// arrive. Traces are then delayed, and computed on the CPU, and motion cannot be undone.
    bool causal = false;
};

SPIKEWEAVE_API option_list describe(preprocessing_options& options);

/// A biquad y[n] = gain * (x[n] - x[n-2]) - a1 y[n-1] - a2 y[n-2]: every section of a band pass has
/// its zeros at 1 and -1.
struct band_section {
    double gain;
    double a1;
    double a2;
};
/// The Butterworth band pass with `order` sections (bilinear transform with both corners warped),
/// each with gain 1 at the middle of the band.
/// @throws invalid_argument unless 0 < low < high < rate / 2 and 1 <= order <= 8.
SPIKEWEAVE_API std::vector<band_section> butterworth_band(std::uint32_t order, double low_hz,
                                                          double high_hz, double rate_hz);

struct trace_settings;  // record/stream.hpp

/// A recording whose traces are filtered when they are read.
///
/// Traces are computed in blocks of 8,192 frames on a grid that begins at the first frame, each
/// padded with enough frames that data further away change no value by more than 10^-9 of the
/// largest step in the trace. So a value does not depend on which range is read. Beyond its ends
/// the recording is extended with its first and last value.
class SPIKEWEAVE_API filtered_recording {
public:
    /// Estimates the noise, from up to 32 blocks spread evenly over the recording; on the devices
    /// of `run` if it has any, with the same result. Traces read later are computed on the CPU.
    /// @throws invalid_argument if the band does not fit the sample rate; io_error; device_error;
    /// cancelled.
    explicit filtered_recording(recording from, const preprocessing_options& options = {},
                                const execution& run = {});

    /// Later samples of the channels that these settings belong to: nothing is estimated.
    /// @param moved  as of `preprocessing_options`
    filtered_recording(recording from, const trace_settings& settings,
                       const std::shared_ptr<const probe_motion>& moved = {});

    const recording& source() const;
    /// The reference used; never `automatic`.
    common_reference reference() const;
    /// Standard deviation of each channel's noise, estimated by the median of absolute values
    /// (divided by 0.6745), in the unit of the traces. 0 for a channel that is silent most of the
    /// time before the reference is subtracted, or has less than a tenth of the median of at least
    /// 4 channels, which is considered dead, and for a noisy one: both are left out of the
    /// reference and have no spikes. Where motion is undone, noise depends on where a channel's
    /// place is, and the upper quartile of the blocks' noise is taken.
    std::span<const double> noise() const;
    /// Channels, ascending, whose noise is more than 5 times the median of at least 4 channels'.
    std::span<const std::uint32_t> noisy() const;
    /// Whether the excursions beyond 4.5 standard deviations of each channel's noise point up (1),
    /// down (-1) or both ways, by the sum of their cubes, from the same blocks as the noise. 0 for
    /// a channel where nothing does.
    std::span<const double> direction() const;

    /// Frames from `first` on, as many as `into` holds, channels fastest, in microvolts.
    /// @throws invalid_argument if the range is beyond the end or not in whole frames; io_error.
    void read(std::uint64_t first, std::span<float> into) const;

private:
    friend class record::block_reader;
    struct SPIKEWEAVE_LOCAL parts;
    std::shared_ptr<const parts> parts_;
};

}  // namespace spikeweave
