#include "pipeline/sort/steps.hpp"

#include <memory>

namespace spikeweave::pipeline {
namespace {

// Interpolation changes waveforms by more than so small a displacement does.
constexpr double least_range_um = 5;

}  // namespace

bool may_follow_motion(const recording& from, const sort_options& options) {
    return options.motion.model != motion_model::none &&
           (options.motion.model != motion_model::automatic ||
            motion_model_for(from.description()) != motion_model::none);
}

probe_motion follow_motion(const recording& from, sort_options& options, const execution& run) {
    probe_motion found = estimate_motion(from, options.detection, options.motion, run);
    const bool is_asked = options.motion.model != motion_model::automatic;
    options.motion.model = found.model;
    if (found.empty()) return found;
    if (is_asked || found.range_um() >= least_range_um) {
        options.detection.preprocessing.moved = std::make_shared<const probe_motion>(found);
    } else {
        options.motion.model = motion_model::none;
    }
    return found;
}

}  // namespace spikeweave::pipeline
