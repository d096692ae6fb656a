#include "spikeweave/record/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "spikeweave/core/error.hpp"
#include "spikeweave/record/sample_source.hpp"

namespace spikeweave {
namespace {

class samples_in_memory final : public sample_source {
public:
    samples_in_memory(std::vector<std::int16_t> samples, std::size_t channels)
        : samples_(std::move(samples)), channels_(channels) {}

    std::uint64_t frame_count() const override { return samples_.size() / channels_; }
    void read(std::uint64_t first, std::span<std::int16_t> into) const override {
        const auto from = samples_.begin() + static_cast<std::ptrdiff_t>(first * channels_);
        std::copy_n(from, into.size(), into.begin());
    }

private:
    std::vector<std::int16_t> samples_;
    std::size_t channels_;
};

void check(const recording_description& what) {
    if (what.channels.empty()) throw invalid_argument("a recording has at least one channel");
    constexpr double highest_hz = 1e6;
    if (!(what.rate_hz > 0 && what.rate_hz <= highest_hz))
        throw invalid_argument(
            fmt::format("a recording of {} samples a second (expected above 0, up to 1,000,000)",
                        what.rate_hz));
    std::set<std::string_view> names;
    for (const recording_channel& channel : what.channels) {
        if (!names.insert(channel.name).second)
            throw invalid_argument(fmt::format("two channels are named '{}'", channel.name));
        const double numbers[] = {channel.gain_uv, channel.offset_uv, channel.x_um, channel.y_um};
        if (!std::all_of(std::begin(numbers), std::end(numbers),
                         [](double x) { return std::isfinite(x); }) ||
            channel.gain_uv == 0)
            throw invalid_argument(fmt::format(
                "channel '{}' has gain {} uV, offset {} uV, position ({}, {}) um, expected numbers "
                "and a gain that is not 0",
                channel.name, channel.gain_uv, channel.offset_uv, channel.x_um, channel.y_um));
    }
}

std::shared_ptr<const sample_source> in_memory(const recording_description& what,
                                               std::vector<std::int16_t> samples) {
    check(what);
    if (samples.size() % what.channels.size() != 0)
        throw invalid_argument(fmt::format("{} samples do not fill the last frame of {} channels",
                                           samples.size(), what.channels.size()));
    return std::make_shared<samples_in_memory>(std::move(samples), what.channels.size());
}

}  // namespace

recording::recording(recording_description description, std::vector<std::int16_t> samples)
    : description_(std::move(description)), source_(in_memory(description_, std::move(samples))) {}

recording::recording(recording_description description, std::shared_ptr<const sample_source> source)
    : description_(std::move(description)), source_(std::move(source)) {
    check(description_);
}

std::uint64_t recording::frame_count() const {
    return source_->frame_count();
}

duration recording::length() const {
    return duration_from_seconds(static_cast<double>(frame_count()) / rate_hz());
}

void recording::read(std::uint64_t first, std::span<std::int16_t> into) const {
    const std::size_t frames = into.size() / channel_count();
    if (into.size() % channel_count() != 0)
        throw invalid_argument(fmt::format("{} samples are not whole frames of {} channels",
                                           into.size(), channel_count()));
    if (first > frame_count() || frames > frame_count() - first)
        throw invalid_argument(fmt::format("frames {} to {} of a recording of {}", first,
                                           first + frames, frame_count()));
    if (!into.empty()) source_->read(first, into);
}

}  // namespace spikeweave
