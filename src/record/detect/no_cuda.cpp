// Replaces cuda/ in a build without CUDA.

#include "record/detect/trace_steps.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::record {

std::vector<std::vector<float>> excerpts_on_devices(const recording&, const trace_recipe&,
                                                    std::span<const std::size_t>,
                                                    const execution&) {
    throw device_error(device_unavailable_reason());
}

std::unique_ptr<trace_steps> steps_on_devices(const filtered_recording&, const crossing_rule&,
                                              const waveform_window&, std::size_t,
                                              const execution&) {
    throw device_error(device_unavailable_reason());
}

}  // namespace spikeweave::record
