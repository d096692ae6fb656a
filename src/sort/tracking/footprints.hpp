#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/sort/tracking.hpp"

namespace spikeweave::sessions {

/// The mean waveform of a unit on all channels of a session.
struct placed_unit {
    std::size_t frames = 0;
    std::vector<float> values{};            ///< channels x frames
    std::vector<std::uint32_t> channels{};  ///< those that it was known on
    double norm = 0;
    double x_um = 0;  ///< mean place of the channels, weighted by the squares of their peaks
    double y_um = 0;
    std::span<const double> autocorrelogram{};
};

/// @param half  null: the whole session
placed_unit place_unit(const sorted_session& in, const unit_footprint& unit,
                       std::optional<std::size_t> half = {});

/// The units as they would be if the tissue had not moved up by so much. Nothing is known of
/// contacts that were beyond the ends of the probe then, so these are 0.
std::vector<placed_unit> units_before_motion(const sorted_session& in, double moved_um,
                                             const execution& run);
/// The units on those contacts alone of which something is known after this motion.
std::vector<placed_unit> units_to_compare(const sorted_session& in, double moved_um);

/// How alike two units are.
struct likeness {
    double similarity = 0;
    double distance_um = 0;
    double log_amplitude_ratio = 0;
    std::optional<double> overlap{};
};
likeness compare_units(const placed_unit& one, const placed_unit& other);

/// Units that are further apart cannot be one neuron, in micrometres.
double reach_of(const sorted_session& in);

/// How far the tissue has moved up along the probe from one session to the other.
double motion_between(const sorted_session& one, const sorted_session& other, const execution& run);

}  // namespace spikeweave::sessions
