#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "live/sources/byte_input.hpp"
#include "live/sources/sample_stream.hpp"

namespace spikeweave::live {

/// The samples of a recording as if they came now.
class played_samples : public sample_stream {
public:
    /// @param speed  the speed relative to the recording; 0 means as fast as they are processed
    /// @param stop   ends the source within a moment
    /// @param first  the first frame that is given
    /// @param from_frame  the frame that comes now; those before it have come
    played_samples(recording from, double speed, std::stop_token stop, std::uint64_t first = 0,
                   std::uint64_t from_frame = 0);

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
    std::uint64_t read_;  // frames
    std::uint64_t from_frame_;
    clock::time_point began_{};
    clock::time_point arrived_after_{};
};

/// Raw samples as they come: int16, little-endian, channels fastest.
class raw_samples : public sample_stream {
public:
    /// @throws io_error as of `byte_input`.
    raw_samples(const std::filesystem::path& path, recording_description of, std::stop_token stop);

    const recording_description& description() const override { return of_; }
    std::optional<sample_block> next() override;
    std::optional<std::chrono::steady_clock::time_point> arrived_after() const override;
    std::string first_unreadable() const override { return incomplete_; }

private:
    recording_description of_;
    byte_input input_;
    std::vector<char> bytes_{};
    std::size_t filled_ = 0;  // of them
    std::int64_t frames_ = 0;
    bool is_over_ = false;
    std::string incomplete_{};
};

}  // namespace spikeweave::live
