#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

/// The headers of messages from the Open Ephys GUI, which are JSON.
namespace spikeweave::live {

/// What the header of a message says, as far as it is about spikes.
struct open_ephys_header {
    enum class about : std::uint8_t { data, spike, something_else };

    about what = about::something_else;
    std::optional<std::uint64_t> message_number{};
    std::string stream{};
    std::string unit{};  ///< "electrode", or "electrode#2" if a sorter has numbered units
    std::int64_t sample = 0;
    std::int64_t sample_count = 0;  ///< of data
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
    open_ephys_header_parser(open_ephys_header_parser&&) = delete;
    open_ephys_header_parser& operator=(open_ephys_header_parser&&) = delete;

    /// Reads a header of the ZMQ Interface, valid until the next call. Null if it is not JSON, or
    /// if something of data or a spike is missing or out of range. Other keys are ignored.
    const open_ephys_header* parse_interface(std::string_view json);
    /// The same of the Event Broadcaster.
    const open_ephys_header* parse_broadcast(std::string_view json);

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace spikeweave::live
