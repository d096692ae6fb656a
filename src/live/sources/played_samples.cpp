#include "live/sources/played_samples.hpp"

#include <algorithm>
#include <utility>

#include "live/sources/played_file.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

constexpr double taken_s = 0.001;                  // that are taken at once
constexpr std::uint64_t most_frames_taken = 8192;  // likewise, if they are late or at no speed

}  // namespace

played_samples::played_samples(recording from, double speed, std::stop_token stop)
    : from_(std::move(from)), speed_(speed), stop_(std::move(stop)) {
    if (!(speed >= 0)) throw invalid_argument("speed", "it is negative");
}

// The time at which all samples before the frame are there.
played_samples::clock::time_point played_samples::due(std::uint64_t frame) const {
    const std::chrono::duration<double> after(static_cast<double>(frame) /
                                              (from_.rate_hz() * speed_));
    return began_ + std::chrono::duration_cast<clock::duration>(after);
}

// Waits for the next samples, and returns how many frames there are; 0 if it has to stop.
std::uint64_t played_samples::frames_to_read() {
    const std::uint64_t left = from_.frame_count() - read_;
    if (speed_ == 0) return std::min(left, most_frames_taken);
    if (read_ == 0) began_ = clock::now();
    const auto step = std::min(
        left, std::max<std::uint64_t>(1, static_cast<std::uint64_t>(taken_s * from_.rate_hz())));
    arrived_after_ = due(read_ + step);
    if (!sleep_until(arrived_after_, stop_)) return 0;
    const std::chrono::duration<double> passed = clock::now() - began_;
    const auto there = static_cast<std::uint64_t>(passed.count() * from_.rate_hz() * speed_);
    return std::clamp(there > read_ ? there - read_ : 0, step, std::min(left, most_frames_taken));
}

std::optional<sample_block> played_samples::next() {
    if (read_ == from_.frame_count() || stop_.stop_requested()) return {};
    const std::uint64_t count = frames_to_read();
    if (count == 0) return {};
    sample_block out{.first = static_cast<std::int64_t>(read_)};
    out.counts.resize(count * from_.channel_count());
    from_.read(read_, out.counts);
    read_ += count;
    return out;
}

std::optional<played_samples::clock::time_point> played_samples::arrived_after() const {
    if (speed_ == 0) return {};
    return arrived_after_;
}

}  // namespace spikeweave::live
