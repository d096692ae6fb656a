#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "live/sources/sender_messages.hpp"
#include "live/sources/source.hpp"

namespace spikeweave::live {

/// Makes blocks of what programs send that number their frames and send again what was not
/// acknowledged. A frame is taken once, and only after those before it: what follows a gap is left
/// out until it comes again.
///
/// All senders have one clock. All spikes before a time have come when each sender that has not
/// finished has told so.
class senders {
public:
    static constexpr std::size_t most_senders = 64;
    static constexpr std::size_t most_units = std::size_t{1} << 16;
    /// Most frames that may be sent without an acknowledgement.
    static constexpr std::uint64_t credit = 4096;
    /// A sender that has more spikes after what others have sent gets no credit until they follow.
    static constexpr std::size_t most_spikes_ahead = std::size_t{1} << 20;
    static constexpr std::int64_t longest_leap_us = 24 * 3'600'000'000LL;

    /// An answer, and the connection that it goes to.
    struct answer {
        std::string connection{};
        sender_answer what{};
    };

    /// @param unit_names     units that are known before they are told
    /// @param known          senders of a session that goes on
    /// @param least_senders  no time is known to be complete before so many have come
    explicit senders(std::vector<std::string> unit_names,
                     const std::vector<sender_progress>& known = {},
                     std::uint64_t least_senders = 1);

    const std::vector<std::string>& unit_names() const { return unit_names_; }
    /// Takes the frames of a ZeroMQ message from a connection, which has a name of its own.
    void take(std::string_view connection, std::span<const std::string_view> frames);
    /// The arrivals; null if there are none.
    std::optional<source_block> next_block();
    /// The number of blocks that were given.
    std::uint64_t blocks() const { return blocks_; }
    /// The first so many blocks will not be lost any more.
    void acknowledge(std::uint64_t blocks);
    /// The answers that are due.
    std::vector<answer> take_answers();

    /// Whether all frames of all blocks are acknowledged.
    bool all_is_acknowledged() const { return unacknowledged_.empty(); }
    /// Whether all senders have finished, and whether all of them are connected, so that they know
    /// what was acknowledged.
    bool have_finished() const;
    bool are_connected() const;

private:
    struct sender {
        std::string name{};
        std::string connection{};      // empty: none
        std::vector<unit_id> units{};  // by their numbers in frames
        std::uint64_t expected = 1;    // the next frame
        std::uint64_t acknowledged = 0;
        std::uint64_t limit = 0;  // frames up to this one may be sent
        bool was_asked = false;   // to say hello, after a gap
        bool has_finished = false;
        bool is_to_be_told = false;  // the acknowledgement is due
        std::optional<std::int64_t> watermark_us{};
        // Frames after what others have sent: their watermarks and how many spikes they have.
        std::deque<std::pair<std::int64_t, std::size_t>> ahead{};
        std::size_t spikes_ahead = 0;
    };
    struct known_unit {
        unit_id id;
        std::optional<std::size_t> owner;  // the sender that has named it
    };
    struct unacknowledged_frames {
        std::uint64_t block;
        std::size_t sender;
        std::uint64_t last;
    };

    void take_hello(const std::string& connection, const sender_hello& hello);
    std::size_t index_of(const std::string& name) const;
    void check_clock(std::size_t index, const std::string& clock) const;
    void check_units(std::size_t index, const std::vector<std::string>& names) const;
    static void check_next(const sender& from, std::optional<std::uint64_t> next);
    void connect(std::size_t index, const std::string& connection);
    void set_clock(const std::string& clock);
    void set_units(std::size_t index, const std::vector<std::string>& names);
    void set_next(sender& from, std::optional<std::uint64_t> next);

    void take_frame(const std::string& connection, const spike_frame& frame);
    void check_frame(const sender& from, const spike_frame& frame) const;
    void add_spikes(const sender& from, const spike_frame& frame);
    void raise_watermark();
    std::optional<std::int64_t> common_watermark() const;
    void note_progress(std::size_t index);
    sender_answer acknowledgement(sender& to);
    void ask_for_hello(const std::string& connection);
    void finish_block();

    std::uint64_t least_senders_;
    std::vector<std::string> unit_names_;
    std::unordered_map<std::string, known_unit> units_{};
    std::string clock_{};
    std::vector<sender> senders_{};
    std::unordered_map<std::string, std::size_t> connections_{};  // to the senders
    std::unordered_set<std::string> strangers_{};  // connections that were asked for a hello
    std::optional<std::int64_t> watermark_us_{};   // that of all senders
    std::optional<std::int64_t> last_us_{};        // the time that was told last
    source_block current_{};
    std::deque<source_block> complete_{};
    std::deque<unacknowledged_frames> unacknowledged_{};
    std::uint64_t blocks_ = 0;
    std::vector<answer> answers_{};
};

}  // namespace spikeweave::live
