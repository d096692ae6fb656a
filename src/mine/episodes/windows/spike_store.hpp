#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "spikeweave/core/ids.hpp"
#include "spikeweave/mine/episodes/windows.hpp"

/// The spikes of a stream that later windows still need.
namespace spikeweave::episodes {

struct spike_chunk {
    static constexpr std::size_t capacity = 4096;

    std::array<std::int64_t, capacity> times{};
    std::array<unit_id, capacity> units{};
};

/// A part of a chunk. Spikes are only added behind it, so it can be read while they are.
struct chunk_part {
    std::shared_ptr<const spike_chunk> chunk;
    std::size_t begin;
    std::size_t end;
};

/// Spikes in the order of their times, in chunks that others may keep longer.
class spike_store {
public:
    void add(std::int64_t time, unit_id unit);
    /// Forgets all spikes before this time.
    void drop_before(std::int64_t time);
    void clear();
    std::size_t size() const;
    /// The spikes with begin <= time < end.
    std::vector<chunk_part> between(std::int64_t begin, std::int64_t end) const;

private:
    /// The place in a chunk of the first spike at this time or later.
    std::size_t place_of(std::int64_t time, std::size_t chunk) const;
    std::size_t begin_of(std::size_t chunk) const { return chunk == 0 ? first_ : 0; }
    std::size_t end_of(std::size_t chunk) const {
        return chunk + 1 == chunks_.size() ? end_ : spike_chunk::capacity;
    }

    std::deque<std::shared_ptr<spike_chunk>> chunks_{};
    std::size_t first_ = 0;                    // place in the first chunk
    std::size_t end_ = spike_chunk::capacity;  // place behind the last spike, in the last chunk
};

}  // namespace spikeweave::episodes

struct spikeweave::window_spikes::parts {
    std::vector<episodes::chunk_part> of_chunks;
    std::shared_ptr<const std::vector<std::string>> unit_names;
    std::uint64_t epoch;  // the stream of the window, and its epoch
};
