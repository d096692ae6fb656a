#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sort/templates/low_rank.hpp"
#include "sort/templates/placed_waveforms.hpp"
#include "sort/templates/unit_template.hpp"
#include "spikeweave/record/motion.hpp"
#include "spikeweave/record/recording.hpp"

namespace spikeweave::templates {

/// Measures how far the tissue has moved by what templates leave of their spikes. Sums are of
/// integers, so they do not depend on the pieces in which traces arrive.
class motion_follower {
public:
    /// @param filters  of the units, which have to live as long
    /// @param live     channels that have traces
    /// @param known    the motion in the first bins, of the model to follow
    motion_follower(std::span<const matched_filter> filters, const template_window& window,
                    std::span<const recording_channel> channels, const std::vector<bool>& live,
                    probe_motion known);

    /// Adds some frames of traces from which all spikes were subtracted.
    /// @param left    in standard deviations, without an apron
    /// @param first   of the frames, in `left`
    /// @param frames  number of them
    /// @param spikes  all that reach into them
    void add(const channel_block& left, std::size_t first, std::size_t frames,
             std::span<const template_spike> spikes);
    /// Begins the next bin. Unless its motion is known, it follows from what was added since the
    /// last call.
    void begin_bin();

    /// The motion in all bins up to the current one.
    const probe_motion& motion() const { return motion_; }
    std::size_t bin() const { return bin_; }

private:
    // The change of a template that moves up the probe, per um. What another amplitude explains is
    // not part of it.
    struct slope {
        std::vector<float> values{};     // frames x channels of the template
        std::vector<double> energies{};  // of each frame
        double depth_um = 0;             // of the template's energy
    };
    // Of the spikes of a unit, in integer parts.
    struct evidence {
        std::int64_t product = 0;  // of the slope and what is left
        std::int64_t energy = 0;   // of the slope
    };

    slope slope_of(const matched_filter& filter, std::span<const recording_channel> channels,
                   const displaced_contacts& above_it, const displaced_contacts& below_it) const;
    double moved_um(const depth_window& window) const;

    std::span<const matched_filter> filters_;
    std::int64_t before_;
    std::vector<depth_window> windows_;
    std::vector<slope> slopes_{};
    std::vector<evidence> sums_;
    probe_motion motion_;
    std::size_t bin_ = 0;
};

}  // namespace spikeweave::templates
