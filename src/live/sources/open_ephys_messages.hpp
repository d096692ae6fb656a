#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "live/sources/known_units.hpp"
#include "live/sources/message_numbers.hpp"
#include "live/sources/source.hpp"

/// The headers of messages from the Open Ephys GUI, which are JSON.
namespace spikeweave::live {

/// The fields of the header of a message that concern spikes.
struct open_ephys_header {
    enum class about : std::uint8_t { data, spike, something_else };

    about what = about::something_else;
    std::optional<std::uint64_t> message_number{};
    std::string stream{};
    std::string unit{};  ///< "electrode", or "electrode#2" if a sorter has numbered units
    std::int64_t sample = 0;
    std::int64_t sample_count = 0;  ///< of data
    std::int64_t channel = -1;      ///< of data; -1: not known
    double rate_hz = 0;             ///< of data; of the Event Broadcaster also of spikes

    friend bool operator==(const open_ephys_header&, const open_ephys_header&) = default;
};

class open_ephys_header_parser {
public:
    /// Numbers of messages are at most this, samples below this, and rates between these.
    static constexpr std::uint64_t most_messages = std::uint64_t{1} << 62;
    static constexpr std::int64_t most_samples = std::int64_t{1} << 53;
    static constexpr double least_rate_hz = 10;
    static constexpr double most_rate_hz = 1e7;

    open_ephys_header_parser();
    ~open_ephys_header_parser();
    open_ephys_header_parser(const open_ephys_header_parser&) = delete;
    open_ephys_header_parser& operator=(const open_ephys_header_parser&) = delete;

    /// Reads a header of the ZMQ Interface, valid until the next call. Null if it is not JSON, or
    /// if something of data or a spike is missing or out of range. Other keys are ignored.
    const open_ephys_header* parse_interface(std::string_view json);
    /// The same of the Event Broadcaster.
    const open_ephys_header* parse_broadcast(std::string_view json);

private:
    struct state;
    std::unique_ptr<state> state_;
};

/// A program that sends the messages of Open Ephys.
enum class open_ephys_sender : std::uint8_t {
    zmq_interface,      ///< numbers its messages, and sends data after the spikes in them
    event_broadcaster,  ///< neither
};

/// Makes blocks of the messages of one stream. The Spike Detector stops 100 samples before the end
/// of a block of data and brings the rest with the next one, and the spikes of a block are sent
/// before its data, so data tell that all spikes have come up to 100 samples before their end.
class open_ephys_messages {
public:
    static constexpr std::int64_t unseen_samples = 100;
    static constexpr std::size_t most_pending = std::size_t{1} << 16;
    static constexpr std::int64_t longest_leap_us = 24 * 3'600'000'000LL;
    /// Spikes of the Event Broadcaster go back within a block of data only; if they go back
    /// further, acquisition was started again.
    static constexpr std::int64_t longest_block_us = 1'000'000;

    /// @param stream      empty: the one that has the first spike
    /// @param unit_names  units that are known before they appear
    open_ephys_messages(open_ephys_sender sender, std::string stream,
                        std::vector<std::string> unit_names);

    const std::vector<std::string>& unit_names() const { return units_.names(); }
    /// Takes the frames of a message.
    /// @throws io_error if no stream was named and a second one has spikes before there is a block.
    /// Later its spikes are unreadable, because the session has begun.
    void take(std::span<const std::string_view> frames);
    /// As of `source`; only of spikes of another stream.
    const std::string& first_unreadable() const { return first_unreadable_; }
    /// The connection broke, so what follows may be of another run of the sender. Unless numbers
    /// say that nothing was lost, a new epoch begins.
    void connection_broke() { is_after_break_ = true; }
    /// The next block that is complete.
    std::optional<source_block> complete();
    /// The spikes since the last complete block.
    std::optional<source_block> rest();

private:
    void finish_block();
    void begin_epoch();
    void take_unreadable();
    void take_unknown();
    void restart();
    message_place observe(std::uint64_t number);
    void add_missing(std::uint64_t count);
    void count_gap(std::uint64_t missing);
    void count_belated(std::uint64_t not_told);
    void take_spike(const open_ephys_header& header);
    void take_data(const open_ephys_header& header, bool is_belated);
    bool follows(const std::string& stream);
    void add_spike(std::int64_t sample, unit_id unit);
    std::int64_t time_of(std::int64_t sample) const;

    open_ephys_sender sender_;
    bool is_named_;
    std::string stream_;
    known_units units_;
    open_ephys_header_parser parser_{};
    message_numbers numbers_{};
    bool is_after_break_ = false;
    bool has_given_ = false;          // a block
    std::uint64_t told_missing_ = 0;  // without those that came after all
    // Unreadable messages that no gap has explained, and the messages with numbers since the last.
    std::uint64_t unexplained_ = 0;
    std::uint64_t readable_since_ = 0;
    double rate_hz_ = 0;                                       // 0: not known yet
    std::vector<std::pair<std::int64_t, unit_id>> pending_{};  // spikes before the rate is known
    std::optional<std::int64_t> last_us_{};
    source_block current_{};
    std::deque<source_block> complete_{};
    std::string first_unreadable_{};
};

}  // namespace spikeweave::live
