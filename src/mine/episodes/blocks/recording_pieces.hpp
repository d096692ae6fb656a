#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mine/episodes/latest_start/survivors.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/episodes/blocks.hpp"
#include "spikeweave/spikes/spike_blocks.hpp"

/// A recording that is larger than memory, read from its blocks.
namespace spikeweave::episodes {

/// Reads block by block; drops spikes that are given twice, as `spike_sequence_builder` does.
class checked_blocks {
public:
    /// Begins at the first spike.
    checked_blocks(spike_blocks& recording, const execution& run);

    /// The next spikes; null at the end. @throws invalid_argument if one is earlier than the one
    /// before it; cancelled.
    const spike_block* next();
    std::uint64_t duplicates() const { return duplicates_; }

private:
    spike_blocks& recording_;
    const execution& run_;
    spike_block block_;
    std::vector<std::int64_t> last_of_unit_;
    std::int64_t last_us_ = INT64_MIN;
    std::uint64_t read_ = 0;
    std::uint64_t duplicates_ = 0;
};

/// The properties of a recording that are known after it was read once.
struct recording_survey {
    std::vector<std::string> unit_names{};         ///< in natural order
    std::vector<std::uint32_t> rank{};             ///< of each unit of the blocks in this order
    std::vector<std::uint64_t> spikes_of_units{};  ///< in natural order, as all that follows
    std::uint64_t spikes = 0;
    std::uint64_t duplicates = 0;
    time_span span{};
};

recording_survey survey(spike_blocks& recording, const execution& run);

/// New spikes, after those of the pieces before that an occurrence can reach back to.
struct recording_piece {
    spike_sequence spikes;
    new_spikes fresh;
};

/// Reads a recording in pieces. An occurrence that ends at a new spike of a piece is in this piece
/// as a whole.
class recording_pieces {
public:
    /// @param units    the spikes of all others are left out
    /// @param reach    the longest that an occurrence may be
    /// @param at_once  the number of new spikes of a piece; if those to be kept for the next are
    ///         more, as many as these
    recording_pieces(spike_blocks& recording, const recording_survey& known,
                     std::span<const unit_id> units, duration reach, std::size_t at_once,
                     const execution& run);

    /// The next piece, with at least one new spike; nullopt at the end.
    std::optional<recording_piece> next();
    /// The number of spikes that were read.
    std::uint64_t read() const { return read_; }

private:
    bool fill(std::size_t size);
    void forget_before(std::int64_t time_us);

    checked_blocks blocks_;
    const recording_survey& known_;
    std::vector<std::uint32_t> taken_as_;  // by the blocks' number: the unit, or left_out
    std::int64_t reach_us_;
    std::size_t at_once_;
    std::vector<std::int64_t> times_us_;  // of the last piece, and the spikes read beyond it
    std::vector<unit_id> units_;
    std::size_t counted_ = 0;  // the number of these in the last piece
    std::int64_t offset_ = 0;  // the number before these
    std::uint64_t read_ = 0;
};

}  // namespace spikeweave::episodes
