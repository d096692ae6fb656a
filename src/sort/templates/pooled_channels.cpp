#include "sort/templates/pooled_channels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace spikeweave::templates {
namespace {

constexpr double least_weight = 0.05;
constexpr double apart = std::numeric_limits<double>::infinity();

double distance_of(const recording_channel& a, const recording_channel& b) {
    return a.shank == b.shank ? std::hypot(a.x_um - b.x_um, a.y_um - b.y_um) : apart;
}

// The median distance of a channel to its nearest one.
double usual_distance_of(std::span<const recording_channel> channels) {
    std::vector<double> nearest(channels.size(), apart);
    for (std::size_t c = 0; c < channels.size(); ++c)
        for (std::size_t other = 0; other < channels.size(); ++other)
            if (other != c)
                nearest[c] = std::min(nearest[c], distance_of(channels[c], channels[other]));
    const auto middle = nearest.begin() + static_cast<std::ptrdiff_t>((nearest.size() - 1) / 2);
    std::nth_element(nearest.begin(), middle, nearest.end());
    return *middle;
}

}  // namespace

pooled_channels::pooled_channels(std::span<const recording_channel> channels) {
    if (channels.empty()) return;
    const double width = usual_distance_of(channels);
    for (const recording_channel& centre : channels) {
        std::vector<share>& own = shares_.emplace_back();
        double squares = 0;
        for (std::uint32_t other = 0; other < channels.size(); ++other) {
            const double distance = distance_of(centre, channels[other]);
            // Also where a channel is alone on its shank, or several are at the same place.
            const double weight =
                distance == 0 ? 1 : std::exp(-distance * distance / (2 * width * width));
            if (!(weight >= least_weight)) continue;
            own.push_back({other, static_cast<float>(weight)});
            squares += weight * weight;
        }
        for (share& one : own) one.weight /= static_cast<float>(std::sqrt(squares));
    }
}

channel_block pooled_channels::pool(const channel_block& traces) const {
    channel_block out{.first = traces.first,
                      .frames = traces.frames,
                      .apron = traces.apron,
                      .channels = traces.channels};
    out.values.resize(traces.values.size());
    for (std::size_t c = 0; c < shares_.size(); ++c) {
        const std::span<float> sum = out.on(c);
        for (const auto& [channel, weight] : shares_[c]) {
            const std::span<const float> from = traces.on(channel);
            for (std::size_t f = 0; f < sum.size(); ++f) sum[f] += weight * from[f];
        }
    }
    return out;
}

}  // namespace spikeweave::templates
