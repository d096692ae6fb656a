#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>

#include "live/sources/sample_stream.hpp"

namespace spikeweave::live {

/// The samples of a recording as if they came now.
class played_samples : public sample_stream {
public:
    /// @param speed  how much faster than the recording; 0 means as fast as they are taken
    /// @param stop   ends the source within a moment
    played_samples(recording from, double speed, std::stop_token stop);

    const recording_description& description() const override { return from_.description(); }
    std::optional<sample_block> next() override;
    std::optional<std::chrono::steady_clock::time_point> arrived_after() const override;

private:
    using clock = std::chrono::steady_clock;

    clock::time_point due(std::uint64_t frame) const;
    std::uint64_t frames_to_read();

    recording from_;
    double speed_;
    std::stop_token stop_;
    std::uint64_t read_ = 0;  // frames
    clock::time_point began_{};
    clock::time_point arrived_after_{};
};

}  // namespace spikeweave::live
