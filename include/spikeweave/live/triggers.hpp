#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/time.hpp"

namespace spikeweave {

/// So many in a period, such as 10 in a second. Both are whole numbers, so that what is decided by
/// a rate is exact.
struct event_rate {
    std::uint64_t count = 0;
    duration period = std::chrono::seconds{1};

    friend bool operator==(const event_rate&, const event_rate&) = default;
};

/// Reads a rate such as "10/s", "0.5/min", "3/10s" or "5kHz".
/// @throws invalid_argument if the text is malformed, or the rate is 0 or too large.
SPIKEWEAVE_API event_rate parse_rate(std::string_view text);
/// Writes a rate in a form that `parse_rate` reads.
SPIKEWEAVE_API std::string format_rate(const event_rate& rate);

template <>
struct SPIKEWEAVE_API option_codec<event_rate> {
    static constexpr auto kind = option_kind::text;
    static option_value show(const event_rate& field) { return format_rate(field); }
    static event_rate read(const option_value& value) {
        return parse_rate(std::get<std::string>(value));
    }
};

/// When programs may act on a detection. All times are those of the recording, so a repetition
/// decides as the session did. Detections themselves do not depend on these options.
struct trigger_options {
    /// No trigger of the same episode or pattern within this time after the last one.
    duration hold_off{0};
    /// At most so many triggers of all episodes and patterns: as many at once, and from then on at
    /// this rate.
    std::optional<event_rate> max_triggers{};
    /// No trigger while the spikes of all units in the last `mute_window` are more than this.
    std::optional<event_rate> mute_above{};
    duration mute_window = std::chrono::milliseconds{100};
    /// The largest rate at which an armed episode or pattern may be expected by chance. Until the
    /// rates have been measured, there are no triggers.
    std::optional<event_rate> max_false_alarms{};
    /// The rates of the units, from which that follows, are measured over this time, again and
    /// again.
    duration rates_from = std::chrono::seconds{10};
};

SPIKEWEAVE_API option_list describe(trigger_options& options);

}  // namespace spikeweave
