#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "mine/spade/devices/pattern_input.hpp"

namespace spikeweave::spade {

/// The arrays of some patterns, without offsets.
struct pattern_output {
    std::span<std::uint32_t> sizes;
    std::span<std::uint32_t> counts;
    std::span<std::uint32_t> items;
    std::span<std::uint32_t> occurrences;  ///< empty if they are not wanted
};

/// A device that searches one recording below one group of roots after another. It counts the
/// patterns of each task, and then searches once more to write them.
class pattern_device {
public:
    pattern_device() = default;
    virtual ~pattern_device() = default;
    pattern_device(const pattern_device&) = delete;
    pattern_device& operator=(const pattern_device&) = delete;

    /// The largest memory of a group in bytes.
    virtual std::uint64_t most_group_bytes() const = 0;
    /// The most numbers of output that the device holds at once.
    virtual std::uint64_t most_numbers() const = 0;
    /// Searches below these roots. @throws cancelled
    virtual std::vector<task_totals> count(const pattern_group& group,
                                           const std::stop_token& stop) = 0;
    /// Writes the patterns of the tasks [first, last) of this group.
    /// @param places  of all tasks, relative to the first one of these
    /// @param end     where the output ends
    /// @throws cancelled
    virtual void write(std::uint64_t first, std::uint64_t last, std::span<const task_place> places,
                       const task_place& end, const std::stop_token& stop) = 0;
    /// Reads the patterns written from a place on, as much of each array as there is room for. May
    /// be called by several threads at once.
    virtual void read(const task_place& from, const pattern_output& to) const = 0;
};

/// Null if its memory is too small for the recording.
/// @throws device_error if there is no such device.
std::unique_ptr<pattern_device> open_pattern_device(int ordinal,
                                                    const pattern_recording& recording);

}  // namespace spikeweave::spade
