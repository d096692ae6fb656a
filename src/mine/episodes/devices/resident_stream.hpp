#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mine/episodes/devices/side_by_side.hpp"
#include "mine/episodes/devices/train_search.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::episodes {

// Times are microseconds since the first spike. The device only holds their low 32 bits. The upper
// bits change once in 71 minutes, at the borders of eras, so a recording shorter than that has a
// single era, and every time fits in 32 bits.

/// All spikes in time order, in device memory.
struct resident_events {
    const std::uint32_t* time_low;
    const std::uint32_t* unit;
    /// era_begin[e]: index of the first spike at or after e * 2^32 microseconds; eras + 1 elements,
    /// the last of which is `size`.
    const std::uint32_t* era_begin;
    std::uint32_t eras;
    std::uint32_t size;
};

/// The spikes of each unit, unit after unit, in device memory.
struct resident_trains {
    const std::uint32_t* time_low;
    /// Index of each spike among all spikes, which is its order key under tie_rule::order.
    const std::uint32_t* position;
    /// The spikes of unit u are begin[u] to begin[u + 1]; units + 1 elements.
    const std::uint32_t* begin;
    /// The spikes of unit u in era e are era_begin[u * (eras + 1) + e] to the next element; e =
    /// eras is the end of the unit.
    const std::uint32_t* era_begin;
    std::uint32_t eras;
    std::uint32_t units;
    std::uint32_t size;
};

/// Tables for searching the trains, and all events, of a recording with a single era, in device
/// memory.
struct resident_search {
    const train_layout* trains;  ///< by unit
    const std::uint32_t* buckets;
    const std::uint64_t* begins;  ///< begin of each unit's train; units + 1 elements
    train_layout events;          ///< all events as one train
    const std::uint32_t* event_buckets;
};

/// Spikes [begin, end) of a sequence.
struct spike_range {
    std::size_t begin;
    std::size_t end;
};

/// A spike sequence on one device, where it stays during the lifetime of this object. Each part is
/// uploaded at its first request; several threads may request it. The returned data are complete:
/// any stream of the device may read them immediately.
class resident_stream {
public:
    /// `spikes` must outlive this. @throws device_error if there is no such device.
    resident_stream(const spike_sequence& spikes, int ordinal, const execution& run = {});
    /// Uses only some of the spikes, as if there were no others.
    resident_stream(const spike_sequence& spikes, spike_range which, int ordinal,
                    const execution& run);
    /// @param spikes  shorter than an era. Only their trains are of use: their events are in no
    ///                order, so that these cannot be searched.
    resident_stream(const sequences_side_by_side& spikes, int ordinal, const execution& run);
    /// Makes one object for each device; the devices must differ. The first request for events
    /// uploads them to all devices, which takes little longer than to one.
    static std::vector<std::unique_ptr<resident_stream>> on_each(const spike_sequence& spikes,
                                                                 std::span<const int> ordinals,
                                                                 const execution& run);
    ~resident_stream() = default;
    resident_stream(const resident_stream&) = delete;
    resident_stream& operator=(const resident_stream&) = delete;

    int ordinal() const;
    /// All spikes: 8 bytes per spike, and 2 more during the upload. @throws device_error.
    resident_events events() const;
    /// The trains: 8 bytes per spike, and 16 more while they are made. @throws device_error.
    resident_trains trains() const;
    /// The search tables: about half a byte per spike, and the trains. Only for recordings with a
    /// single era. @throws device_error.
    resident_search search() const;
    /// `resident_trains::begin` on the host.
    std::span<const std::uint32_t> train_begins() const;
    /// The time of the last spike, in microseconds since the first; 0 if there are no spikes.
    std::uint64_t length_us() const;

private:
    struct state;
    struct group;
    explicit resident_stream(std::unique_ptr<state> made);
    // A shared pointer remembers how to delete its object, so that code which is compiled without
    // CUDA can hold a stream.
    std::shared_ptr<state> state_;
};

}  // namespace spikeweave::episodes
