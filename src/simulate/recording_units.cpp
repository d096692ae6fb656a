#include "simulate/recording_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "simulate/random_values.hpp"
#include "spikeweave/core/random.hpp"

namespace spikeweave::simulate {
namespace {

// Units of the truth lie in front of the probe and up to this far beyond its contacts.
constexpr double margin_um = 10;

// Intervals within bursts are uniform, from 3 ms or the dead time to 3 ms more.
constexpr double burst_gap_range_us = 3000;
double shortest_gap_us(double dead_us) {
    constexpr double shortest_us = 3000;
    return std::max(shortest_us, dead_us);
}
double mean_gap_us(double dead_us) {
    return shortest_gap_us(dead_us) + burst_gap_range_us / 2;
}

double distance2(const simulated_unit& unit, double x_um, double y_um) {
    return squared(x_um - unit.x_um) + squared(y_um - unit.y_um);
}

// Places units around the probe and apart from each other as long as there is room.
simulated_unit place_apart(random_stream& random, std::span<const recording_unit> others,
                           double right, double top) {
    constexpr double apart_um = 15;
    constexpr int most_tries = 100;
    simulated_unit best;
    double best_apart = -1;
    for (int i = 0; i < most_tries && best_apart < squared(apart_um); ++i) {
        const simulated_unit tried{.x_um = between(random, -margin_um, right),
                                   .y_um = between(random, -margin_um, top),
                                   .depth_um = between(random, 8, 25)};
        double nearest = std::numeric_limits<double>::infinity();
        for (const recording_unit& other : others)
            nearest = std::min(nearest, distance2(other.what, tried.x_um, tried.y_um));
        if (nearest > best_apart) {
            best_apart = nearest;
            best = tried;
        }
    }
    return best;
}

// Places a unit beside one that it will resemble.
simulated_unit place_beside(random_stream& random, const simulated_unit& other, std::uint32_t u) {
    constexpr double beside_um = 15;
    simulated_unit unit;
    unit.x_um = other.x_um + between(random, -beside_um, beside_um);
    unit.y_um = other.y_um + between(random, -beside_um, beside_um);
    unit.depth_um = std::max(5.0, other.depth_um + between(random, -4, 4));
    unit.like = u;
    return unit;
}

// Background units are far in front of the probe and around it.
simulated_unit place_far(random_stream& random, double right, double top) {
    constexpr double around_um = 40;
    return {.x_um = between(random, -margin_um - around_um, right + around_um),
            .y_um = between(random, -margin_um - around_um, top + around_um),
            .depth_um = between(random, 40, 80)};
}

std::uint32_t nearest_channel(const simulated_unit& unit,
                              std::span<const recording_channel> channels) {
    std::uint32_t best = 0;
    double nearest = std::numeric_limits<double>::infinity();
    for (std::uint32_t c = 0; c < channels.size(); ++c) {
        const double d2 = distance2(unit, channels[c].x_um, channels[c].y_um);
        if (d2 < nearest) best = c;
        nearest = std::min(nearest, d2);
    }
    return best;
}

// The largest deflection in a unit's direction on a channel, without noise, for a peak of 1.
double extreme_on(const recording_unit& unit, const unit_field& field, double dx_um, double dy_um) {
    constexpr double step_us = 5;
    const waveform_part soma = field.soma(dx_um, dy_um);
    const waveform_part back = field.returning(dx_um, dy_um);
    const double sign = unit.shape.kind == waveform_kind::positive ? 1 : -1;
    double largest = 0;
    for (double t_us = -unit.shape.begin_us(); t_us < unit.shape.end_us(); t_us += step_us) {
        const double sum =
            soma.size * unit.shape.value(t_us, soma.wide) +
            back.size * unit.shape.value(t_us + soma.later_us - back.later_us, back.wide);
        largest = std::max(largest, sign * sum);
    }
    return largest;
}

// Stretched fields are not always largest on the nearest contact, and the return current takes
// some of the amplitude.
void find_peak(recording_unit& unit, std::span<const recording_channel> channels) {
    const unit_field field = field_of(unit, channels);
    const auto extreme = [&](std::size_t c) {
        return extreme_on(unit, field, channels[c].x_um - unit.what.x_um,
                          channels[c].y_um - unit.what.y_um);
    };
    constexpr double reached_um = 60;
    const recording_channel& nearest = channels[unit.what.channel];
    std::uint32_t best = unit.what.channel;
    double largest = extreme(best);
    for (std::uint32_t c = 0; c < channels.size(); ++c) {
        if (squared(channels[c].x_um - nearest.x_um) + squared(channels[c].y_um - nearest.y_um) >
            squared(reached_um))
            continue;
        const double here = extreme(c);
        if (here > largest) best = c;
        largest = std::max(largest, here);
    }
    unit.what.channel = best;
    const unit_field centred = field_of(unit, channels);
    unit.shape.scale = 1 / extreme_on(unit, centred, channels[best].x_um - unit.what.x_um,
                                      channels[best].y_um - unit.what.y_um);
}

struct unit_drawing {
    const recording_options& options;
    recording_realism realism;
    std::span<const recording_channel> channels;
    double right;
    double top;
};

double draw(random_stream& random, unit_distribution distribution, double low, double high) {
    return distribution == unit_distribution::uniform ? between(random, low, high)
                                                      : lognormal(random, low, high);
}

// Draws an earlier unit that resembles no other one yet, if there is one, so that most similar
// units are pairs.
std::uint32_t draw_original(random_stream& random, std::span<const recording_unit> units) {
    std::vector<bool> has_likeness(units.size());
    for (std::uint32_t u = 0; u < units.size(); ++u)
        if (units[u].what.like) has_likeness[u] = has_likeness[*units[u].what.like] = true;
    std::vector<std::uint32_t> originals;
    for (std::uint32_t u = 0; u < units.size(); ++u)
        if (!has_likeness[u]) originals.push_back(u);
    if (originals.empty()) return static_cast<std::uint32_t>(random.below(units.size()));
    return originals[random.below(originals.size())];
}

unit_drawing drawing_of(const recording_options& options,
                        std::span<const recording_channel> channels) {
    return {.options = options,
            .realism = realism_of(options),
            .channels = channels,
            .right = channels[options.columns - 1].x_um + margin_um,
            .top = channels.back().y_um + margin_um};
}

void place_units(std::vector<recording_unit>& units, const unit_drawing& how) {
    const recording_options& options = how.options;
    random_stream random(options.seed, random_purpose::recording_units, 0);
    for (std::uint32_t u = 0; u < options.units; ++u) {
        random_stream likeness(options.seed, random_purpose::recording_likeness, u, 0);
        recording_unit unit;
        if (u > 0 && likeness.uniform() < how.realism.similar) {
            const std::uint32_t other = draw_original(likeness, units);
            unit.what = place_beside(likeness, units[other].what, other);
        } else {
            unit.what = place_apart(random, units, how.right, how.top);
        }
        unit.what.channel = nearest_channel(unit.what, how.channels);
        units.push_back(std::move(unit));
    }
}

bool fires_bursts(std::uint32_t u, double rate_hz, const unit_drawing& how) {
    random_stream random(how.options.seed, random_purpose::recording_bursts, u, 0);
    const auto dead_us = static_cast<double>(how.options.refractory.count());
    // Units that fire as fast as in a burst all the time have none.
    return random.uniform() < how.realism.bursting && 1e6 / rate_hz > mean_gap_us(dead_us);
}

void shape_units(std::vector<recording_unit>& units, const unit_drawing& how) {
    const recording_options& options = how.options;
    random_stream random(options.seed, random_purpose::recording_units, 1);
    for (std::uint32_t u = 0; u < units.size(); ++u) {
        recording_unit& unit = units[u];
        unit.what.rate_hz = between(random, options.low_hz, options.high_hz);
        unit.what.peak_uv = between(random, options.low_uv, options.high_uv);
        unit.shape = draw_broad_waveform(random);
        if (how.realism.distribution == unit_distribution::lognormal) {
            random_stream own(options.seed, random_purpose::recording_shapes, u, 0);
            unit.what.rate_hz = lognormal(own, options.low_hz, options.high_hz);
            unit.what.peak_uv = lognormal(own, options.low_uv, options.high_uv);
        }
        if (how.realism.waveforms == waveform_variety::varied) {
            random_stream own(options.seed, random_purpose::recording_shapes, u, 1);
            unit.shape = draw_varied_waveform(own);
        }
        if (unit.what.like) {
            random_stream likeness(options.seed, random_purpose::recording_likeness, u, 1);
            const recording_unit& other = units[*unit.what.like];
            unit.what.peak_uv = other.what.peak_uv * between(likeness, 0.8, 1.25);
            unit.shape = draw_similar_waveform(likeness, other.shape);
        }
        unit.what.waveform = unit.shape.kind;
        unit.what.bursting = fires_bursts(u, unit.what.rate_hz, how);
    }
}

void add_background(std::vector<recording_unit>& units, const unit_drawing& how) {
    const auto count = static_cast<std::uint32_t>(how.realism.background *
                                                  static_cast<double>(how.channels.size()));
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto u = static_cast<std::uint32_t>(units.size());
        random_stream random(how.options.seed, random_purpose::recording_shapes, u);
        recording_unit unit;
        unit.what = place_far(random, how.right, how.top);
        unit.what.rate_hz =
            draw(random, how.realism.distribution, how.options.low_hz, how.options.high_hz);
        unit.what.peak_uv = how.options.low_uv * between(random, 0.1, 0.4);
        unit.shape = how.realism.waveforms == waveform_variety::varied
                         ? draw_varied_waveform(random)
                         : draw_broad_waveform(random);
        unit.what.channel = nearest_channel(unit.what, how.channels);
        units.push_back(std::move(unit));
    }
}

// A unit's bursts. A spike takes a part of the current amplitude, and the deficit falls to a
// quarter in 40 ms.
struct burst_plan {
    double share = 0;  // of events that are bursts
    double drop = 0;

    static constexpr double recovery_us = 40'000;
    static constexpr std::uint64_t most_more = 4;  // spikes after the first one, at least 1
    double mean_more() const { return share * (1 + most_more) / 2; }
};

burst_plan plan_bursts(random_stream& random) {
    random.uniform();  // decided whether the unit fires bursts
    burst_plan plan;
    plan.share = between(random, 0.3, 0.8);
    plan.drop = between(random, 0.15, 0.35);
    return plan;
}

}  // namespace

recording_realism realism_of(const recording_options& options) {
    const bool easy = options.difficulty == recording_difficulty::easy;
    return {.distribution = options.distribution.value_or(easy ? unit_distribution::uniform
                                                               : unit_distribution::lognormal),
            .waveforms = options.waveforms.value_or(easy ? waveform_variety::alike
                                                         : waveform_variety::varied),
            .similar = options.similar.value_or(easy ? 0 : 0.3),
            .bursting = options.bursting.value_or(easy ? 0 : 0.3),
            .background = options.background.value_or(easy ? 0 : 2),
            .spectrum =
                options.spectrum.value_or(easy ? noise_spectrum::white : noise_spectrum::coloured)};
}

unit_field field_of(const recording_unit& unit, std::span<const recording_channel> channels) {
    const recording_channel& channel = channels[unit.what.channel];
    return {unit.shape, unit.what.depth_um, channel.x_um - unit.what.x_um,
            channel.y_um - unit.what.y_um};
}

std::vector<recording_unit> first_units(const recording_options& options,
                                        std::span<const recording_channel> channels) {
    const unit_drawing how = drawing_of(options, channels);
    std::vector<recording_unit> units;
    place_units(units, how);
    shape_units(units, how);
    for (std::uint32_t u = 0; u < units.size(); ++u) {
        units[u].name = u;
        units[u].seed = options.seed;
    }
    return units;
}

std::vector<recording_unit> make_units(const recording_options& options,
                                       std::span<const recording_channel> channels) {
    auto [units, moved_um] = units_of_session(options, channels);
    const std::size_t of_truth = units.size();
    const unit_drawing how = drawing_of(options, channels);
    add_background(units, how);
    for (std::size_t u = of_truth; u < units.size(); ++u) units[u].what.y_um += moved_um;
    if (options.session > 1)
        for (recording_unit& unit : units) unit.what.channel = nearest_channel(unit.what, channels);
    if (how.realism.waveforms == waveform_variety::varied)
        for (recording_unit& unit : units) find_peak(unit, channels);
    return units;
}

void draw_times(recording_unit& unit, std::uint32_t u, const recording_options& options) {
    const auto end_us = static_cast<double>(options.length.count());
    const auto dead_us = static_cast<double>(options.refractory.count());
    random_stream random(seed_of_session(options), random_purpose::recording_spikes, u);
    random_stream bursts(unit.seed, random_purpose::recording_bursts, u, 0);
    burst_plan plan;
    if (unit.what.bursting) plan = plan_bursts(bursts);
    if (options.session > 1)
        bursts = random_stream(seed_of_session(options), random_purpose::recording_bursts, u, 1);
    const double mean_us = 1e6 / unit.what.rate_hz - dead_us +
                           plan.mean_more() * (1e6 / unit.what.rate_hz - mean_gap_us(dead_us));
    std::uint64_t left = 0;  // spikes of the burst after this one
    const auto begin_event = [&] {
        const bool is_burst = plan.share > 0 && bursts.uniform() < plan.share;
        left = is_burst ? 1 + bursts.below(burst_plan::most_more) : 0;
    };
    begin_event();
    for (double at = random.exponential() * mean_us; at < end_us;) {
        unit.times_us.push_back(static_cast<std::int64_t>(at));
        if (left > 0) {
            --left;
            at += shortest_gap_us(dead_us) + burst_gap_range_us * bursts.uniform();
            continue;
        }
        // Spikes are at least a microsecond apart, because spikes of a unit at one time would be
        // merged.
        at = std::max(at + 1, at + dead_us + random.exponential() * mean_us);
        begin_event();
    }
}

void draw_sizes(recording_unit& unit, std::uint32_t u, const recording_options& options) {
    random_stream bursts(unit.seed, random_purpose::recording_bursts, u, 0);
    const double drop = unit.what.bursting ? plan_bursts(bursts).drop : 0;
    random_stream random(seed_of_session(options), random_purpose::recording_sizes, u);
    const auto jitter = static_cast<float>(options.amplitude_jitter);
    unit.sizes.resize(unit.times_us.size());
    double missing = 0;
    for (std::size_t i = 0; i < unit.sizes.size(); ++i) {
        if (i > 0 && drop > 0) {
            const auto passed_us = static_cast<double>(unit.times_us[i] - unit.times_us[i - 1]);
            missing =
                (missing + drop * (1 - missing)) / squared(1 + passed_us / burst_plan::recovery_us);
        }
        unit.sizes[i] = std::max(0.0F, 1 + jitter * nearly_normal_float(random)) *
                        static_cast<float>(1 - missing);
    }
}

}  // namespace spikeweave::simulate
