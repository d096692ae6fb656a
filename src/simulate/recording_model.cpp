#include "simulate/recording_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/stop.hpp"
#include "simulate/random_values.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/spikes/files.hpp"

namespace spikeweave::simulate {
namespace {

constexpr std::size_t block_frames = recording_noise::block_frames;
// The longest time before and after its trough that a spike lasts anywhere on the probe.
constexpr double longest_us = 5000;

const recording_options& checked(const recording_options& options) {
    check_options(options);
    if (options.columns > options.channels)
        throw invalid_argument(fmt::format("{} columns of contacts for {} channels",
                                           options.columns, options.channels));
    check_range("low_rate", options.low_hz, "high_rate", options.high_hz);
    check_range("low_peak", options.low_uv, "high_peak", options.high_uv);
    double highest_hz = options.high_hz;
    if (realism_of(options).distribution == unit_distribution::lognormal) {
        highest_hz *= std::sqrt(options.high_hz / options.low_hz);
        if (options.low_uv == 0)
            throw invalid_argument("a lognormal distribution needs a `low_peak` above 0");
    }
    if (to_seconds(options.refractory) * highest_hz >= 1)
        throw invalid_argument(fmt::format("a unit cannot fire at {:.6g} Hz with a dead time of {}",
                                           highest_hz, format_duration(options.refractory)));
    return options;
}

std::uint64_t frames_of(const recording_options& options) {
    const auto frames = static_cast<std::uint64_t>(to_seconds(options.length) * options.rate_hz);
    if (frames == 0) throw invalid_argument("a recording without a single sample");
    return frames;
}

spike_sequence given_spikes(const recording_options& options, const execution& run) {
    if (options.spikes.empty()) return {};
    spike_sequence spikes = read_spikes(options.spikes, {}, run).spikes;
    if (spikes.empty())
        throw invalid_argument(
            fmt::format("'{}' holds no spikes, expected those of a recording to be simulated",
                        options.spikes.string()));
    return spikes;
}

// The options with what the spikes of the file decide.
recording_options fitted(recording_options options, const spike_sequence& given) {
    if (given.empty()) return options;
    options.units = static_cast<std::uint32_t>(given.unit_count());
    options.length = std::chrono::ceil<std::chrono::seconds>(given.span().end - given.span().begin);
    if (options.length == duration{0}) options.length = std::chrono::seconds{1};
    return options;
}

std::vector<recording_channel> contacts_of(const recording_options& options) {
    std::vector<recording_channel> channels;
    for (std::uint32_t c = 0; c < options.channels; ++c) {
        const std::uint32_t row = c / options.columns;
        channels.push_back({.name = std::to_string(c),
                            .gain_uv = options.gain_uv,
                            .x_um = options.pitch_um * (c % options.columns),
                            .y_um = options.pitch_um * row});
    }
    return channels;
}

}  // namespace

// A block that is being made.
struct recording_model::samples {
    std::uint64_t first;
    std::size_t frames;
    std::vector<float> by_channel;
};

recording_model::recording_model(const recording_options& options, const execution& run)
    : given_(given_spikes(options, run)),
      options_(checked(fitted(options, given_))),
      frames_(frames_of(options_)),
      channels_(contacts_of(options_)),
      units_(make_units(options_, channels_)),
      noise_(options_, channels_) {
    truth_.motion = motion_of(options_);
    draw_spikes(run);
    for (std::uint32_t u = 0; u < options_.units; ++u) truth_.units.push_back(units_[u].what);
}

recording_description recording_model::description() const {
    return {.channels = channels_,
            .rate_hz = options_.rate_hz,
            .format = recording_format::binary,
            .positions = position_source::file};
}

void recording_model::take_given_times() {
    const std::int64_t begin_us = given_.span().begin.count();
    for (std::size_t i = 0; i < given_.size(); ++i)
        units_[to_index(given_.units()[i])].times_us.push_back(given_.times_us()[i] - begin_us);
    for (std::uint32_t u = 0; u < given_.unit_count(); ++u)
        units_[u].what.rate_hz =
            static_cast<double>(units_[u].times_us.size()) / to_seconds(options_.length);
}

void recording_model::draw_spikes(const execution& run) {
    std::vector<std::pair<std::int64_t, unit_id>> all;
    std::vector<std::string> names = given_.unit_names();
    take_given_times();
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
        core::throw_if_stopped(run.stop);
        const bool is_given = !given_.empty() && u < options_.units;
        if (!is_given) draw_times(units_[u], u, options_);
        draw_sizes(units_[u], u, options_);
        if (u >= options_.units) continue;
        if (!is_given) names.push_back(std::to_string(units_[u].name));
        for (const std::int64_t time_us : units_[u].times_us) all.emplace_back(time_us, unit_id{u});
    }
    truth_.spikes = sequence_of(std::move(all), std::move(names), {duration{0}, options_.length});
}

std::size_t recording_model::block_count() const {
    return static_cast<std::size_t>((frames_ + block_frames - 1) / block_frames);
}

std::vector<std::int16_t> recording_model::block(std::size_t i) const {
    const std::uint64_t first = i * block_frames;
    const auto frames =
        static_cast<std::size_t>(std::min<std::uint64_t>(block_frames, frames_ - first));
    const std::size_t channels = channels_.size();
    samples made{first, frames, std::vector<float>(channels * frames)};
    noise_.add(i, frames, made.by_channel);
    for (const recording_unit& unit : units_) add_spikes(unit, made);

    std::vector<std::int16_t> out(channels * frames);
    const auto per_uv = static_cast<float>(1 / options_.gain_uv);
    constexpr float lowest = std::numeric_limits<std::int16_t>::min();
    constexpr float highest = std::numeric_limits<std::int16_t>::max();
    for (std::size_t c = 0; c < channels; ++c)
        for (std::size_t f = 0; f < frames; ++f)
            out[f * channels + c] = static_cast<std::int16_t>(std::nearbyint(
                std::clamp(made.by_channel[c * frames + f] * per_uv, lowest, highest)));
    return out;
}

void recording_model::add_spikes(const recording_unit& unit, samples& to) const {
    const auto time_of = [&](std::uint64_t frame) {
        return static_cast<double>(frame) * (1e6 / options_.rate_hz);
    };
    const unit_field field = field_of(unit, channels_);
    const auto& times = unit.times_us;
    const auto begin = std::lower_bound(times.begin(), times.end(),
                                        static_cast<std::int64_t>(time_of(to.first) - longest_us));
    const double end_us = time_of(to.first + to.frames) + longest_us;
    for (auto at = begin; at != times.end() && static_cast<double>(*at) < end_us; ++at)
        add_spike(unit, field, static_cast<std::size_t>(at - times.begin()), to);
}

void recording_model::add_spike(const recording_unit& unit, const unit_field& field,
                                std::size_t spike, samples& to) const {
    const auto time_us = static_cast<double>(unit.times_us[spike]);
    const double moved_um = displacement_um(truth_.motion, time_us);
    const double size = unit.what.peak_uv * unit.sizes[spike];
    for (std::size_t c = 0; c < channels_.size(); ++c) {
        const double dx_um = channels_[c].x_um - unit.what.x_um;
        const double dy_um = channels_[c].y_um - unit.what.y_um - moved_um;
        float* const out = to.by_channel.data() + c * to.frames;
        add_part(unit.shape, field.soma(dx_um, dy_um), size, time_us, out, to);
        if (field.has_return())
            add_part(unit.shape, field.returning(dx_um, dy_um), size, time_us, out, to);
    }
}

void recording_model::add_part(const unit_waveform& shape, const waveform_part& part, double size,
                               double time_us, float* out, const samples& to) const {
    const double here_uv = size * part.size;
    // Amplitudes below a hundredth of a count are negligible.
    if (std::abs(here_uv) < options_.gain_uv / 100) return;
    const double frame_us = 1e6 / options_.rate_hz;
    const auto first = static_cast<double>(to.first);
    const double extreme_us = time_us + part.later_us;
    const double begin = (extreme_us - shape.begin_us() * part.wide) / frame_us - first;
    const double end = (extreme_us + shape.end_us() * part.wide) / frame_us - first;
    const auto from = static_cast<std::size_t>(std::max(0.0, std::ceil(begin)));
    for (std::size_t f = from; f < to.frames && static_cast<double>(f) < end; ++f) {
        const double t_us = static_cast<double>(to.first + f) * frame_us - extreme_us;
        out[f] += static_cast<float>(here_uv * shape.value(t_us, part.wide));
    }
}

namespace {

// The share of the variance of coloured noise that is white and independent on each channel.
constexpr double alone = 0.3;
// Coloured sources are drawn in pieces, so that a block can begin a few pieces early.
constexpr std::size_t piece_frames = 512;
static_assert(recording_noise::block_frames % piece_frames == 0);

double shared_sd(const recording_options& options, noise_spectrum spectrum) {
    return spectrum == noise_spectrum::white ? options.noise_uv
                                             : options.noise_uv * std::sqrt(1 - alone);
}

}  // namespace

coloured_filter::coloured_filter(double rate_hz) {
    constexpr double slow_s = 120e-6;  // corners at 1.3 and 4 kHz
    constexpr double fast_s = 40e-6;
    constexpr double forgotten = 40;  // time constants
    const double slow = slow_s / (slow_s + 1 / rate_hz);
    const double fast = fast_s / (fast_s + 1 / rate_hz);
    const double one = slow + fast;
    const double two = -slow * fast;
    a1 = static_cast<float>(one);
    a2 = static_cast<float>(two);
    scale =
        static_cast<float>(std::sqrt((1 + two) * (squared(1 - two) - squared(one)) / (1 - two)));
    settling = static_cast<std::size_t>(forgotten * slow_s * rate_hz) + 1;
}

// Spreads the source of each channel over its neighbours, so that the correlation of two channels
// decreases with their distance.
recording_noise::recording_noise(const recording_options& options,
                                 std::span<const recording_channel> channels)
    : seed_(seed_of_session(options)),
      spectrum_(realism_of(options).spectrum),
      filter_(options.rate_hz),
      alone_uv_(static_cast<float>(options.noise_uv * std::sqrt(alone))),
      shares_(channels.size()) {
    for (std::uint32_t c = 0; c < channels.size(); ++c) {
        double sum = 0;
        std::vector<std::pair<std::uint32_t, double>> weights;
        for (std::uint32_t other = 0; other < channels.size(); ++other) {
            const double d2 = squared(channels[c].x_um - channels[other].x_um) +
                              squared(channels[c].y_um - channels[other].y_um);
            const double reach2 = squared(options.noise_reach_um);
            if (other != c && d2 >= reach2) continue;
            const double weight = other == c ? 1 : squared(1 - d2 / reach2);
            weights.emplace_back(other, weight);
            sum += weight * weight;
        }
        const double scale = shared_sd(options, spectrum_) / std::sqrt(sum);
        for (const auto& [other, weight] : weights)
            shares_[c].push_back({other, static_cast<float>(weight * scale)});
    }
}

void recording_noise::add(std::size_t block, std::size_t frames,
                          std::vector<float>& by_channel) const {
    const bool is_white = spectrum_ == noise_spectrum::white;
    std::vector<float> sources(by_channel.size());
    for (std::uint32_t c = 0; c < shares_.size(); ++c) {
        const std::span source(sources.data() + c * frames, frames);
        if (is_white)
            draw_white(c, block, source);
        else
            draw_coloured(c, block, source);
    }
    spread(sources, frames, by_channel);
    if (is_white) return;
    std::vector<float> white(frames);
    for (std::uint32_t c = 0; c < shares_.size(); ++c) {
        draw_white(c, block, white);
        for (std::size_t f = 0; f < frames; ++f) by_channel[c * frames + f] += alone_uv_ * white[f];
    }
}

void recording_noise::spread(const std::vector<float>& sources, std::size_t frames,
                             std::vector<float>& by_channel) const {
    for (std::size_t c = 0; c < shares_.size(); ++c)
        for (const share& from : shares_[c]) {
            const float* const in = sources.data() + from.channel * frames;
            float* const out = by_channel.data() + c * frames;
            for (std::size_t f = 0; f < frames; ++f) out[f] += from.weight * in[f];
        }
}

void recording_noise::draw_white(std::uint32_t channel, std::size_t block,
                                 std::span<float> out) const {
    random_stream random(seed_, random_purpose::recording_noise, channel,
                         static_cast<std::uint32_t>(block));
    for (float& sample : out) sample = nearly_normal_float(random);
}

// The filter starts at rest so many pieces before the block that nothing is left of its start. It
// is therefore the same process in all blocks, whichever thread makes them.
void recording_noise::draw_coloured(std::uint32_t channel, std::size_t block,
                                    std::span<float> out) const {
    const std::size_t before = (filter_.settling + piece_frames - 1) / piece_frames;
    const std::size_t pieces = before + (out.size() + piece_frames - 1) / piece_frames;
    const std::size_t first = block * (block_frames / piece_frames);
    float last = 0;
    float last_but_one = 0;
    for (std::size_t i = 0; i < pieces; ++i) {
        random_stream random(seed_, random_purpose::recording_coloured_noise, channel,
                             static_cast<std::uint32_t>(first + i));
        for (std::size_t f = 0; f < piece_frames; ++f) {
            const float next = filter_.a1 * last + filter_.a2 * last_but_one +
                               filter_.scale * nearly_normal_float(random);
            last_but_one = std::exchange(last, next);
            const std::size_t at = i * piece_frames + f;
            if (i >= before && at - before * piece_frames < out.size())
                out[at - before * piece_frames] = next;
        }
    }
}

}  // namespace spikeweave::simulate
