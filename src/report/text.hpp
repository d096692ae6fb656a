#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "spikeweave/core/time.hpp"

namespace spikeweave::report {

/// Formats six digits: more than the precision of a null model, and equal on every machine.
std::string number_text(double value);
/// The same, or "-" for what is not known.
std::string known_number(double value);
/// Formats three digits; smaller values become "< 1e-300".
std::string p_text(double p);
/// Formats exact milliseconds without a unit.
std::string milliseconds(duration d);
std::string_view yes_no(bool value);
/// Returns "1 edge", "2 edges".
std::string plural(std::size_t n, std::string_view one, std::string_view many);
/// Escapes "&" as "&amp;" and so on.
std::string xml_escaped(std::string_view text);
/// Counts characters, not bytes.
std::size_t length_of(std::string_view utf8);

}  // namespace spikeweave::report
