#include "sort/tracking/footprints.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parallel/parallel_for.hpp"
#include "spikeweave/record/motion.hpp"

namespace spikeweave::sessions {
namespace {

// Sorters time the spikes of a unit by different channels, so waveforms are shifted by up to so
// many frames.
constexpr std::ptrdiff_t most_frames_apart = 3;

// The distance of a contact from its nearest neighbour, in the middle of all.
double spacing_of(std::span<const recording_channel> channels) {
    std::vector<double> nearest;
    for (const recording_channel& one : channels) {
        double best = std::numeric_limits<double>::infinity();
        for (const recording_channel& other : channels)
            if (&one != &other && one.shank == other.shank)
                best = std::min(best, std::hypot(one.x_um - other.x_um, one.y_um - other.y_um));
        if (std::isfinite(best) && best > 0) nearest.push_back(best);
    }
    if (nearest.empty()) return 0;
    std::ranges::nth_element(nearest,
                             nearest.begin() + static_cast<std::ptrdiff_t>(nearest.size() / 2));
    return nearest[nearest.size() / 2];
}

double height_of(const sorted_session& in) {
    const auto y = [](const recording_channel& channel) { return channel.y_um; };
    const auto [low, high] = std::ranges::minmax_element(in.channels, {}, y);
    return low == in.channels.end() ? 0 : high->y_um - low->y_um;
}

// Fills what follows from the values.
void measure(const sorted_session& in, placed_unit& unit) {
    double energy = 0;
    double weights = 0;
    for (std::size_t c = 0; c < in.channels.size(); ++c) {
        double peak = 0;
        for (const float value : std::span(unit.values).subspan(c * in.frames, in.frames)) {
            peak = std::max(peak, static_cast<double>(value) * value);
            energy += static_cast<double>(value) * value;
        }
        weights += peak;
        unit.x_um += peak * in.channels[c].x_um;
        unit.y_um += peak * in.channels[c].y_um;
    }
    unit.norm = std::sqrt(energy);
    if (!(weights > 0)) return;
    unit.x_um /= weights;
    unit.y_um /= weights;
}

// Whether a contact is over the probe still if it moves by so much.
std::vector<bool> stays_on_probe(const sorted_session& in, double moved_um) {
    const double spacing = spacing_of(in.channels);
    std::vector<bool> out;
    for (const recording_channel& one : in.channels)
        out.push_back(moved_um == 0 || std::ranges::any_of(in.channels, [&](const auto& other) {
                          return one.shank == other.shank &&
                                 std::hypot(one.x_um - other.x_um,
                                            one.y_um + moved_um - other.y_um) <= spacing;
                      }));
    return out;
}

void blank(const sorted_session& in, const std::vector<bool>& is_known, placed_unit& unit) {
    for (std::size_t c = 0; c < is_known.size(); ++c)
        if (!is_known[c])
            std::fill_n(unit.values.begin() + static_cast<std::ptrdiff_t>(c * in.frames), in.frames,
                        0.0F);
    const double whole = unit.norm;
    unit.x_um = unit.y_um = 0;
    measure(in, unit);
    // Less than half of it cannot be compared.
    if (unit.norm * unit.norm < whole * whole / 2) unit.norm = 0;
}

// How well the units of one session are found among those of another.
double agreement(std::span<const placed_unit> units, std::span<const placed_unit> others,
                 double reach_um) {
    // Units that are only somewhat alike are neighbours.
    constexpr double steepness = 8;
    double sum = 0;
    for (const placed_unit& one : units) {
        double best = 0;
        for (const placed_unit& other : others) {
            if (std::hypot(one.x_um - other.x_um, one.y_um - other.y_um) > reach_um) continue;
            const likeness found = compare_units(one, other);
            best = std::max(best, std::pow(found.similarity, steepness) *
                                      std::exp(-std::abs(found.log_amplitude_ratio)));
        }
        sum += best;
    }
    return sum;
}

}  // namespace

placed_unit place_unit(const sorted_session& in, const unit_footprint& unit,
                       std::optional<std::size_t> half) {
    placed_unit out{.frames = in.frames,
                    .values = std::vector<float>(in.channels.size() * in.frames),
                    .channels = unit.channels};
    const std::vector<float>& mean = half ? unit.halves[*half] : unit.mean;
    const std::size_t channels = unit.channels.size();
    for (std::size_t f = 0; f < in.frames; ++f)
        for (std::size_t k = 0; k < channels; ++k)
            out.values[unit.channels[k] * in.frames + f] = mean[f * channels + k];
    measure(in, out);
    if (!half) out.autocorrelogram = unit.autocorrelogram;
    return out;
}

std::vector<placed_unit> units_before_motion(const sorted_session& in, double moved_um,
                                             const execution& run) {
    std::vector<placed_unit> out(in.units.size());
    const std::size_t channels = in.channels.size();
    const probe_motion moved{.model = motion_model::rigid,
                             .times_s = {0},
                             .depths_um = {0},
                             .displacement_um = {moved_um}};
    const displaced_contacts contacts(in.channels, std::vector<bool>(channels, true), moved, 0);
    const std::vector<bool> is_known = stays_on_probe(in, moved_um);
    parallel::parallel_for(in.units.size(), run, "moving units", [&](std::size_t u) {
        out[u] = place_unit(in, in.units[u]);
        if (moved_um == 0) return;
        std::vector<float> by_frame(channels * in.frames);
        for (std::size_t c = 0; c < channels; ++c)
            for (std::size_t f = 0; f < in.frames; ++f)
                by_frame[f * channels + c] = out[u].values[c * in.frames + f];
        contacts.apply(by_frame);
        for (std::size_t c = 0; c < channels; ++c)
            for (std::size_t f = 0; f < in.frames; ++f)
                out[u].values[c * in.frames + f] = by_frame[f * channels + c];
        out[u].x_um = out[u].y_um = 0;
        measure(in, out[u]);
        blank(in, is_known, out[u]);
    });
    return out;
}

std::vector<placed_unit> units_to_compare(const sorted_session& in, double moved_um) {
    const std::vector<bool> is_known = stays_on_probe(in, moved_um);
    std::vector<placed_unit> out;
    for (const unit_footprint& unit : in.units) {
        out.push_back(place_unit(in, unit));
        blank(in, is_known, out.back());
    }
    return out;
}

likeness compare_units(const placed_unit& one, const placed_unit& other) {
    likeness out{.distance_um = std::hypot(one.x_um - other.x_um, one.y_um - other.y_um)};
    if (!(one.norm > 0 && other.norm > 0)) return out;
    out.log_amplitude_ratio = std::log(other.norm / one.norm);
    const auto frames = static_cast<std::ptrdiff_t>(one.frames);
    double best = 0;
    for (std::ptrdiff_t shift = -most_frames_apart; shift <= most_frames_apart; ++shift) {
        double sum = 0;
        for (const std::uint32_t c : one.channels) {
            const float* const a = one.values.data() + c * one.frames;
            const float* const b = other.values.data() + c * one.frames + shift;
            const std::ptrdiff_t end = std::min(frames, frames - shift);
            float of_channel = 0;
            for (std::ptrdiff_t f = std::max<std::ptrdiff_t>(0, -shift); f < end; ++f)
                of_channel += a[f] * b[f];
            sum += of_channel;
        }
        best = std::max(best, sum);
    }
    out.similarity = std::min(1.0, best / (one.norm * other.norm));
    if (!one.autocorrelogram.empty() && !other.autocorrelogram.empty()) {
        double overlap = 0;
        for (std::size_t i = 0; i < one.autocorrelogram.size(); ++i)
            overlap += std::sqrt(one.autocorrelogram[i] * other.autocorrelogram[i]);
        out.overlap = overlap;
    }
    return out;
}

double reach_of(const sorted_session& in) {
    constexpr double least_um = 50;
    return std::max(least_um, 2.5 * spacing_of(in.channels));
}

double motion_between(const sorted_session& one, const sorted_session& other,
                      const execution& run) {
    // Between contacts further apart than this, waveforms cannot be interpolated.
    constexpr double widest_spacing_um = 75;
    constexpr double least_height_um = 50;
    constexpr double farthest_um = 200;
    constexpr double coarse_um = 10;
    constexpr double fine_um = 2;
    const double height = height_of(one);
    if (height < least_height_um || spacing_of(one.channels) > widest_spacing_um) return 0;
    const double reach_um = 2 * spacing_of(one.channels);
    const auto best_of = [&](double middle, double range, double step) {
        const auto steps = static_cast<std::int64_t>(std::floor(range / step));
        std::vector<double> found(static_cast<std::size_t>(2 * steps + 1));
        parallel::parallel_for(found.size(), run, "finding the motion", [&](std::size_t i) {
            const double moved =
                middle + step * static_cast<double>(static_cast<std::int64_t>(i) - steps);
            found[i] = agreement(
                units_to_compare(one, moved),
                units_before_motion(other, moved, {.threads = 1, .stop = run.stop}), reach_um);
        });
        const auto best = std::ranges::max_element(found) - found.begin();
        return middle + step * static_cast<double>(best - steps);
    };
    const double coarse = best_of(0, std::min(farthest_um, height / 2), coarse_um);
    return best_of(coarse, coarse_um, fine_um);
}

}  // namespace spikeweave::sessions
