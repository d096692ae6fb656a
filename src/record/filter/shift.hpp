#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spikeweave/record/motion.hpp"
#include "spikeweave/record/recording.hpp"

namespace spikeweave::record {

/// Traces at contacts that move with the tissue, interpolated from those that do not.
class motion_shift {
public:
    /// @param live which channels to take from, and to give to; the others are left as they are
    motion_shift(std::shared_ptr<const probe_motion> moved, const recording& from,
                 std::vector<bool> live);

    /// @param first  the recording's frame with which `frames` begin
    /// @param frames channels fastest
    void apply(std::uint64_t first, std::span<float> frames) const;

private:
    /// The composition of each channel from others: `sources` per channel, those of weight 0
    /// included.
    struct mixture {
        std::vector<std::uint32_t> from{};
        std::vector<float> weights{};
    };
    mixture mixture_in(std::size_t bin) const;
    void mix_into(std::uint32_t channel, double moved_um, mixture& out) const;

    std::shared_ptr<const probe_motion> moved_;
    std::vector<recording_channel> channels_;
    std::vector<bool> live_;
    double rate_hz_;
    std::size_t sources_;
};

}  // namespace spikeweave::record
