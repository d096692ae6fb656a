#include "live/sources/open_ephys_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "io/file_error.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

// Of the rates of a file and of the acquisition, one of which may have been measured.
constexpr double most_difference = 0.001;
// Beyond this, windows of the time without samples would take too long to mine.
constexpr double longest_leap_s = open_ephys_messages::longest_leap_us / 1e6;

// Of one channel; empty if a value is not finite.
std::vector<std::int16_t> counts_of(std::string_view microvolts, double gain_uv) {
    std::vector<float> values(microvolts.size() / sizeof(float));
    std::memcpy(values.data(), microvolts.data(), values.size() * sizeof(float));
    if (!std::ranges::all_of(values, [](float x) { return std::isfinite(x); })) return {};
    std::vector<std::int16_t> out(values.size());
    std::ranges::transform(values, out.begin(), [&](float x) {
        using limits = std::numeric_limits<std::int16_t>;
        return static_cast<std::int16_t>(
            std::clamp<double>(std::nearbyint(x / gain_uv), limits::min(), limits::max()));
    });
    return out;
}

}  // namespace

open_ephys_samples::open_ephys_samples(std::string stream, recording_description of, double gain_uv)
    : is_named_(!stream.empty()),
      stream_(std::move(stream)),
      of_(std::move(of)),
      gain_uv_(of_.channels.empty() ? gain_uv : of_.channels[0].gain_uv) {}

void open_ephys_samples::take_unreadable(const std::string& why) {
    if (first_unreadable_.empty()) first_unreadable_ = why;
    ++unreadable_;
}

bool open_ephys_samples::follows(const std::string& stream) {
    if (stream_.empty()) stream_ = stream;
    if (stream == stream_) return true;
    if (is_named_) return false;
    throw io_error(
        fmt::format("the streams {} and {} both send samples: name one of them (`stream`)",
                    io::shown(stream_), io::shown(stream)));
}

// If the block before is not complete, it is left out: either the connection began within it, or a
// message was lost, which the numbers of frames tell.
void open_ephys_samples::begin(const open_ephys_header& header) {
    if (has_begun_ && of_.channels.empty()) learn_channels();
    const std::size_t expected = of_.channels.size();
    if (has_begun_ && expected > 0 && numbers_.empty() && unreadable_ == 0)
        throw io_error(
            fmt::format("{} sends {} channels, expected {}, as the templates have: select these in "
                        "the ZMQ Interface",
                        io::shown(stream_), counts_.size(), expected));
    has_begun_ = first_ >= 0;
    first_ = header.sample;
    frames_ = header.sample_count;
    counts_.clear();
}

// A message of a block may have been lost, so two have to agree. The first one is left out.
void open_ephys_samples::learn_channels() {
    std::vector<std::int64_t> numbers;
    for (const auto& [number, counts] : counts_) numbers.push_back(number);
    if (numbers.empty() || numbers != std::exchange(seen_, numbers)) return;
    for (const std::int64_t number : numbers)
        of_.channels.push_back({.name = std::to_string(number), .gain_uv = gain_uv_});
    finish();
}

void open_ephys_samples::leave_out() {
    has_left_out_ = true;
    first_ = -1;
    counts_.clear();
}

void open_ephys_samples::finish() {
    const std::size_t channels = of_.channels.size();
    sample_block out{.unreadable = std::exchange(unreadable_, 0), .first = first_};
    out.counts.resize(static_cast<std::size_t>(frames_) * channels);
    std::size_t c = 0;
    numbers_.clear();
    for (const auto& [number, counts] : counts_) {
        numbers_.push_back(number);
        for (std::size_t f = 0; f < counts.size(); ++f) out.counts[f * channels + c] = counts[f];
        ++c;
    }
    const auto leap = static_cast<std::int64_t>(of_.rate_hz * longest_leap_s);
    out.begins_epoch = end_ && (first_ < *end_ || first_ - *end_ > leap);
    if (end_ && !out.begins_epoch) out.missing = static_cast<std::uint64_t>(first_ - *end_);
    out.has_left_out = std::exchange(has_left_out_, false) && out.missing > 0;
    end_ = first_ + frames_;
    counts_.clear();
    complete_.push_back(std::move(out));
}

void open_ephys_samples::take(std::span<const std::string_view> frames) {
    const open_ephys_header* const header =
        frames.size() >= 2 ? parser_.parse_interface(frames[1]) : nullptr;
    if (header == nullptr) return take_unreadable("a message whose header is not as expected");
    if (header->what != open_ephys_header::about::data || !follows(header->stream)) return;
    if (of_.rate_hz == 0) of_.rate_hz = header->rate_hz;
    if (std::abs(header->rate_hz - of_.rate_hz) > most_difference * of_.rate_hz)
        throw io_error(
            fmt::format("{} sends {} samples a second, expected {}, as the templates have",
                        io::shown(stream_), header->rate_hz, of_.rate_hz));
    of_.rate_hz = header->rate_hz;
    const std::int64_t count = header->sample_count;
    if (frames.size() < 3 || header->channel < 0 || count == 0 ||
        static_cast<std::uint64_t>(count) * sizeof(float) != frames[2].size())
        return take_unreadable(
            fmt::format("a message of {} samples of channel {} that has {} bytes", count,
                        header->channel, frames.size() < 3 ? 0 : frames[2].size()));
    if (header->sample != first_ || count != frames_) begin(*header);
    const bool is_known = numbers_.empty() || std::ranges::binary_search(numbers_, header->channel);
    if (!is_known || (counts_.empty() && end_ == first_ + frames_))
        throw io_error(
            fmt::format("{} sends more than the {} channels that the templates have: "
                        "select these in the ZMQ Interface",
                        io::shown(stream_), of_.channels.size()));
    std::vector<std::int16_t> counts = counts_of(frames[2], gain_uv_);
    if (counts.empty() || counts_.contains(header->channel))
        return take_unreadable(fmt::format("samples of channel {} that are {}", header->channel,
                                           counts.empty() ? "not numbers" : "there twice"));
    counts_.emplace(header->channel, std::move(counts));
    if (!of_.channels.empty() && counts_.size() == of_.channels.size()) finish();
}

std::optional<sample_block> open_ephys_samples::complete() {
    if (complete_.empty()) return {};
    sample_block block = std::move(complete_.front());
    complete_.pop_front();
    return block;
}

std::optional<sample_block> open_ephys_samples::rest() {
    if (unreadable_ == 0) return {};
    return sample_block{.unreadable = std::exchange(unreadable_, 0)};
}

}  // namespace spikeweave::live
