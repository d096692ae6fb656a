#include "record/motion/peak_histograms.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "parallel/parallel_for.hpp"
#include "record/detect/detect.hpp"

namespace spikeweave::record {
namespace {

constexpr double seen_um = 75;
// Spikes decline with distance as Gaussians of one of these widths.
constexpr std::array<double, 4> widths_um{14, 20, 28, 40};
constexpr double searched_um = 40;
constexpr double step_um = 5;
constexpr auto steps = static_cast<std::size_t>(2 * searched_um / step_um) + 1;

// A channel near the peak of a spike, and how high the spike is there.
struct seen_height {
    double x_um;  ///< from the channel of the peak
    double y_um;
    double height;
};

// The similarity of heights to those of a Gaussian at this place: the cosine of their angle.
double likeness_of(std::span<const seen_height> seen, double x_um, double y_um, double width_um) {
    double product = 0;
    double square = 0;
    for (const seen_height& one : seen) {
        const double x = one.x_um - x_um;
        const double y = one.y_um - y_um;
        const double expected = std::exp(-(x * x + y * y) / (2 * width_um * width_um));
        product += expected * one.height;
        square += expected * expected;
    }
    return product / std::sqrt(square);
}

// Where along y a Gaussian is most like the heights, from the channel of the peak; beside it, it is
// at their centre of mass.
double depth_of(std::span<const seen_height> seen) {
    double mass = 0;
    double moment = 0;
    for (const seen_height& one : seen) {
        mass += one.height;
        moment += one.height * one.x_um;
    }
    double most = 0;
    double best_um = 0;
    for (const double width : widths_um) {
        std::array<double, steps> along{};
        for (std::size_t i = 0; i < steps; ++i)
            along[i] = likeness_of(seen, moment / mass,
                                   step_um * static_cast<double>(i) - searched_um, width);
        const auto top =
            static_cast<std::size_t>(std::max_element(along.begin(), along.end()) - along.begin());
        if (!(along[top] > most)) continue;
        most = along[top];
        double between = 0;
        if (top > 0 && top + 1 < steps) {
            const double bend = along[top - 1] - 2 * along[top] + along[top + 1];
            if (bend < 0) between = (along[top - 1] - along[top + 1]) / (2 * bend);
        }
        best_um = step_um * (static_cast<double>(top) + between) - searched_um;
    }
    return best_um;
}

// The channels of a shank near each channel, itself among them.
std::vector<std::vector<std::uint32_t>> near_channels(
    const std::vector<recording_channel>& channels, std::span<const double> noise) {
    std::vector<std::vector<std::uint32_t>> out(channels.size());
    for (std::size_t a = 0; a < channels.size(); ++a)
        for (std::uint32_t b = 0; b < channels.size(); ++b)
            if (noise[b] > 0 && channels[a].shank == channels[b].shank &&
                std::hypot(channels[a].x_um - channels[b].x_um,
                           channels[a].y_um - channels[b].y_um) <= seen_um)
                out[a].push_back(b);
    return out;
}

motion_peak locate(const event& of, std::span<const crossing> heights,
                   const filtered_recording& traces, std::span<const std::uint32_t> near) {
    const std::vector<recording_channel>& channels = traces.source().channels();
    const recording_channel& at = channels[of.channel];
    std::vector<seen_height> seen;
    auto peak = heights.begin();
    double square = 0;
    for (const std::uint32_t c : near) {
        while (peak != heights.end() && peak->channel < c) ++peak;
        const bool is_found = peak != heights.end() && peak->channel == c;
        const double height = is_found ? static_cast<double>(peak->height) : 0;
        square += height * height;
        seen.push_back(
            {channels[c].x_um - at.x_um, channels[c].y_um - at.y_um, height * traces.noise()[c]});
    }
    return {of.frame, static_cast<float>(at.y_um + depth_of(seen)),
            static_cast<float>(std::sqrt(square))};
}

}  // namespace

std::vector<motion_peak> motion_peaks_of(const recording& from, const detection_options& options,
                                         const execution& run) {
    const filtered_recording traces(from, options.preprocessing, run);
    const auto steps_of_traces = steps_for(traces, options, standard_block_frames, run);
    const found_events found = events_of(traces, *steps_of_traces, options, run);
    const auto near = near_channels(from.channels(), traces.noise());
    std::vector<motion_peak> out(found.events.size());
    parallel::parallel_for(out.size(), run, "motion", [&](std::size_t i) {
        const event& each = found.events[i];
        out[i] = locate(each, found.heights_of(each), traces, near[each.channel]);
    });
    return out;
}

}  // namespace spikeweave::record
