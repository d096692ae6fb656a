#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "record/detect/trace_steps.hpp"
#include "record/filter/trace_recipe.hpp"

/// The part of detection that runs on the devices of an `execution`. In a build without CUDA all
/// functions throw `device_error`.
namespace spikeweave::record {

/// Returns every `excerpt_step`th frame of some blocks (of the standard grid, ascending), channels
/// fastest.
std::vector<std::vector<float>> excerpts_on_devices(const recording& from,
                                                    const trace_recipe& recipe,
                                                    std::span<const std::size_t> blocks,
                                                    const execution& run);

/// A piece has as many blocks as keep a device busy.
std::unique_ptr<trace_steps> steps_on_devices(const filtered_recording& traces,
                                              const crossing_rule& rule,
                                              const waveform_window& window,
                                              std::size_t block_frames, const execution& run);

}  // namespace spikeweave::record
