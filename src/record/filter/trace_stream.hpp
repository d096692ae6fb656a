#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "spikeweave/record/stream.hpp"

namespace spikeweave::record {

/// A `scaled_trace_stream` on the CPU or on a device.
class scaled_stream {
public:
    scaled_stream() = default;
    virtual ~scaled_stream() = default;
    scaled_stream(const scaled_stream&) = delete;
    scaled_stream& operator=(const scaled_stream&) = delete;

    virtual void follow(const probe_motion& moved, std::size_t bin) = 0;
    virtual std::vector<std::int16_t> next(std::span<const std::int16_t> counts,
                                           const execution& run) = 0;
};

/// @throws device_error, also in a build without CUDA
std::unique_ptr<scaled_stream> scaled_stream_on_device(const trace_settings& settings,
                                                       std::span<const recording_channel> channels,
                                                       const trace_scale& scale, int device);

/// The contacts displaced in a bin; none if nothing is.
std::optional<displaced_contacts> displaced_in(const probe_motion& moved, std::size_t bin,
                                               std::span<const recording_channel> channels,
                                               std::span<const double> noise);

}  // namespace spikeweave::record
