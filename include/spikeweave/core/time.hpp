#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace spikeweave {

/// All time is a whole number of microseconds: no floating-point time is ever compared. 5ms
/// converts, 5ns does not.
using duration = std::chrono::duration<std::int64_t, std::micro>;

/// Seconds as users and files know them, rounded to the nearest microsecond (ties to even).
/// @throws invalid_argument if not finite or beyond ±292,000 years.
duration duration_from_seconds(double seconds);

/// The same time in seconds, rounded once: 100 ms is 0.1.
constexpr double to_seconds(duration d) {
    return static_cast<double>(d.count()) / 1e6;
}

/// Reads "5ms", "0.5 s", "250us", "2min", "1h"; a bare number is refused, except 0, because its
/// unit would be a guess. Decimal fractions are exact; what does not come to a whole number of
/// microseconds is refused.
/// @throws invalid_argument with the text and what was expected.
duration parse_duration(std::string_view text);

/// The shortest exact form in us, ms or s: "5 ms", "1.5 s", "40 us".
std::string format_duration(duration d);

/// A closed stretch of time [begin, end] since the recording's first sample.
struct time_span {
    duration begin{0};
    duration end{0};

    constexpr duration length() const { return end - begin; }
    friend constexpr bool operator==(const time_span&, const time_span&) = default;
};

}  // namespace spikeweave
