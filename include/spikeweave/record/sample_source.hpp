#pragma once

#include <cstdint>
#include <span>

#include "spikeweave/core/export.hpp"

namespace spikeweave {

/// The source of a recording's samples: derive from it to sort data that spikeweave cannot read. It
/// is read by several threads at once.
class SPIKEWEAVE_API sample_source {
public:
    sample_source() = default;
    virtual ~sample_source() = default;
    sample_source(const sample_source&) = delete;
    sample_source& operator=(const sample_source&) = delete;

    virtual std::uint64_t frame_count() const = 0;
    /// Reads whole frames within the recording, channels fastest.
    virtual void read(std::uint64_t first, std::span<std::int16_t> into) const = 0;
};

}  // namespace spikeweave
