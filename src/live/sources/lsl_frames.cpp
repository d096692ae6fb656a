#include "live/sources/lsl_frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "live/sources/lsl_samples.hpp"

namespace spikeweave::live {
namespace {

// Of the rates of a file and of the stream, one of which may have been measured.
constexpr double most_rates_differ = 0.001;
constexpr double most_time_s = static_cast<double>(lsl_samples::most_time_us) / 1e6;
constexpr double leap_s = static_cast<double>(stream_clock::longest_leap_us) / 1e6;

std::int16_t count_of(double microvolts, double gain_uv) {
    using limits = std::numeric_limits<std::int16_t>;
    if (std::isnan(microvolts)) return 0;
    return static_cast<std::int16_t>(
        std::clamp<double>(std::nearbyint(microvolts / gain_uv), limits::min(), limits::max()));
}

}  // namespace

lsl_frames::lsl_frames(recording_description of, double gain_uv)
    : of_(std::move(of)), gain_uv_(gain_uv) {}

std::string lsl_frames::begin(std::size_t channels, double rate_hz, bool is_whole) {
    if (!(rate_hz >= 1) || rate_hz > 1e7)
        return fmt::format("has no rate, expected samples with a regular one");
    if (of_.rate_hz > 0 && std::abs(rate_hz - of_.rate_hz) > most_rates_differ * of_.rate_hz)
        return fmt::format("has {} samples a second, expected {}, as the templates have", rate_hz,
                           of_.rate_hz);
    if (!of_.channels.empty() && channels != of_.channels.size())
        return fmt::format("has {} channels, expected {}, as the templates have", channels,
                           of_.channels.size());
    if (gain_uv_ == 0) gain_uv_ = is_whole ? 1 : 0.1;
    of_.rate_hz = rate_hz;
    for (std::size_t c = of_.channels.size(); c < channels; ++c)
        of_.channels.push_back({.name = std::to_string(c)});
    for (recording_channel& channel : of_.channels) channel.gain_uv = gain_uv_;
    return {};
}

// The block to which the next frame belongs; null: its time cannot be read, and none has come that
// could. Later such a frame is where it follows.
sample_block* lsl_frames::place(double time_s) {
    const bool has_time = std::abs(time_s) <= most_time_s;
    if (!has_time && !end_) {
        ++unreadable_;
        return nullptr;
    }
    if (!end_) {
        of_.begin = duration_from_seconds(time_s);
        end_ = 0;
    }
    const double after_s = time_s - to_seconds(of_.begin);
    const double ahead_s =
        has_time ? after_s - static_cast<double>(*end_) / of_.rate_hz - offset_s_ : 0;
    const bool is_away = std::abs(ahead_s) > longest_tremble_s;
    const bool breaks = is_away || is_after_loss_;
    if (!breaks) {
        offset_s_ += ahead_s / (drift_followed_s * of_.rate_hz);
        if (!blocks_.empty() && unreadable_ == 0) return &blocks_.back();
    }
    sample_block out{.unreadable = std::exchange(unreadable_, 0), .first = *end_};
    if (breaks && (ahead_s < -longest_tremble_s || ahead_s > leap_s)) {
        out.begins_epoch = true;
        out.first = std::llround(after_s * of_.rate_hz);
        offset_s_ = 0;
    } else if (breaks) {
        out.missing = static_cast<std::uint64_t>(
            std::max<std::int64_t>(1, std::llround(ahead_s * of_.rate_hz)));
        out.first += static_cast<std::int64_t>(out.missing);
    }
    is_after_loss_ = false;
    end_ = out.first;
    return &blocks_.emplace_back(std::move(out));
}

void lsl_frames::take(std::span<const std::int16_t> counts, std::span<const double> times_s) {
    const std::size_t channels = of_.channels.size();
    for (std::size_t f = 0; f < times_s.size(); ++f) {
        sample_block* const into = place(times_s[f]);
        if (into == nullptr) continue;
        const auto frame = counts.subspan(f * channels, channels);
        into->counts.insert(into->counts.end(), frame.begin(), frame.end());
        ++*end_;
    }
}

void lsl_frames::take(std::span<const float> microvolts, std::span<const double> times_s) {
    std::vector<std::int16_t> counts(microvolts.size());
    std::ranges::transform(microvolts, counts.begin(),
                           [this](float x) { return count_of(x, gain_uv_); });
    take(counts, times_s);
}

std::optional<sample_block> lsl_frames::next() {
    if (!blocks_.empty()) {
        sample_block block = std::move(blocks_.front());
        blocks_.pop_front();
        return block;
    }
    if (unreadable_ == 0) return {};
    return sample_block{.unreadable = std::exchange(unreadable_, 0)};
}

}  // namespace spikeweave::live
