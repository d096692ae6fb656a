#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "spikeweave/core/export.hpp"

namespace spikeweave {

/// Every time is a whole number of microseconds, so that no floating-point times are ever compared.
/// The literal 5ms converts to it, 5ns does not.
using duration = std::chrono::duration<std::int64_t, std::micro>;

/// Converts seconds, as users and files state them, to the nearest microsecond (ties to even).
/// @throws invalid_argument if `seconds` is not finite or beyond ±292,000 years.
SPIKEWEAVE_API duration duration_from_seconds(double seconds);

/// Converts a time to seconds, with a single rounding: 100 ms is 0.1.
constexpr double to_seconds(duration d) {
    return static_cast<double>(d.count()) / 1e6;
}

/// Reads a time with its unit: "5ms", "0.5 s", "250us", "5000ns", "2min", "1h". A bare number other
/// than 0 is refused, because its unit would be a guess. Decimal fractions are exact; a time that
/// is not a whole number of microseconds is refused.
/// @throws invalid_argument with the text and the expected form.
SPIKEWEAVE_API duration parse_duration(std::string_view text);

/// Formats a time in its shortest exact form in us, ms or s: "5 ms", "1.5 s", "40 us".
SPIKEWEAVE_API std::string format_duration(duration d);

/// Formats a time roughly, as "3 s", "2 min 10 s", "1 h 5 min", "12 days" or "40 years".
SPIKEWEAVE_API std::string format_rough_time(double seconds);

/// A closed interval of time [begin, end], counted from the recording's first sample.
struct time_span {
    duration begin{0};
    duration end{0};

    constexpr duration length() const { return end - begin; }
    friend constexpr bool operator==(const time_span&, const time_span&) = default;
};

}  // namespace spikeweave
