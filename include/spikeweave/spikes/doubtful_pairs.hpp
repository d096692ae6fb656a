#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/core/export.hpp"

/// Pairs of units of a sorter that may not be two neurons (docs/algorithms/doubtful-pairs.md).
namespace spikeweave {

/// Why two units may not be two neurons.
enum class unit_doubt : std::uint8_t {
    one_neuron,  ///< both may have spikes of the same neuron
    cross_talk,  ///< one may have what was left when the spikes of the other were subtracted
};
inline constexpr std::array unit_doubts{unit_doubt::one_neuron, unit_doubt::cross_talk};

/// "possibly-one-neuron", "cross-talk".
SPIKEWEAVE_API std::string_view to_string(unit_doubt why);
/// The column of a table of units that names, for each unit, the others of such pairs:
/// "possibly_one_neuron_with", "cross_talk_with".
SPIKEWEAVE_API std::string_view column_of(unit_doubt why);

/// Two units, by their names.
struct doubtful_pair {
    std::string one{};
    std::string other{};
    unit_doubt why = unit_doubt::one_neuron;

    friend bool operator==(const doubtful_pair&, const doubtful_pair&) = default;
};

/// The cells of this column for units of these names: the names of the others, with ", " between
/// them.
SPIKEWEAVE_API std::vector<std::string> cells_of(std::span<const doubtful_pair> pairs,
                                                 std::span<const std::string> units,
                                                 unit_doubt why);
/// The pairs that such cells name, each once; names that no unit has are passed over.
/// @param cells  one for each unit, or none
SPIKEWEAVE_API std::vector<doubtful_pair> pairs_in(std::span<const std::string> cells,
                                                   std::span<const std::string> units,
                                                   unit_doubt why);

/// Whether two units fire within 0.6 to 2.5 ms of each other far less often than within 3 to 15 ms,
/// as the parts of a burst do that are taken for two units. Spikes that are nearer collide, and are
/// not always found.
/// @param a_us, b_us  the times of their spikes, ascending
SPIKEWEAVE_API bool share_refractory_period(std::span<const std::int64_t> a_us,
                                            std::span<const std::int64_t> b_us);

/// Whether two units may be one neuron: their templates are alike, and they fire together far less
/// often than by chance; or they are nearly equal, and share a refractory period, or fire together
/// more often than by chance, but not more than the spikes of bursts of one of them, of which some
/// may be in the other. Chance is what pairs that are 30 to 80 ms apart lead one to expect.
/// @param similarity  the largest correlation of the two templates over lags, -1 to 1
SPIKEWEAVE_API bool may_be_one_neuron(double similarity, std::span<const std::int64_t> a_us,
                                      std::span<const std::int64_t> b_us);

/// Whether units whose templates overlap may have cross-talk: a tenth or more of the spikes of the
/// rarer one follow or precede those of the other at a lag, of 0.4 to 5 ms, that varies less than a
/// synapse's, as what is left of a spike does.
SPIKEWEAVE_API bool may_be_cross_talk(std::span<const std::int64_t> a_us,
                                      std::span<const std::int64_t> b_us);

}  // namespace spikeweave
