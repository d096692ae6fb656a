#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/spikes/files.hpp"

/// Recordings that are larger than memory: their spikes are read block by block.
namespace spikeweave {

/// Some spikes that follow each other, with as many times as units.
struct spike_block {
    std::vector<std::int64_t> times_us{};
    std::vector<unit_id> units{};

    void clear() {
        times_us.clear();
        units.clear();
    }
    void append(std::int64_t time_us, unit_id unit) {
        times_us.push_back(time_us);
        units.push_back(unit);
    }
};

/// A recording as blocks of spikes in time order, which can be read several times. Blocks may have
/// any length and may be empty; spikes at the same time may be in different blocks.
class SPIKEWEAVE_API spike_blocks {
public:
    spike_blocks() = default;
    spike_blocks(const spike_blocks&) = delete;
    spike_blocks& operator=(const spike_blocks&) = delete;
    virtual ~spike_blocks();

    /// Goes back to the first spike; the next time it is read, it is the same recording.
    virtual void rewind() = 0;
    /// Replaces `block` by the next spikes, whose times are in microseconds.
    /// @return false after the last block
    /// @throws io_error
    virtual bool next(spike_block& block) = 0;
    /// The names of the units, all different; a unit's number is its index. Units may be added
    /// while blocks are read, and stay.
    virtual const std::vector<std::string>& unit_names() const = 0;
};

/// The options of reading that apply block by block; the others need the whole recording.
SPIKEWEAVE_API option_list describe_for_blocks(spike_read_options& options);

/// Opens a recording for reading block by block: a `.npy` array of n × 2 (time_s, unit), delimited
/// text (also with gzip), or a folder of such files, one continued by the next in the natural order
/// of their names. A block needs a few megabytes, whatever the length of the recording.
///
/// Spikes must be in time order, also from file to file, which is checked while they are read.
/// @throws io_error with the file, and the line or record: if the file is of another format, a
/// folder has no file, or, while reading, for what `read_spikes` rejects and for a spike that is
/// earlier than the one before it. invalid_argument if `how` has options that are not those of
/// `describe_for_blocks`.
SPIKEWEAVE_API std::unique_ptr<spike_blocks> open_spike_blocks(const std::filesystem::path& path,
                                                               const spike_read_options& how = {},
                                                               const execution& run = {});

}  // namespace spikeweave
