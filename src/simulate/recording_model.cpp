#include "simulate/recording_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/stop.hpp"
#include "simulate/drift.hpp"
#include "simulate/random_values.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"

namespace spikeweave::simulate {
namespace {

constexpr std::size_t block_frames = 4096;
// Spikes are conducted at half a metre per second.
constexpr double delay_us_per_um = 2;
constexpr double longest_delay_us = 500;
// The longest time before and after its trough that a spike lasts anywhere on the probe.
constexpr double longest_us = 3000;

void check(const recording_options& options) {
    check_options(options);
    if (options.columns > options.channels)
        throw invalid_argument(fmt::format("{} columns of contacts for {} channels",
                                           options.columns, options.channels));
    check_range("low_rate", options.low_hz, "high_rate", options.high_hz);
    check_range("low_peak", options.low_uv, "high_peak", options.high_uv);
    if (to_seconds(options.refractory) * options.high_hz >= 1)
        throw invalid_argument(fmt::format("a unit cannot fire at {} Hz with a dead time of {}",
                                           options.high_hz, format_duration(options.refractory)));
}

double squared(double x) {
    return x * x;
}

}  // namespace

double bump(double x) {
    const double left = 1 - x * x;
    return left <= 0 ? 0 : left * left * left;
}

recording_model::recording_model(const recording_options& options, const execution& run)
    : options_(options) {
    check(options);
    frames_ = static_cast<std::uint64_t>(to_seconds(options.length) * options.rate_hz);
    if (frames_ == 0) throw invalid_argument("a recording without a single sample");
    for (std::uint32_t c = 0; c < options.channels; ++c) {
        const std::uint32_t row = c / options.columns;
        channels_.push_back({.name = std::to_string(c),
                             .gain_uv = options.gain_uv,
                             .x_um = options.pitch_um * (c % options.columns),
                             .y_um = options.pitch_um * row});
    }
    truth_.motion = motion_of(options);
    place_units();
    shape_units();
    draw_spikes(run);
    correlate_noise();
}

recording_description recording_model::description() const {
    return {.channels = channels_,
            .rate_hz = options_.rate_hz,
            .format = recording_format::binary,
            .positions = position_source::file};
}

// Places units around the probe and apart from each other as long as there is room.
void recording_model::place_units() {
    constexpr double margin_um = 10;
    constexpr double apart_um = 15;
    constexpr int most_tries = 100;
    random_stream random(options_.seed, random_purpose::recording_units, 0);
    const double right = channels_[options_.columns - 1].x_um + margin_um;
    const double top = channels_.back().y_um + margin_um;
    for (std::uint32_t u = 0; u < options_.units; ++u) {
        simulated_unit best;
        double best_apart = -1;
        for (int i = 0; i < most_tries && best_apart < squared(apart_um); ++i) {
            const simulated_unit tried{.x_um = between(random, -margin_um, right),
                                       .y_um = between(random, -margin_um, top),
                                       .depth_um = between(random, 8, 25)};
            double nearest = std::numeric_limits<double>::infinity();
            for (const simulated_unit& other : truth_.units)
                nearest = std::min(
                    nearest, squared(other.x_um - tried.x_um) + squared(other.y_um - tried.y_um));
            if (nearest > best_apart) {
                best_apart = nearest;
                best = tried;
            }
        }
        double nearest = std::numeric_limits<double>::infinity();
        for (std::uint32_t c = 0; c < options_.channels; ++c) {
            const double d =
                squared(channels_[c].x_um - best.x_um) + squared(channels_[c].y_um - best.y_um);
            if (d < nearest) best.channel = c;
            nearest = std::min(nearest, d);
        }
        truth_.units.push_back(best);
    }
}

void recording_model::shape_units() {
    random_stream random(options_.seed, random_purpose::recording_units, 1);
    for (simulated_unit& what : truth_.units) {
        what.rate_hz = between(random, options_.low_hz, options_.high_hz);
        what.peak_uv = between(random, options_.low_uv, options_.high_uv);
        unit shape;
        shape.trough_us = between(random, 180, 360);
        shape.rebound_after_us = between(random, 350, 700);
        shape.rebound_us = between(random, 300, 550);
        shape.rebound_size = between(random, 0.15, 0.5);
        shape.reach_um = between(random, 28, 48);
        units_.push_back(shape);
    }
}

void recording_model::draw_spikes(const execution& run) {
    const auto end_us = options_.length.count();
    std::vector<std::pair<std::int64_t, unit_id>> all;
    std::vector<std::string> names;
    for (std::uint32_t u = 0; u < options_.units; ++u) {
        core::throw_if_stopped(run.stop);
        names.push_back(std::to_string(u));
        random_stream random(options_.seed, random_purpose::recording_spikes, u);
        const auto dead_us = static_cast<double>(options_.refractory.count());
        const double mean_us = 1e6 / truth_.units[u].rate_hz - dead_us;
        double at = random.exponential() * mean_us;
        while (at < static_cast<double>(end_us)) {
            const auto time_us = static_cast<std::int64_t>(at);
            units_[u].times_us.push_back(time_us);
            all.emplace_back(time_us, unit_id{u});
            // Spikes are at least a microsecond apart, because spikes of a unit at one time would
            // be merged.
            at = std::max(at + 1, at + dead_us + random.exponential() * mean_us);
        }
        random_stream sizes(options_.seed, random_purpose::recording_sizes, u);
        units_[u].sizes.resize(units_[u].times_us.size());
        for (float& size : units_[u].sizes)
            size = std::max(0.0F, 1 + static_cast<float>(options_.amplitude_jitter) *
                                          nearly_normal_float(sizes));
    }
    truth_.spikes = sequence_of(std::move(all), std::move(names), {duration{0}, options_.length});
}

// Spreads the white noise of each channel over its neighbours, so that the correlation of two
// channels decreases with their distance.
void recording_model::correlate_noise() {
    noise_.resize(options_.channels);
    for (std::uint32_t c = 0; c < options_.channels; ++c) {
        double sum = 0;
        std::vector<std::pair<std::uint32_t, double>> weights;
        for (std::uint32_t other = 0; other < options_.channels; ++other) {
            const double d2 = squared(channels_[c].x_um - channels_[other].x_um) +
                              squared(channels_[c].y_um - channels_[other].y_um);
            const double reach2 = squared(options_.noise_reach_um);
            if (other != c && d2 >= reach2) continue;
            const double weight = other == c ? 1 : squared(1 - d2 / reach2);
            weights.emplace_back(other, weight);
            sum += weight * weight;
        }
        const double scale = options_.noise_uv / std::sqrt(sum);
        for (const auto& [other, weight] : weights)
            noise_[c].push_back({other, static_cast<float>(weight * scale)});
    }
}

std::size_t recording_model::block_count() const {
    return static_cast<std::size_t>((frames_ + block_frames - 1) / block_frames);
}

std::vector<std::int16_t> recording_model::block(std::size_t i) const {
    const std::uint64_t first = i * block_frames;
    const auto frames =
        static_cast<std::size_t>(std::min<std::uint64_t>(block_frames, frames_ - first));
    const std::size_t channels = channels_.size();
    std::vector<float> by_channel(channels * frames);
    add_noise(i, by_channel, frames);
    for (std::size_t u = 0; u < units_.size(); ++u) add_spikes(u, first, frames, by_channel);

    std::vector<std::int16_t> out(channels * frames);
    const auto per_uv = static_cast<float>(1 / options_.gain_uv);
    constexpr float lowest = std::numeric_limits<std::int16_t>::min();
    constexpr float highest = std::numeric_limits<std::int16_t>::max();
    for (std::size_t c = 0; c < channels; ++c)
        for (std::size_t f = 0; f < frames; ++f)
            out[f * channels + c] = static_cast<std::int16_t>(
                std::nearbyint(std::clamp(by_channel[c * frames + f] * per_uv, lowest, highest)));
    return out;
}

void recording_model::add_noise(std::size_t block, std::vector<float>& by_channel,
                                std::size_t frames) const {
    const auto number = static_cast<std::uint32_t>(block);
    std::vector<float> white(by_channel.size());
    for (std::uint32_t c = 0; c < channels_.size(); ++c) {
        random_stream random(options_.seed, random_purpose::recording_noise, c, number);
        for (std::size_t f = 0; f < frames; ++f)
            white[c * frames + f] = nearly_normal_float(random);
    }
    for (std::size_t c = 0; c < channels_.size(); ++c)
        for (const share& from : noise_[c]) {
            const float* const in = white.data() + from.channel * frames;
            float* const out = by_channel.data() + c * frames;
            for (std::size_t f = 0; f < frames; ++f) out[f] += from.weight * in[f];
        }
}

void recording_model::add_spikes(std::size_t u, std::uint64_t first, std::size_t frames,
                                 std::vector<float>& by_channel) const {
    const auto time_of = [&](std::uint64_t frame) {
        return static_cast<double>(frame) * (1e6 / options_.rate_hz);
    };
    const auto& times = units_[u].times_us;
    const auto begin = std::lower_bound(times.begin(), times.end(),
                                        static_cast<std::int64_t>(time_of(first) - longest_us));
    const double end_us = time_of(first + frames) + longest_us;
    for (auto at = begin; at != times.end() && static_cast<double>(*at) < end_us; ++at)
        add_spike(u, static_cast<std::size_t>(at - times.begin()), first, frames, by_channel);
}

void recording_model::add_spike(std::size_t u, std::size_t spike, std::uint64_t first,
                                std::size_t frames, std::vector<float>& by_channel) const {
    const unit& shape = units_[u];
    const simulated_unit& what = truth_.units[u];
    const double frame_us = 1e6 / options_.rate_hz;
    const auto time_us = static_cast<double>(shape.times_us[spike]);
    const double moved_um = displacement_um(truth_.motion, time_us);
    const auto fading = [&](std::size_t c, double moved, double& distance_um) {
        const double d2 = squared(channels_[c].x_um - what.x_um) +
                          squared(channels_[c].y_um - what.y_um - moved) + squared(what.depth_um);
        distance_um = std::sqrt(d2);
        return 1 / squared(1 + d2 / squared(shape.reach_um));
    };
    double nearest_um = 0;
    const double there = fading(what.channel, 0, nearest_um);
    for (std::size_t c = 0; c < channels_.size(); ++c) {
        double distance_um = 0;
        const double size =
            what.peak_uv * shape.sizes[spike] * (fading(c, moved_um, distance_um) / there);
        // Amplitudes below a hundredth of a count are negligible.
        if (size < options_.gain_uv / 100) continue;
        const double later_us = (distance_um - nearest_um) * delay_us_per_um;
        const double trough_us = time_us + std::min(later_us, longest_delay_us);
        const double last_us = shape.rebound_after_us + shape.rebound_us;
        const double begin = (trough_us - shape.trough_us) / frame_us - static_cast<double>(first);
        const double end = (trough_us + last_us) / frame_us - static_cast<double>(first);
        const auto from = static_cast<std::size_t>(std::max(0.0, std::ceil(begin)));
        for (std::size_t f = from; f < frames && static_cast<double>(f) < end; ++f) {
            const double t_us = static_cast<double>(first + f) * frame_us - trough_us;
            const double rebound = (t_us - shape.rebound_after_us) / shape.rebound_us;
            const double value = shape.rebound_size * bump(rebound) - bump(t_us / shape.trough_us);
            by_channel[c * frames + f] += static_cast<float>(size * value);
        }
    }
}

}  // namespace spikeweave::simulate
