#include <algorithm>
#include <cmath>
#include <limits>

#include "record/motion/peak_histograms.hpp"
#include "record/motion/register.hpp"
#include "spikeweave/record/motion.hpp"

namespace spikeweave {

using record::displacements_of;
using record::motion_histograms_of;
using record::motion_peaks_of;
using record::solve_displacements;

namespace {

struct depth_range {
    double low_um = std::numeric_limits<double>::infinity();
    double high_um = -std::numeric_limits<double>::infinity();

    double span_um() const { return high_um - low_um; }
};

depth_range depths_of(std::span<const recording_channel> channels) {
    depth_range out;
    for (const recording_channel& channel : channels) {
        out.low_um = std::min(out.low_um, channel.y_um);
        out.high_um = std::max(out.high_um, channel.y_um);
    }
    return out;
}

// The largest gap between the depths of channels.
double largest_gap_um(const std::vector<recording_channel>& channels) {
    std::vector<double> depths;
    depths.reserve(channels.size());
    for (const recording_channel& channel : channels) depths.push_back(channel.y_um);
    std::sort(depths.begin(), depths.end());
    double gap = 0;
    for (std::size_t i = 1; i < depths.size(); ++i) gap = std::max(gap, depths[i] - depths[i - 1]);
    return gap;
}

}  // namespace

template <>
enum_table<motion_model> enum_names<motion_model>() {
    using enum motion_model;
    static constexpr named_value<motion_model> values[]{
        {automatic, "automatic"}, {none, "none"}, {rigid, "rigid"}, {blocks, "blocks"}};
    return {"model of the drift", values};
}

// Gaussians overlap, evenly from end to end.
std::vector<depth_window> depth_windows_of(motion_model model,
                                           std::span<const recording_channel> channels) {
    constexpr double apart_um = 400;
    constexpr double width_um = 200;
    if (model == motion_model::none || channels.empty()) return {};
    const depth_range depths = depths_of(channels);
    const double middle = (depths.low_um + depths.high_um) / 2;
    if (model == motion_model::rigid) return {{middle, std::numeric_limits<double>::infinity()}};
    const auto count =
        static_cast<std::size_t>(std::max(1.0, std::round(depths.span_um() / apart_um)));
    const double step = depths.span_um() / static_cast<double>(count);
    std::vector<depth_window> out;
    for (std::size_t i = 0; i < count; ++i)
        out.push_back({depths.low_um + (static_cast<double>(i) + 0.5) * step, width_um});
    return out;
}

std::size_t probe_motion::bin_of(double time_s) const {
    const double bin = std::max(0.0, std::floor(time_s / time_bin_s));
    return std::min(times_s.size() - 1, static_cast<std::size_t>(bin));
}

double probe_motion::at(std::size_t bin, double depth_um) const {
    const double* const row = displacement_um.data() + bin * depths_um.size();
    const auto above = static_cast<std::size_t>(
        std::upper_bound(depths_um.begin(), depths_um.end(), depth_um) - depths_um.begin());
    if (above == 0) return row[0];
    if (above == depths_um.size()) return row[above - 1];
    const double share =
        (depth_um - depths_um[above - 1]) / (depths_um[above] - depths_um[above - 1]);
    return row[above - 1] + share * (row[above] - row[above - 1]);
}

double probe_motion::range_um() const {
    constexpr std::size_t extreme = 50;
    double most = 0;
    std::vector<double> one(times_s.size());
    for (std::size_t w = 0; w < depths_um.size(); ++w) {
        for (std::size_t t = 0; t < one.size(); ++t)
            one[t] = displacement_um[t * depths_um.size() + w];
        std::sort(one.begin(), one.end());
        const std::size_t left_out = one.size() / extreme;
        most = std::max(most, one[one.size() - 1 - left_out] - one[left_out]);
    }
    return most;
}

motion_model motion_model_for(const recording_description& of) {
    constexpr std::size_t fewest_channels = 16;
    constexpr double shortest_um = 100;
    constexpr double widest_gap_um = 50;
    constexpr double blocks_from_um = 1000;
    if (of.positions == position_source::assumed || of.channels.size() < fewest_channels)
        return motion_model::none;
    const double span = depths_of(of.channels).span_um();
    if (!(span >= shortest_um) || largest_gap_um(of.channels) > widest_gap_um)
        return motion_model::none;
    return span >= blocks_from_um ? motion_model::blocks : motion_model::rigid;
}

probe_motion estimate_motion(const recording& from, const detection_options& detection,
                             const motion_options& options, const execution& run) {
    check_options(options);
    probe_motion out{.model = options.model, .time_bin_s = to_seconds(options.time_bin)};
    if (out.model == motion_model::automatic) out.model = motion_model_for(from.description());
    if (out.model == motion_model::none || from.frame_count() == 0) return out;
    const double length_s = static_cast<double>(from.frame_count()) / from.rate_hz();
    const auto times =
        std::max<std::size_t>(1, static_cast<std::size_t>(length_s / out.time_bin_s));
    const depth_range depths = depths_of(from.channels());
    const auto histograms =
        motion_histograms_of(motion_peaks_of(from, detection, run), times,
                             out.time_bin_s * from.rate_hz(), depths.low_um, depths.high_um);
    const std::vector<depth_window> windows = depth_windows_of(out.model, from.channels());
    out.displacement_um =
        solve_displacements(displacements_of(histograms, windows, run), times, run);
    for (std::size_t t = 0; t < times; ++t)
        out.times_s.push_back((static_cast<double>(t) + 0.5) * out.time_bin_s);
    for (const depth_window& each : windows) out.depths_um.push_back(each.middle_um);
    return out;
}

}  // namespace spikeweave
