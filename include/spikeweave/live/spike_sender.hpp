#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/core/export.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/time.hpp"

/// Sends spikes to a session that listens, `spikeweave live spikeweave://ADDRESS:PORT`.
namespace spikeweave {

struct spike_sender_options {
    /// The name of the source. A sender continues with the numbers of an earlier one of the same
    /// name.
    std::string source = "spikes";
    /// The name of what times count from, which all sources of a session have in common. A new name
    /// begins a new epoch.
    std::string clock = "recording";
    /// The time that `send` and `finish` wait for a session that does not answer; 0 waits for ever.
    duration patience{0};
};

struct spike_sender_counts {
    std::uint64_t spikes = 0;          ///< that were given to `send`
    std::uint64_t frames = 0;          ///< their messages
    std::uint64_t sent_again = 0;      ///< messages that were sent once more
    std::uint64_t unacknowledged = 0;  ///< messages of which it is not known that they are safe

    friend bool operator==(const spike_sender_counts&, const spike_sender_counts&) = default;
};

/// Spikes arrive exactly once: they are kept until the session has acknowledged them, which it does
/// when they are on its disk (if it records) or were processed, and sent again after an
/// interruption. The connection is served by the calls only, so a sender without spikes calls
/// `send` without any, with a watermark, several times a second.
class SPIKEWEAVE_API spike_sender {
public:
    /// @param address     "spikeweave://HOST:PORT"; the session may begin to listen later
    /// @param unit_names  names of the units, by which spikes are numbered
    /// @throws io_error if the address is invalid; invalid_argument if a name is, or if this build
    /// has no streams.
    spike_sender(const std::string& address, const std::vector<std::string>& unit_names,
                 const spike_sender_options& options = {});
    ~spike_sender();
    spike_sender(const spike_sender&) = delete;
    spike_sender& operator=(const spike_sender&) = delete;

    /// The numbers of units continue.
    void add_units(std::span<const std::string> names);
    /// Sends spikes in any order. Waits for the session while 4,096 messages are not acknowledged.
    /// @param watermark_us  all spikes before this time have been sent then
    /// @throws invalid_argument if a unit or a time is invalid, or after `finish`; io_error if the
    /// session refuses what it is sent, or does not answer.
    void send(std::span<const std::int64_t> times_us, std::span<const unit_id> units,
              std::int64_t watermark_us);
    /// Declares that no spike will follow, and waits until all are acknowledged. The session ends
    /// when all its sources have finished. @throws io_error
    void finish();

    spike_sender_counts counts() const;

private:
    class connection;
    std::unique_ptr<connection> to_;
};

}  // namespace spikeweave
