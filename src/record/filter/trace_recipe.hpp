#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spikeweave/record/motion.hpp"
#include "spikeweave/record/preprocess.hpp"
#include "spikeweave/record/recording.hpp"

namespace spikeweave::record {

/// Traces at contacts that move with the tissue, interpolated from those that do not.
class motion_shift {
public:
    /// @param live  as of `displaced_contacts`
    motion_shift(std::shared_ptr<const probe_motion> moved, const recording& from,
                 std::vector<bool> live);

    /// @param first  the recording's frame with which `frames` begin
    /// @param frames channels fastest
    void apply(std::uint64_t first, std::span<float> frames) const;

private:
    std::shared_ptr<const probe_motion> moved_;
    std::vector<recording_channel> channels_;
    std::vector<bool> live_;
    double rate_hz_;
};

/// The steps from samples to filtered traces.
struct trace_recipe {
    std::vector<band_section> sections{};
    std::size_t reach = 0;  ///< distance in frames over which a value affects others
    common_reference reference = common_reference::none;
    /// Channels, ascending, whose common median is subtracted from them; empty: none is subtracted.
    /// Dead channels are excluded, because they would then hold only the negative median.
    std::vector<std::uint32_t> referenced{};
    /// Undoes the motion of the tissue, on the CPU; null: it is left as it is.
    std::shared_ptr<const motion_shift> shift{};
    /// Weight of channel k in channel c: `[k * channels + c]`; empty: no whitening.
    std::vector<float> whitening{};
    bool causal = false;  ///< the sections run forward only

    /// Whether devices cannot compute the traces.
    bool needs_cpu() const { return shift || causal; }
};

/// Noise is estimated from one frame in four.
constexpr std::size_t excerpt_step = 4;

}  // namespace spikeweave::record
