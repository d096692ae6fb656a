#include "spikeweave/core/length.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/text.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {

double parse_length(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, double>, 4> units_um{
        {{"um", 1.0}, {"\u00b5m", 1.0}, {"\u03bcm", 1.0}, {"mm", 1000.0}}};
    const std::string_view body = core::trimmed(text, " ");
    double number = 0;
    const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), number);
    if (error == std::errc{} && std::isfinite(number)) {
        const auto used = static_cast<std::size_t>(end - body.data());
        const std::string_view unit = core::trimmed(body.substr(used), " ");
        if (unit.empty() && number == 0) return 0;
        for (const auto& [name, um] : units_um)
            if (unit == name) return number * um;
    }
    throw invalid_argument(fmt::format(
        "'{}' is not a length (expected a number with its unit, such as 20um or 0.4mm)", text));
}

std::string format_length(double um) {
    return fmt::format("{:g} um", um);
}

}  // namespace spikeweave
