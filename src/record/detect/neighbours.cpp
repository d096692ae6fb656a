#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "record/detect/detect.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

double distance(const recording_channel& a, const recording_channel& b) {
    return std::hypot(a.x_um - b.x_um, a.y_um - b.y_um);
}

double usual_distance(const std::vector<recording_channel>& channels) {
    std::vector<double> nearest;
    nearest.reserve(channels.size());
    for (std::size_t c = 0; c < channels.size(); ++c) {
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t other = 0; other < channels.size(); ++other)
            if (other != c && channels[other].shank == channels[c].shank)
                least = std::min(least, distance(channels[c], channels[other]));
        if (std::isfinite(least)) nearest.push_back(least);
    }
    if (nearest.empty()) return 0;
    const auto middle = nearest.begin() + static_cast<std::ptrdiff_t>((nearest.size() - 1) / 2);
    std::nth_element(nearest.begin(), middle, nearest.end());
    return *middle;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> neighbours_of(
    const std::vector<recording_channel>& channels, double neighbour_um) {
    if (!(neighbour_um >= 0) || !std::isfinite(neighbour_um))
        throw invalid_argument(
            fmt::format("neighbours up to {} um (expected at least 0)", neighbour_um));
    constexpr double diagonal_too = 1.5;
    const double reach = neighbour_um > 0 ? neighbour_um : diagonal_too * usual_distance(channels);
    std::vector<std::vector<std::uint32_t>> out(channels.size());
    for (std::size_t c = 0; c < channels.size(); ++c)
        for (std::size_t other = 0; other < channels.size(); ++other)
            if (other != c && channels[other].shank == channels[c].shank &&
                distance(channels[c], channels[other]) <= reach)
                out[c].push_back(static_cast<std::uint32_t>(other));
    return out;
}

namespace record {

std::vector<std::vector<std::uint32_t>> described_channels_of(
    const std::vector<recording_channel>& channels, std::uint32_t most) {
    std::vector<std::vector<std::uint32_t>> out;
    if (most == 0 || most >= channels.size()) return out;
    for (const recording_channel& at : channels) {
        std::vector<std::uint32_t> nearest(channels.size());
        std::iota(nearest.begin(), nearest.end(), 0U);
        std::ranges::stable_sort(nearest, {}, [&](std::uint32_t c) {
            return std::pair{channels[c].shank != at.shank, distance(channels[c], at)};
        });
        nearest.resize(most);
        std::ranges::sort(nearest);
        out.push_back(std::move(nearest));
    }
    return out;
}

}  // namespace record

}  // namespace spikeweave
