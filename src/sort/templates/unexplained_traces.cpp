#include "sort/templates/unexplained_traces.hpp"

#include <algorithm>
#include <cmath>

namespace spikeweave::templates {
namespace {

// Noise is hardly ever so large, in standard deviations.
constexpr float least_size = 6;
// What a template may leave of its own spike, as a share of the largest value of it.
constexpr float most_left = 0.35F;
constexpr double searched_s = 0.01;
constexpr double apart_s = 0.0005;
constexpr double beside_s = 0.00025;

}  // namespace

unexplained_traces::unexplained_traces(std::span<const matched_filter> filters,
                                       const template_window& window, std::size_t channels,
                                       double rate_hz, motion_follower* follower)
    : placed_(filters, window),
      follower_(follower),
      window_(window),
      least_frames_(std::llround(searched_s * rate_hz)),
      apart_(std::llround(apart_s * rate_hz)),
      beside_(std::llround(beside_s * rate_hz)),
      kept_(channels) {}

void unexplained_traces::add(const integer_block& traces) {
    for (std::size_t c = 0; c < kept_.size(); ++c) {
        const std::size_t before = kept_[c].size();
        kept_[c].resize(before + traces.frames);
        std::ranges::transform(
            traces.on(c), kept_[c].begin() + static_cast<std::ptrdiff_t>(before),
            [](std::int16_t step) { return static_cast<float>(step) / steps_per_sd; });
    }
}

void unexplained_traces::add(std::span<const template_spike> spikes, std::int64_t known_until) {
    spikes_.insert(spikes_.end(), spikes.begin(), spikes.end());
    if (known_until - reach() - searched_ >= least_frames_) search(known_until - reach());
}

void unexplained_traces::search_until_known(std::int64_t known_until) {
    if (known_until - reach() > searched_) search(known_until - reach());
}

void unexplained_traces::finish(std::int64_t end) {
    for (std::vector<float>& each : kept_)
        each.resize(static_cast<std::size_t>(end + beside_ - kept_first_));
    if (end > searched_) search(end);
    close();
}

// Frames before and after those that are searched show what explains them.
void unexplained_traces::search(std::int64_t end) {
    const auto width = static_cast<std::size_t>(end + beside_ - kept_first_);
    channel_block block{.first = static_cast<std::uint64_t>(kept_first_),
                        .frames = width,
                        .channels = kept_.size()};
    for (const std::vector<float>& each : kept_)
        block.values.insert(block.values.end(), each.begin(),
                            each.begin() + static_cast<std::ptrdiff_t>(width));
    placed_.subtract(spikes_, block);
    if (follower_ != nullptr)
        follower_->add(block, static_cast<std::size_t>(searched_ - kept_first_),
                       static_cast<std::size_t>(end - searched_), spikes_);
    std::vector<float> left(width);
    std::vector<std::uint32_t> channels(width);
    std::vector<float> explained(width);
    for (std::size_t c = 0; c < kept_.size(); ++c) {
        const std::span<const float> rest = block.on(c);
        for (std::size_t f = 0; f < width; ++f) {
            const float size = std::abs(rest[f]);
            channels[f] = size > left[f] ? static_cast<std::uint32_t>(c) : channels[f];
            left[f] = std::max(left[f], size);
            explained[f] = std::max(explained[f], std::abs(kept_[c][f] - rest[f]));
        }
    }
    take_largest(left, channels, explained, static_cast<std::size_t>(searched_ - kept_first_),
                 static_cast<std::size_t>(end - searched_));
    searched_ = end;
    const std::int64_t dropped = std::max<std::int64_t>(0, end - beside_ - kept_first_);
    for (std::vector<float>& each : kept_) each.erase(each.begin(), each.begin() + dropped);
    kept_first_ += dropped;
    std::erase_if(spikes_, [this](const template_spike& spike) {
        return spike.frame + window_.after + 1 < kept_first_;
    });
}

void unexplained_traces::take_largest(std::span<const float> left,
                                      std::span<const std::uint32_t> channels,
                                      std::span<const float> explained, std::size_t before,
                                      std::size_t count) {
    const auto beside = static_cast<std::size_t>(beside_);
    for (std::size_t f = before; f < before + count; ++f) {
        if (left[f] < least_size) continue;
        const std::size_t from = f - std::min(f, beside);
        const float most = std::ranges::max(explained.subspan(from, f + beside + 1 - from));
        if (left[f] < most_left * most) continue;
        const std::int64_t frame = kept_first_ + static_cast<std::int64_t>(f);
        if (frame > open_until_) close();
        if (open_until_ < 0) open_until_ = frame + apart_;
        if (left[f] > open_.size) open_ = {frame, channels[f], left[f]};
    }
}

void unexplained_traces::close() {
    if (open_until_ >= 0) found_.push_back(open_);
    open_ = {};
    open_until_ = -1;
}

}  // namespace spikeweave::templates
