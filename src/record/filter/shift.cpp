#include "record/filter/trace_recipe.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace spikeweave {
namespace record {
namespace {

constexpr std::size_t most_sources = 16;
constexpr double reach_um = 20;
constexpr double own_noise = 0.01;
constexpr std::size_t frames_at_once = 64;

struct spot {
    double x_um;
    double y_um;
};

// Similarity of what two places see.
double similarity(const spot& a, const spot& b) {
    const double x = a.x_um - b.x_um;
    const double y = a.y_um - b.y_um;
    return std::exp(-(x * x + y * y) / (2 * reach_um * reach_um));
}

spot spot_of(const recording_channel& channel) {
    return {channel.x_um, channel.y_um};
}

// Weights that predict what `target` sees from what the places see, for a signal whose covariance
// is the kernel (simple kriging).
Eigen::VectorXd weights_for(const spot& target, std::span<const spot> from) {
    const auto count = static_cast<Eigen::Index>(from.size());
    Eigen::MatrixXd between(count, count);
    Eigen::VectorXd towards(count);
    for (Eigen::Index i = 0; i < count; ++i) {
        const spot& one = from[static_cast<std::size_t>(i)];
        for (Eigen::Index j = 0; j < count; ++j)
            between(i, j) = similarity(one, from[static_cast<std::size_t>(j)]);
        between(i, i) += own_noise;
        towards[i] = similarity(one, target);
    }
    return between.llt().solve(towards);
}

}  // namespace

motion_shift::motion_shift(std::shared_ptr<const probe_motion> moved, const recording& from,
                           std::vector<bool> live)
    : moved_(std::move(moved)),
      channels_(from.channels()),
      live_(std::move(live)),
      rate_hz_(from.rate_hz()) {}

void motion_shift::apply(std::uint64_t first, std::span<float> frames) const {
    const std::size_t channels = channels_.size();
    const std::size_t count = frames.size() / channels;
    const auto bin_at = [&](std::size_t frame) {
        return moved_->bin_of(static_cast<double>(first + frame) / rate_hz_);
    };
    for (std::size_t at = 0; at < count;) {
        const std::size_t bin = bin_at(at);
        const std::size_t begin = at;
        while (at < count && bin_at(at) == bin) ++at;
        displaced_contacts(channels_, live_, *moved_, bin)
            .apply(frames.subspan(begin * channels, (at - begin) * channels));
    }
}

}  // namespace record

displaced_contacts::displaced_contacts(std::span<const recording_channel> channels,
                                       const std::vector<bool>& live, const probe_motion& moved,
                                       std::size_t bin)
    : sources_(std::min(record::most_sources, channels.size())),
      from_(channels.size() * sources_),
      weights_(channels.size() * sources_) {
    for (std::uint32_t c = 0; c < channels.size(); ++c) {
        if (live[c]) {
            mix_into(c, moved.at(bin, channels[c].y_um), channels, live);
        } else {
            from_[c * sources_] = c;
            weights_[c * sources_] = 1;
        }
    }
}

// Takes from the nearest live channels of the shank.
void displaced_contacts::mix_into(std::uint32_t channel, double moved_um,
                                  std::span<const recording_channel> channels,
                                  const std::vector<bool>& live) {
    const recording_channel& own = channels[channel];
    const record::spot target{own.x_um, own.y_um + moved_um};
    std::vector<std::pair<double, std::uint32_t>> nearest;
    for (std::uint32_t c = 0; c < channels.size(); ++c)
        if (live[c] && channels[c].shank == own.shank)
            nearest.emplace_back(
                std::hypot(channels[c].x_um - target.x_um, channels[c].y_um - target.y_um), c);
    const std::size_t count = std::min(sources_, nearest.size());
    std::partial_sort(nearest.begin(), nearest.begin() + static_cast<std::ptrdiff_t>(count),
                      nearest.end());
    std::vector<record::spot> places;
    for (std::size_t i = 0; i < count; ++i)
        places.push_back(record::spot_of(channels[nearest[i].second]));
    const Eigen::VectorXd weights = record::weights_for(target, places);
    for (std::size_t i = 0; i < count; ++i) {
        from_[channel * sources_ + i] = nearest[i].second;
        weights_[channel * sources_ + i] =
            static_cast<float>(weights[static_cast<Eigen::Index>(i)]);
    }
}

void displaced_contacts::apply(std::span<float> frames) const {
    using row = std::array<float, record::frames_at_once>;
    const std::size_t channels = from_.size() / sources_;
    const std::size_t count = frames.size() / channels;
    std::vector<row> from(channels);
    for (std::size_t at = 0; at < count; at += record::frames_at_once) {
        const std::size_t some = std::min(record::frames_at_once, count - at);
        float* const here = frames.data() + at * channels;
        for (std::size_t f = 0; f < some; ++f)
            for (std::size_t c = 0; c < channels; ++c) from[c][f] = here[f * channels + c];
        for (std::size_t c = 0; c < channels; ++c) {
            row sums{};
            for (std::size_t k = c * sources_; k < (c + 1) * sources_; ++k) {
                const row& source = from[from_[k]];
                for (std::size_t f = 0; f < record::frames_at_once; ++f)
                    sums[f] += weights_[k] * source[f];
            }
            for (std::size_t f = 0; f < some; ++f) here[f * channels + c] = sums[f];
        }
    }
}

}  // namespace spikeweave
