#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "live/arming/arming.hpp"
#include "live/session/events.hpp"
#include "live/session/session_options.hpp"
#include "live/sources/source.hpp"

/// The content of the file of a session, row by row, and the entries that become its rows.
namespace spikeweave::live {

/// A block of a source, as the session took it.
struct recorded_block {
    source_block block{};
    std::int64_t arrived_us = 0;  ///< by the clock of the computer; it decides nothing
    std::int64_t epoch = 0;       ///< its spikes are in
    /// Records of this session that were left out before the block, because the disk was too slow.
    std::uint64_t unrecorded = 0;
};

/// A detection or window follows the block that completed it.
struct recorded_detection {
    std::int64_t input = 0;
    std::int64_t epoch = 0;
    std::uint64_t armed = 0;
    std::vector<std::int64_t> times{};
    suppression suppressed = suppression::none;

    friend bool operator==(const recorded_detection&, const recorded_detection&) = default;
};

struct recorded_window {
    std::int64_t input = 0;
    std::int64_t epoch = 0;
    window_bounds bounds{};
    std::uint64_t spikes = 0;
    std::uint64_t threshold = 0;
    bool has_gap = false;
    window_outcome complete_to{};
    std::string digest{};
    std::string episodes{};            ///< JSON: a list of [count, episode]
    std::optional<bool> was_tested{};  ///< as of `mined_window`

    friend bool operator==(const recorded_window&, const recorded_window&) = default;
};

/// @param names_as_json  of all units
recorded_window record_of(const mined_window& window,
                          const std::vector<std::string>& names_as_json);

/// The digest of all that a window says.
std::string digest_of(const recorded_window& window);

/// The counts at the end of a session, as JSON.
std::string json_of(const session_counts& counts);

// Entries on their way to the thread that writes them. A block is appended as bytes, because blocks
// come often; windows and changes of what is armed are given by their addresses.

enum class entry_kind : std::uint8_t {
    block,
    detection,
    window,
    arming,
    templates,
    motion,
    begin_end,  ///< later entries are in the file only together with the end
    end,
};

/// Begins an entry, and ends it: its size goes before it.
class entry_encoder {
public:
    void begin(entry_kind kind);
    void add(std::int64_t number);
    void add(std::uint64_t number) { add(static_cast<std::int64_t>(number)); }
    void add(std::string_view text);
    void add(std::span<const spike_event> spikes);
    std::span<const char> finish();

private:
    std::string bytes_{};
};

/// Takes an entry to pieces, in the order in which they were added.
class entry_decoder {
public:
    explicit entry_decoder(std::string_view entry) : rest_(entry) {}

    std::int64_t number();
    std::uint64_t count() { return static_cast<std::uint64_t>(number()); }
    std::string_view text();

private:
    std::string_view rest_;
};

/// A change of what is armed, with the block in which it took effect.
struct placed_change {
    arming_change change{};
    std::int64_t input = 0;
};

/// The object that an entry passes on by its address, and then no longer owns; null if none.
struct entry_parts {
    std::unique_ptr<const mined_window> window{};
    std::unique_ptr<const placed_change> arming{};
    std::unique_ptr<const std::string> templates{};
};
entry_parts parts_of(entry_kind kind, std::string_view entry);

/// Removes the first entry from these bytes, if they have all of it.
bool split_entry(std::string_view& bytes, entry_kind& kind, std::string_view& entry);

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
