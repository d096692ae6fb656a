#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mine/episode/cuda/train_search.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::episodes {

// Times are microseconds since the first spike. Only their low 32 bits stand on the device: the
// upper ones change once in 71 minutes, at the borders of eras, so that a recording shorter than
// that has a single era and every time in 32 bits.

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
    /// Index among all spikes, which is the place that tie_rule::order judges by.
    const std::uint32_t* position;
    /// Of unit u: begin[u] to begin[u + 1]; units + 1 elements.
    const std::uint32_t* begin;
    /// Of unit u in era e: era_begin[u * (eras + 1) + e] to the next; e = eras is the unit's end.
    const std::uint32_t* era_begin;
    std::uint32_t eras;
    std::uint32_t units;
    std::uint32_t size;
};

/// Tables for searching the trains, and all events, of a recording with a single era, in device
/// memory.
struct resident_search {
    const train_place* trains;  ///< by unit
    const std::uint32_t* buckets;
    const std::uint64_t* begins;  ///< of each unit's train; units + 1 elements
    train_place events;           ///< all events as one train
    const std::uint32_t* event_buckets;
};

/// Spikes [begin, end) of a sequence.
struct spike_range {
    std::size_t begin;
    std::size_t end;
};

/// A spike sequence on one device, where it stays as long as this lives. Each part is uploaded when
/// it is first asked for; several threads may ask. What is returned is complete: any stream of the
/// device may read it at once.
class resident_stream {
public:
    /// `spikes` must outlive this. @throws device_error if there is no such device.
    resident_stream(const spike_sequence& spikes, int ordinal, const execution& run = {});
    /// Some of the spikes, as if there were no others.
    resident_stream(const spike_sequence& spikes, spike_range which, int ordinal,
                    const execution& run);
    /// One on each device, all different. The first that is asked for events uploads them to all,
    /// which takes little longer than to one.
    static std::vector<std::unique_ptr<resident_stream>> on_each(const spike_sequence& spikes,
                                                                 std::span<const int> ordinals,
                                                                 const execution& run);
    ~resident_stream();
    resident_stream(const resident_stream&) = delete;
    resident_stream(resident_stream&&) = delete;
    resident_stream& operator=(const resident_stream&) = delete;
    resident_stream& operator=(resident_stream&&) = delete;

    int ordinal() const;
    /// 8 bytes a spike, and 2 more while they are uploaded. @throws device_error.
    resident_events events() const;
    /// 8 bytes a spike, and 16 more while they are made. @throws device_error.
    resident_trains trains() const;
    /// About half a byte a spike, and the trains. Only with a single era. @throws device_error.
    resident_search search() const;
    /// `resident_trains::begin` on the host.
    std::span<const std::uint32_t> train_begins() const;
    /// Of the last spike, in microseconds since the first; 0 without spikes.
    std::uint64_t length_us() const;

private:
    struct state;
    struct group;
    explicit resident_stream(std::unique_ptr<state> made);
    std::unique_ptr<state> state_;
};

}  // namespace spikeweave::episodes
