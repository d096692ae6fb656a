#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "live/sources/sample_stream.hpp"

namespace spikeweave::live {

/// The samples of a stream, whose first ones are kept before they are given. While nobody takes
/// them, those that arrive wait in memory, so that none is lost.
class kept_samples : public sample_stream {
public:
    /// @param described  completes the description of the stream when its first frame has arrived;
    /// the channels stay the same
    kept_samples(
        std::unique_ptr<sample_stream> from,
        std::function<recording_description(recording_description)> described = std::identity());
    ~kept_samples() override;
    kept_samples(const kept_samples&) = delete;
    kept_samples& operator=(const kept_samples&) = delete;

    /// Waits for the next block, as `next`, and keeps it. Returns false at the end.
    bool keep_next();
    /// Number of frames that are kept.
    std::uint64_t kept_frames() const { return frames_; }
    /// The first frames that are kept, one after another, also where some are missing between them.
    recording kept(std::uint64_t most_frames) const;
    /// From here on, another thread waits for blocks until those that wait have been taken. A
    /// stream whose samples come as fast as they are taken waits itself.
    void read_ahead();

    const recording_description& description() const override { return of_; }
    std::optional<sample_block> next() override;
    std::optional<std::chrono::steady_clock::time_point> arrived_after() const override {
        return arrived_after_;
    }
    bool has_waited() const override { return has_waited_; }
    std::string first_unreadable() const override {
        return reading_.joinable() ? std::string() : from_->first_unreadable();
    }

private:
    struct waiting_block {
        std::shared_ptr<const sample_block> samples{};
        std::optional<std::chrono::steady_clock::time_point> arrived_after{};
    };

    std::optional<waiting_block> read();
    void read_until_taken();
    std::optional<waiting_block> take_waiting();
    bool has_room() const;

    std::unique_ptr<sample_stream> from_;
    std::function<recording_description(recording_description)> described_;
    recording_description of_;
    bool is_described_ = false;
    std::uint64_t frames_ = 0;
    std::optional<std::chrono::steady_clock::time_point> arrived_after_{};  // the last block
    bool has_waited_ = false;                                               // likewise
    // The thread owns the stream, and shares the rest.
    std::mutex guard_{};
    std::condition_variable changed_{};
    std::deque<waiting_block> waiting_{};
    std::uint64_t waiting_frames_ = 0;
    bool is_over_ = false;
    bool stops_reading_ = false;  // the thread ends after its block
    bool has_read_ = false;       // it has ended
    std::exception_ptr failure_{};
    std::jthread reading_{};  // the last member: it ends before what it uses
};

}  // namespace spikeweave::live
