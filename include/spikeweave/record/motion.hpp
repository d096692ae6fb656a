#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/record/recording.hpp"

namespace spikeweave {

struct detection_options;

/// The model of the motion of the tissue along the probe.
enum class motion_model : std::uint8_t {
    automatic,  ///< by the probe; none if nothing moves
    none,       ///< it does not move
    rigid,      ///< all depths move together
    blocks,     ///< overlapping windows along the probe move on their own, neighbours alike
};
template <>
SPIKEWEAVE_API enum_table<motion_model> enum_names<motion_model>();

struct motion_options {
    motion_model model = motion_model::automatic;
    /// The displacement is constant within each of these. At least 10 ms.
    duration time_bin = std::chrono::seconds{1};
};
SPIKEWEAVE_API option_list describe(motion_options& options);

/// The displacement of the tissue along the probe (in the direction of y), over time and depth. The
/// median over time is 0 at each depth.
struct SPIKEWEAVE_API probe_motion {
    /// Never `automatic`.
    motion_model model = motion_model::none;
    double time_bin_s = 1;
    std::vector<double> times_s{};    ///< the middle of each bin
    std::vector<double> depths_um{};  ///< the middle of each window, ascending
    /// `[time * depths_um.size() + depth]`
    std::vector<double> displacement_um{};

    bool empty() const { return displacement_um.empty(); }
    /// The bin of a time; times beyond the last bin are of the last.
    std::size_t bin_of(double time_s) const;
    /// The displacement in a bin, linear between windows, at a depth that is fixed to the tissue.
    double at(std::size_t bin, double depth_um) const;
    /// The largest difference between displacements of one window, without the most extreme 2 % at
    /// either end.
    double range_um() const;

    friend bool operator==(const probe_motion&, const probe_motion&) = default;
};

/// Traces of contacts that are displaced along the probe, interpolated from those of contacts that
/// are not (simple kriging; docs/algorithms/motion.md).
class SPIKEWEAVE_API displaced_contacts {
public:
    /// @param live   which channels are interpolated, and from which; the others stay as they are
    /// @param moved  the displacement in its bin `bin`
    displaced_contacts(std::span<const recording_channel> channels, const std::vector<bool>& live,
                       const probe_motion& moved, std::size_t bin);

    /// Replaces frames, channels fastest.
    void apply(std::span<float> frames) const;

    /// Number of channels from which each one is mixed, those of weight 0 included.
    std::size_t sources() const { return sources_; }
    /// These channels, in the order in which they are added: channels x sources.
    const std::vector<std::uint32_t>& from() const { return from_; }
    /// Their weights.
    const std::vector<float>& weights() const { return weights_; }

private:
    void mix_into(std::uint32_t channel, double moved_um,
                  std::span<const recording_channel> channels, const std::vector<bool>& live);

    std::size_t sources_;
    std::vector<std::uint32_t> from_;
    std::vector<float> weights_;
};

/// A window of depths that move alike: a Gaussian. An infinite width weighs all depths alike.
struct depth_window {
    double middle_um;
    double width_um;
};
/// The windows of a model along these channels, ascending; none for no model.
SPIKEWEAVE_API std::vector<depth_window> depth_windows_of(
    motion_model model, std::span<const recording_channel> channels);

/// The model that `automatic` stands for, which the probe decides: none if its positions are
/// assumed, for fewer than 16 channels, a span of less than 100 um or rows that are too far apart
/// to interpolate between; blocks from 1,000 um on; else rigid.
SPIKEWEAVE_API motion_model motion_model_for(const recording_description& of);

/// Estimates the motion from the depths and amplitudes of spikes; docs/algorithms/motion.md has the
/// formulas. Reads the recording once, and parts of it for the noise; on the devices of `run` if it
/// has any. Bit-identical on all of them, for any number of threads.
/// @return empty if the model is none, or automatic stands for that
/// @throws invalid_argument if an option is out of range; io_error; device_error; cancelled.
SPIKEWEAVE_API probe_motion estimate_motion(const recording& from,
                                            const detection_options& detection,
                                            const motion_options& options = {},
                                            const execution& run = {});

}  // namespace spikeweave
