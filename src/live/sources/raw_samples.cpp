#include "live/sources/raw_samples.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <span>
#include <utility>

namespace spikeweave::live {
namespace {

constexpr std::size_t most_frames_read = 1024;  // at once

static_assert(std::endian::native == std::endian::little);

}  // namespace

raw_samples::raw_samples(const std::filesystem::path& path, recording_description of,
                         std::stop_token stop)
    : of_(std::move(of)), input_(path, "samples", std::move(stop)) {
    bytes_.resize(most_frames_read * of_.channels.size() * sizeof(std::int16_t));
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
