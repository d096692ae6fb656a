#pragma once

#include <string>
#include <string_view>

#include "spikeweave/core/export.hpp"

namespace spikeweave {

/// Reads a length with its unit, um, µm (with either letter) or mm: "20um", "-7.5 um", "0.4mm". A
/// bare number other than 0 is refused, because its unit would be a guess.
/// @return micrometres
/// @throws invalid_argument with the text and the expected form.
SPIKEWEAVE_API double parse_length(std::string_view text);

/// Formats a length in micrometres as "20 um".
SPIKEWEAVE_API std::string format_length(double um);

}  // namespace spikeweave
