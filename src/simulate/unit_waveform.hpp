#pragma once

#include "spikeweave/core/random.hpp"
#include "spikeweave/simulate/recording.hpp"

namespace spikeweave::simulate {

/// The contribution of a unit to the channels around it, in two parts: that of its soma, and the
/// opposite of it around a place on its dendrite, to which the current returns. Both become
/// smaller, later and wider with distance.
struct unit_waveform {
    waveform_kind kind = waveform_kind::broad;
    // Half the width of the trough, before and after its extreme.
    double trough_us = 0;
    double recovery_us = 0;
    double rebound_after_us = 0;
    double rebound_us = 0;
    double rebound_size = 0;
    double early_before_us = 0;
    double early_us = 1;
    double early_size = 0;  // of the positive peak before the trough
    double reach_um = 0;    // at this distance a quarter of the amplitude is left
    double stretch = 1;     // reach along the dendrite, by that across it
    double along_x = 0;     // direction of the dendrite on the probe
    double along_y = 1;
    double delay_us_per_um = 2;
    double widening_per_um = 0;
    double return_um = 0;    // distance of the place on the dendrite
    double return_size = 0;  // as a fraction of the soma's
    double scale = 1;        // makes the extreme on the unit's channel its peak

    /// The soma's waveform, -1 at 0 or 1 for positive ones, `wide` times as wide as at the unit.
    double value(double t_us, double wide) const;
    /// The duration of the waveform before and after its extreme.
    double begin_us() const;
    double end_us() const;
};

/// Bounds of `value`'s `wide` and of the delay on any channel.
constexpr double widest = 2;
constexpr double longest_delay_us = 500;

/// The form of one part of a unit's waveform on a channel.
struct waveform_part {
    double size = 0;  // by that of the unit
    double later_us = 0;
    double wide = 1;
};

/// The two parts on contacts around one unit.
class unit_field {
public:
    /// @param dx_um, dy_um where the contact is whose amplitude is that of the unit, from the unit
    unit_field(const unit_waveform& shape, double depth_um, double dx_um, double dy_um);

    waveform_part soma(double dx_um, double dy_um) const;
    waveform_part returning(double dx_um, double dy_um) const;
    bool has_return() const { return shape_->return_size > 0; }

private:
    double fading(double dx_um, double dy_um, double& distance_um) const;

    const unit_waveform* shape_;
    double depth_um_;
    double nearest_um_ = 0;
    double there_ = 1;
};

/// A broad waveform; only its widths and reach vary.
unit_waveform draw_broad_waveform(random_stream& random);
/// A waveform of any kind.
unit_waveform draw_varied_waveform(random_stream& random);
/// A waveform that differs from another one by a few per cent.
unit_waveform draw_similar_waveform(random_stream& random, const unit_waveform& like);

/// The shape of a spike's trough and peaks: 1 at 0, and 0 from ±1 on.
inline double bump(double x) {
    const double left = 1 - x * x;
    return left <= 0 ? 0 : left * left * left;
}

constexpr double squared(double x) {
    return x * x;
}

inline double unit_waveform::value(double t_us, double wide) const {
    const double rebound = (t_us - rebound_after_us * wide) / (rebound_us * wide);
    const double half_us = (t_us < 0 ? trough_us : recovery_us) * wide;
    double sum = rebound_size * bump(rebound) - bump(t_us / half_us);
    if (early_size > 0)
        sum += early_size * bump((t_us + early_before_us * wide) / (early_us * wide));
    return kind == waveform_kind::positive ? -sum : sum;
}

}  // namespace spikeweave::simulate
