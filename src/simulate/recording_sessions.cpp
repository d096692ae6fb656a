#include <algorithm>
#include <map>
#include <utility>

#include "simulate/random_values.hpp"
#include "simulate/recording_model.hpp"

namespace spikeweave::simulate {
namespace {

// A unit is drawn from the seed of its generation: the number of units that its place had before.
std::uint64_t seed_of(std::uint64_t seed, random_purpose purpose, std::uint32_t number) {
    return number == 0 ? seed : random_stream(seed, purpose, 0, number).next_u64();
}

// The units that come when those of the first session have gone.
class generations {
public:
    generations(const recording_options& options, std::span<const recording_channel> channels)
        : options_(options), channels_(channels) {}

    recording_unit unit(std::uint32_t u, std::uint32_t generation) {
        auto [found, is_new] = made_.try_emplace(generation);
        if (is_new) {
            recording_options own = options_;
            own.seed = seed_of(options_.seed, random_purpose::recording_sessions, generation);
            found->second = first_units(own, channels_);
        }
        recording_unit out = found->second[u];
        out.name = generation * options_.units + u;
        out.what.like.reset();  // that one may be another now
        return out;
    }

private:
    const recording_options& options_;
    std::span<const recording_channel> channels_;
    std::map<std::uint32_t, std::vector<recording_unit>> made_{};
};

// Draws a factor about 1.
double factor(random_stream& random, double change) {
    return lognormal(random, 1 / (1 + change), 1 + change);
}

void change_unit(random_stream& random, recording_unit& unit, const recording_options& options) {
    constexpr double places_um = 20;   // times the change
    constexpr double most_busy = 0.9;  // of the time is dead time
    const double change = options.session_change;
    unit.what.peak_uv *= factor(random, change);
    unit.what.rate_hz = std::min(unit.what.rate_hz * factor(random, change),
                                 most_busy / std::max(1e-9, to_seconds(options.refractory)));
    unit.what.x_um += between(random, -places_um, places_um) * change;
    unit.what.y_um += between(random, -places_um, places_um) * change;
    if (change > 0) unit.shape = draw_similar_waveform(random, unit.shape);
}

}  // namespace

session_units units_of_session(const recording_options& options,
                               std::span<const recording_channel> channels) {
    session_units out{first_units(options, channels)};
    generations later(options, channels);
    std::vector<std::uint32_t> generation(out.units.size());
    for (std::uint32_t s = 2; s <= options.session; ++s) {
        random_stream common(options.seed, random_purpose::recording_sessions, s);
        const double moved_um =
            between(common, -options.session_drift_um, options.session_drift_um);
        out.moved_um += moved_um;
        for (std::uint32_t u = 0; u < out.units.size(); ++u) {
            random_stream own(options.seed, random_purpose::recording_sessions, s, u + 1);
            recording_unit& unit = out.units[u];
            if (own.uniform() < options.turnover) {
                unit = later.unit(u, ++generation[u]);
                continue;
            }
            unit.what.y_um += moved_um;
            change_unit(own, unit, options);
        }
    }
    for (recording_unit& unit : out.units)
        if (unit.what.like && generation[*unit.what.like] > 0) unit.what.like.reset();
    return out;
}

std::uint64_t seed_of_session(const recording_options& options) {
    return seed_of(options.seed, random_purpose::recording_spikes, options.session - 1);
}

}  // namespace spikeweave::simulate
