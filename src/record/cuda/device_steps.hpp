#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "record/trace_recipe.hpp"
#include "record/trace_steps.hpp"

/// What detection does on the devices of an `execution`; in a build without CUDA all of it throws
/// `device_error`.
namespace spikeweave {

/// Every `excerpt_step`th frame of some blocks (of the standard grid, ascending), channels fastest.
std::vector<std::vector<float>> excerpts_on_devices(const recording& from,
                                                    const trace_recipe& recipe,
                                                    std::span<const std::size_t> blocks,
                                                    const execution& run);

/// Pieces are as many blocks as keep a device busy.
std::unique_ptr<trace_steps> steps_on_devices(const filtered_recording& traces,
                                              const crossing_rule& rule,
                                              const waveform_window& window,
                                              std::size_t block_frames, const execution& run);

}  // namespace spikeweave
