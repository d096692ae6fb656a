#include "live/sources/sample_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "live/sources/played_file.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

constexpr double taken_s = 0.001;                  // that are played at once
constexpr std::uint64_t most_frames_taken = 8192;  // likewise, if they are late or at no speed
// Raw samples that are read at once: all that a pipe can hold, so that what comes next has not
// waited since before.
constexpr std::size_t most_bytes_read = std::size_t{1} << 20U;

static_assert(std::endian::native == std::endian::little);

}  // namespace

played_samples::played_samples(recording from, double speed, std::stop_token stop,
                               std::uint64_t first, std::uint64_t from_frame)
    : from_(std::move(from)),
      speed_(speed),
      stop_(std::move(stop)),
      read_(std::min(first, from_.frame_count())),
      from_frame_(from_frame) {
    if (!(speed >= 0)) throw invalid_argument("speed", "it is negative");
}

// The time at which all samples before the frame are there.
played_samples::clock::time_point played_samples::due(std::uint64_t frame) const {
    const double since = static_cast<double>(frame) - static_cast<double>(from_frame_);
    const std::chrono::duration<double> after(since / (from_.rate_hz() * speed_));
    return began_ + std::chrono::duration_cast<clock::duration>(after);
}

// Waits for the next samples, and returns how many frames there are; 0 if it has to stop.
std::uint64_t played_samples::frames_to_read() {
    const std::uint64_t left = from_.frame_count() - read_;
    if (speed_ == 0) return std::min(left, most_frames_taken);
    if (began_ == clock::time_point{}) began_ = clock::now();
    const auto step = std::min(
        left, std::max<std::uint64_t>(1, static_cast<std::uint64_t>(taken_s * from_.rate_hz())));
    arrived_after_ = due(read_ + step);
    if (!sleep_until(arrived_after_, stop_)) return 0;
    const std::chrono::duration<double> passed = clock::now() - began_;
    const auto there =
        from_frame_ + static_cast<std::uint64_t>(passed.count() * from_.rate_hz() * speed_);
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

raw_samples::raw_samples(const std::filesystem::path& path, recording_description of,
                         std::stop_token stop)
    : of_(std::move(of)), input_(path, "samples", std::move(stop)) {
    bytes_.resize(most_bytes_read + of_.channels.size() * sizeof(std::int16_t));
}

std::optional<sample_block> raw_samples::next() {
    if (is_over_) return {};
    std::size_t got = 0;
    const auto came = input_.read(std::span(bytes_).subspan(filled_), got);
    if (came == byte_input::awaited::silence) return sample_block{};
    is_over_ = came == byte_input::awaited::end || got == 0;
    filled_ += got;
    const std::size_t of_frame = of_.channels.size() * sizeof(std::int16_t);
    if (is_over_) {
        if (filled_ == 0 || came == byte_input::awaited::end) return {};
        incomplete_ = fmt::format("the last frame, of which {} has {} of {} bytes",
                                  input_.shown_name(), filled_, of_frame);
        return sample_block{.unreadable = 1};
    }
    const std::size_t frames = filled_ / of_frame;
    sample_block out{.first = frames_};
    out.counts.resize(frames * of_.channels.size());
    std::memcpy(out.counts.data(), bytes_.data(), frames * of_frame);
    filled_ -= frames * of_frame;
    std::memmove(bytes_.data(), bytes_.data() + frames * of_frame, filled_);
    frames_ += static_cast<std::int64_t>(frames);
    return out;
}

std::optional<std::chrono::steady_clock::time_point> raw_samples::arrived_after() const {
    if (input_.is_file()) return {};
    return input_.arrived_after();
}

}  // namespace spikeweave::live
