#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "live/arming/arming.hpp"

namespace spikeweave::live {

/// A change of what is armed, as a row in the file of a session.
struct recorded_arming {
    std::int64_t input = 0;
    std::int64_t epoch = 0;
    std::int64_t from_us = 0;
    std::int64_t window_epoch = 0;
    std::int64_t window = 0;
    std::int64_t due_us = 0;
    bool is_late = false;
    std::string armed{};     ///< JSON: a list of [number, expected per minute, episode]
    std::string disarmed{};  ///< JSON: a list of numbers
    std::string refused{};   ///< JSON: a list of [by chance, expected per minute, episode]

    stream_position from() const { return {static_cast<std::uint64_t>(epoch), from_us}; }
    friend bool operator==(const recorded_arming&, const recorded_arming&) = default;
};

/// @param input          the block in which it took effect
/// @param names_as_json  of all units
recorded_arming record_of(const arming_change& change, std::int64_t input,
                          const std::vector<std::string>& names_as_json);

/// The change that a row tells of.
/// @param number      of the row, from 0
/// @param unit_names  of all units
/// @throws invalid_argument if the row is damaged.
arming_change change_of(const recorded_arming& row, std::uint64_t number,
                        const std::vector<std::string>& unit_names);

}  // namespace spikeweave::live
