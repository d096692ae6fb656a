#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "spikeweave/core/time.hpp"

namespace spikeweave::report {

/// Six digits say more than a null model knows, and look the same on every machine.
std::string number_text(double value);
/// Three digits; "< 1e-300" for what is below.
std::string p_text(double p);
/// Milliseconds without a unit, exact.
std::string milliseconds(duration d);
std::string_view yes_no(bool value);
/// "1 edge", "2 edges".
std::string plural(std::size_t n, std::string_view one, std::string_view many);
/// "&amp;" and so on.
std::string xml_escaped(std::string_view text);
/// Characters, not bytes.
std::size_t length_of(std::string_view utf8);

}  // namespace spikeweave::report
