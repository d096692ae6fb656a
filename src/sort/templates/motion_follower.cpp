#include "sort/templates/motion_follower.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "spikeweave/sort/online.hpp"

namespace spikeweave::templates {
namespace {

constexpr double motion_bin_s = 5;
// The displacements between which the slope of a template is measured.
constexpr double near_um = 2;
// Traces are interpolated where the tissue has moved, which changes waveforms more than so small a
// step does.
constexpr double least_step_um = 1;
constexpr double most_step_um = 10;
// The standard deviation of noise along a direction of norm 1: it is not white in time.
constexpr double noise_along_slope = 2.5;
constexpr double least_errors = 4;
// Products are summed in these parts.
constexpr double slope_parts = 1 << 20;

std::int64_t in_slope_parts(double value) {
    return std::llround(value * slope_parts);
}

displaced_contacts displaced_by(double um, std::span<const recording_channel> channels,
                                const std::vector<bool>& live) {
    const probe_motion moved{
        .model = motion_model::rigid, .times_s = {0}, .depths_um = {0}, .displacement_um = {um}};
    return {channels, live, moved, 0};
}

// Frames x all channels.
std::vector<float> displaced(std::vector<float> frames, const displaced_contacts& to) {
    to.apply(frames);
    return frames;
}

}  // namespace

motion_follower::motion_follower(std::span<const matched_filter> filters,
                                 const template_window& window,
                                 std::span<const recording_channel> channels,
                                 const std::vector<bool>& live, probe_motion known)
    : filters_(filters),
      before_(window.before),
      windows_(depth_windows_of(known.model, channels)),
      sums_(filters.size()),
      motion_(std::move(known)) {
    const displaced_contacts above = displaced_by(near_um, channels, live);
    const displaced_contacts below = displaced_by(-near_um, channels, live);
    for (const matched_filter& filter : filters)
        slopes_.push_back(slope_of(filter, channels, above, below));
}

motion_follower::slope motion_follower::slope_of(const matched_filter& filter,
                                                 std::span<const recording_channel> channels,
                                                 const displaced_contacts& above_it,
                                                 const displaced_contacts& below_it) const {
    std::vector<float> whole(filter.frames * channels.size());
    double energy = 0;
    double moment = 0;
    for (std::size_t c = 0; c < filter.channels.size(); ++c) {
        const std::uint32_t channel = filter.channels[c];
        const std::vector<float> values = waveform_of(filter, c, 0);
        for (std::size_t f = 0; f < filter.frames; ++f) {
            whole[f * channels.size() + channel] = values[f];
            energy += static_cast<double>(values[f]) * values[f];
            moment += static_cast<double>(values[f]) * values[f] * channels[channel].y_um;
        }
    }
    slope out;
    if (energy == 0) return out;
    out.depth_um = moment / energy;
    const std::vector<float> above = displaced(whole, above_it);
    const std::vector<float> below = displaced(whole, below_it);
    std::vector<double> changes;
    std::vector<double> own;
    double along = 0;
    for (std::size_t f = 0; f < filter.frames; ++f)
        for (const std::uint32_t channel : filter.channels) {
            const std::size_t at = f * channels.size() + channel;
            own.push_back(whole[at]);
            changes.push_back((static_cast<double>(below[at]) - above[at]) / (2 * near_um));
            along += own.back() * changes.back();
        }
    for (std::size_t i = 0; i < own.size(); ++i)
        out.values.push_back(static_cast<float>(changes[i] - along / energy * own[i]));
    for (std::size_t f = 0; f < filter.frames; ++f) {
        double sum = 0;
        for (const float x :
             std::span(out.values).subspan(f * filter.channels.size(), filter.channels.size()))
            sum += static_cast<double>(x) * x;
        out.energies.push_back(sum);
    }
    return out;
}

void motion_follower::add(const channel_block& left, std::size_t first, std::size_t frames,
                          std::span<const template_spike> spikes) {
    const auto origin = static_cast<std::int64_t>(left.first);
    const std::int64_t begin = origin + static_cast<std::int64_t>(first);
    const std::int64_t end = begin + static_cast<std::int64_t>(frames);
    for (const template_spike& spike : spikes) {
        const std::vector<std::uint32_t>& channels = filters_[spike.unit].channels;
        const slope& along = slopes_[spike.unit];
        const double amplitude = spike.amplitude;
        const std::int64_t from = spike.frame - before_;
        const std::int64_t last = std::min(end, from + std::ssize(along.energies));
        for (std::int64_t frame = std::max(begin, from); frame < last; ++frame) {
            const auto at = static_cast<std::size_t>(frame - origin);
            const auto own = static_cast<std::size_t>(frame - from);
            double product = 0;
            for (std::size_t c = 0; c < channels.size(); ++c)
                product += static_cast<double>(along.values[own * channels.size() + c]) *
                           left.on(channels[c])[at];
            sums_[spike.unit].product += in_slope_parts(amplitude * product);
            sums_[spike.unit].energy += in_slope_parts(amplitude * amplitude * along.energies[own]);
        }
    }
}

// The median over units, each with the weight of its evidence: a unit that has changed otherwise
// does not count. 0 if it may be noise.
double motion_follower::moved_um(const depth_window& window) const {
    std::vector<std::pair<double, double>> units;  // displacement and weight
    double all = 0;
    for (std::size_t u = 0; u < sums_.size(); ++u) {
        if (sums_[u].energy == 0) continue;
        const auto energy = static_cast<double>(sums_[u].energy);
        const double away = (slopes_[u].depth_um - window.middle_um) / window.width_um;
        const double weight = std::exp(-away * away / 2) * energy / slope_parts;
        units.emplace_back(static_cast<double>(sums_[u].product) / energy, weight);
        all += weight;
    }
    std::ranges::sort(units);
    double below = 0;
    for (const auto& [um, weight] : units) {
        below += weight;
        if (below < all / 2) continue;
        if (std::abs(um) <
            std::max(least_step_um, least_errors * noise_along_slope / std::sqrt(all)))
            break;
        return std::clamp(um, -most_step_um, most_step_um);
    }
    return 0;
}

void motion_follower::begin_bin() {
    ++bin_;
    if (motion_.times_s.size() == bin_) {
        const std::size_t last = motion_.displacement_um.size() - windows_.size();
        for (std::size_t w = 0; w < windows_.size(); ++w)
            motion_.displacement_um.push_back(motion_.displacement_um[last + w] +
                                              moved_um(windows_[w]));
        motion_.times_s.push_back((static_cast<double>(bin_) + 0.5) * motion_.time_bin_s);
    }
    std::ranges::fill(sums_, evidence{});
}

}  // namespace spikeweave::templates

namespace spikeweave {

probe_motion unmoved(const recording_description& of, motion_model model) {
    // Whole blocks of the sorter.
    const auto block = static_cast<double>(online_sorter::block_frames(of.rate_hz));
    const double bin_frames = std::round(templates::motion_bin_s * of.rate_hz / block) * block;
    probe_motion out{.model = model == motion_model::automatic ? motion_model_for(of) : model,
                     .time_bin_s = bin_frames / of.rate_hz};
    for (const depth_window& each : depth_windows_of(out.model, of.channels)) {
        out.depths_um.push_back(each.middle_um);
        out.displacement_um.push_back(0);
    }
    if (!out.empty()) out.times_s.push_back(out.time_bin_s / 2);
    return out;
}

}  // namespace spikeweave
