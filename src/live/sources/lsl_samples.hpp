#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "live/sources/known_units.hpp"
#include "live/sources/source.hpp"
#include "live/sources/stream_clock.hpp"

namespace spikeweave::live {

/// Makes blocks of the samples of a stream of LSL, each of which is a spike: its value is the unit.
/// Where the clock was set (`stream_clock`), a new epoch begins.
class lsl_samples {
public:
    /// Times are at most this far from 0, so that sums of a few of them do not overflow.
    static constexpr std::int64_t most_time_us = std::int64_t{1} << 60;
    static constexpr std::size_t longest_name = 256;

    /// @param unit_names  units that are known before they appear
    /// @param lateness    as of `stream_clock`
    explicit lsl_samples(std::vector<std::string> unit_names, duration lateness = duration{0})
        : units_(std::move(unit_names)), clock_(lateness) {}

    const std::vector<std::string>& unit_names() const { return units_.names(); }

    /// @param name  of the unit: printable UTF-8 of at most 256 bytes; other text is unreadable
    void take(double time_s, std::string_view name);
    /// @param number  of the unit, whose name is the number; negative ones are unreadable
    void take(double time_s, std::int64_t number);
    /// Samples may have been lost before the next one.
    void add_loss();
    /// The connection broke, so samples may have been lost, and a new epoch begins.
    void connection_broke();

    /// The next block of what has been taken. Spikes after a loss are in a block of their own.
    std::optional<source_block> next();

private:
    void take_unreadable();
    void begin_block();
    void begin_epoch();

    known_units units_;
    stream_clock clock_;
    source_block current_{};
    std::deque<source_block> complete_{};
};

}  // namespace spikeweave::live
