#pragma once

#include <cstdint>
#include <span>

namespace spikeweave {

/// Where the samples of a recording lie: derive from it to sort what no reader of files knows.
/// Read by several threads at once.
class sample_source {
public:
    sample_source() = default;
    virtual ~sample_source() = default;
    sample_source(const sample_source&) = delete;
    sample_source& operator=(const sample_source&) = delete;
    sample_source(sample_source&&) = delete;
    sample_source& operator=(sample_source&&) = delete;

    virtual std::uint64_t frame_count() const = 0;
    /// Whole frames that are all there, channels fastest.
    virtual void read(std::uint64_t first, std::span<std::int16_t> into) const = 0;
};

}  // namespace spikeweave
