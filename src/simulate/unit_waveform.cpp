#include "simulate/unit_waveform.hpp"

#include <algorithm>
#include <cmath>

#include "simulate/random_values.hpp"

namespace spikeweave::simulate {
namespace {

// The current returns over a part of the dendrite, and therefore more slowly.
constexpr double return_is_wider = 1.6;

waveform_kind draw_kind(random_stream& random) {
    const double at = random.uniform();
    if (at < 0.45) return waveform_kind::broad;
    if (at < 0.67) return waveform_kind::narrow;
    if (at < 0.82) return waveform_kind::early_peak;
    if (at < 0.92) return waveform_kind::triphasic;
    return waveform_kind::positive;
}

void draw_times(random_stream& random, unit_waveform& shape) {
    const bool is_narrow =
        shape.kind == waveform_kind::narrow || shape.kind == waveform_kind::triphasic;
    shape.trough_us = is_narrow ? between(random, 110, 180) : between(random, 180, 340);
    shape.recovery_us = shape.trough_us * between(random, 1, 1.6);
    shape.rebound_after_us = is_narrow ? between(random, 220, 400) : between(random, 350, 700);
    shape.rebound_us = is_narrow ? between(random, 180, 350) : between(random, 300, 550);
    shape.rebound_size = is_narrow ? between(random, 0.25, 0.6) : between(random, 0.1, 0.45);
    shape.early_before_us = shape.trough_us * between(random, 1, 1.4);
    shape.early_us = shape.trough_us * between(random, 0.6, 1);
    const double early = random.uniform();
    if (shape.kind == waveform_kind::early_peak) shape.early_size = 0.1 + 0.3 * early;
    if (shape.kind == waveform_kind::triphasic) shape.early_size = 0.3 + 0.4 * early;
}

void draw_places(random_stream& random, unit_waveform& shape) {
    shape.reach_um = between(random, 20, 50);
    shape.stretch = between(random, 1, 1.8);
    shape.along_x = between(random, -0.5, 0.5);
    shape.along_y = std::sqrt(1 - squared(shape.along_x));
    if (random.uniform() < 0.5) shape.along_y = -shape.along_y;
    shape.delay_us_per_um = between(random, 1, 5);
    shape.widening_per_um = between(random, 0, 0.006);
    shape.return_um = between(random, 40, 100);
    shape.return_size = between(random, 0.1, 0.4);
}

}  // namespace

double unit_waveform::begin_us() const {
    return std::max(trough_us, early_size > 0 ? early_before_us + early_us : 0);
}

double unit_waveform::end_us() const {
    return std::max(recovery_us, rebound_after_us + rebound_us);
}

unit_field::unit_field(const unit_waveform& shape, double depth_um, double dx_um, double dy_um)
    : shape_(&shape), depth_um_(depth_um) {
    there_ = fading(dx_um, dy_um, nearest_um_);
}

double unit_field::fading(double dx_um, double dy_um, double& distance_um) const {
    const double d2 = squared(dx_um) + squared(dy_um) + squared(depth_um_);
    distance_um = std::sqrt(d2);
    const double along2 = squared(dx_um * shape_->along_x + dy_um * shape_->along_y);
    const double felt2 = d2 - along2 * (1 - 1 / squared(shape_->stretch));
    return 1 / squared(1 + felt2 / squared(shape_->reach_um));
}

waveform_part unit_field::soma(double dx_um, double dy_um) const {
    double distance_um = 0;
    const double size = fading(dx_um, dy_um, distance_um) / there_ * shape_->scale;
    const double farther_um = distance_um - nearest_um_;
    return {size, std::min(farther_um * shape_->delay_us_per_um, longest_delay_us),
            std::clamp(1 + farther_um * shape_->widening_per_um, 1.0, widest)};
}

waveform_part unit_field::returning(double dx_um, double dy_um) const {
    double distance_um = 0;
    const double size = fading(dx_um - shape_->return_um * shape_->along_x,
                               dy_um - shape_->return_um * shape_->along_y, distance_um);
    return {-shape_->return_size * (size / there_ * shape_->scale),
            std::min(shape_->return_um * shape_->delay_us_per_um, longest_delay_us),
            return_is_wider};
}

unit_waveform draw_broad_waveform(random_stream& random) {
    unit_waveform shape;
    shape.trough_us = between(random, 180, 360);
    shape.recovery_us = shape.trough_us;
    shape.rebound_after_us = between(random, 350, 700);
    shape.rebound_us = between(random, 300, 550);
    shape.rebound_size = between(random, 0.15, 0.5);
    shape.reach_um = between(random, 28, 48);
    return shape;
}

unit_waveform draw_varied_waveform(random_stream& random) {
    unit_waveform shape;
    shape.kind = draw_kind(random);
    draw_times(random, shape);
    draw_places(random, shape);
    return shape;
}

unit_waveform draw_similar_waveform(random_stream& random, const unit_waveform& like) {
    constexpr double most = 0.08;
    unit_waveform shape = like;
    for (double* const value :
         {&shape.trough_us, &shape.recovery_us, &shape.rebound_after_us, &shape.rebound_us,
          &shape.rebound_size, &shape.early_before_us, &shape.early_us, &shape.early_size,
          &shape.reach_um, &shape.delay_us_per_um, &shape.return_um, &shape.return_size})
        *value *= between(random, 1 - most, 1 + most);
    return shape;
}

}  // namespace spikeweave::simulate
