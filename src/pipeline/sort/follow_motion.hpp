#pragma once

#include "spikeweave/pipeline/sort.hpp"

namespace spikeweave::pipeline {

/// Estimates the motion as the options say, and has their detection undo it. Where the model is
/// automatic, it becomes the one that is used: none if nothing moves by more than a few um.
/// @return the estimate, used or not
probe_motion follow_motion(const recording& from, sort_options& options, const execution& run);

/// Whether the probe and the options let it estimate motion.
bool may_follow_motion(const recording& from, const sort_options& options);

}  // namespace spikeweave::pipeline
