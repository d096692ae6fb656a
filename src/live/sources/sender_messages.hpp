#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "live/session/event_order.hpp"

/// The messages between a program that sends spikes and the session that takes them
/// (docs/formats.md).
namespace spikeweave::live {

/// Spikes with a number, by which losses and repetitions are noticed.
struct spike_frame {
    static constexpr std::size_t most_spikes = 4096;
    /// Times are at most this far from 0, so that sums of a few of them do not overflow.
    static constexpr std::int64_t most_time_us = std::int64_t{1} << 60;

    std::uint64_t number = 0;  ///< counts by one, from 1
    /// All spikes of the sender before this time have been sent. Only a last frame without spikes
    /// may have none.
    std::optional<std::int64_t> watermark_us{};
    bool is_last = false;  ///< the sender has finished
    /// Of the units that the sender has named; 16 bytes each in the message, which they view.
    std::string_view spikes{};

    std::size_t size() const;
    spike_event operator[](std::size_t i) const;
};

/// @throws invalid_argument that names the fault of the message.
spike_frame read_spike_frame(std::string_view message);
/// @param times_us  and the units are of the same number, up to `most_spikes`
std::string spike_frame_message(std::uint64_t number, std::optional<std::int64_t> watermark_us,
                                bool is_last, std::span<const std::int64_t> times_us,
                                std::span<const unit_id> units);

/// Says who sends. The units are those of all frames that follow.
struct sender_hello {
    static constexpr std::size_t longest_name = 256;
    static constexpr std::size_t longest_message = std::size_t{1} << 22;

    std::string source{};
    std::string clock{};  ///< the name of what times count from
    std::vector<std::string> units{};
    /// The number of the next frame that is sent. Null: the sender begins anew, and asks for it.
    std::optional<std::uint64_t> next{};

    friend bool operator==(const sender_hello&, const sender_hello&) = default;
};

/// @throws invalid_argument if a name cannot be one.
void check_hello(const sender_hello& hello);
/// @throws invalid_argument that names the fault of the message.
sender_hello read_hello(std::string_view message);
std::string hello_message(const sender_hello& hello);

/// An answer to a sender.
struct sender_answer {
    std::uint64_t acknowledged = 0;       ///< frames up to this one will not be lost
    std::uint64_t credit = 0;             ///< number of further frames that may be sent
    std::optional<std::uint64_t> next{};  ///< the frame that is expected; an answer to hello
    bool asks_for_hello = false;          ///< frames were lost, or it is not known who sent them
    std::string error{};                  ///< why a message was refused

    friend bool operator==(const sender_answer&, const sender_answer&) = default;
};

/// @throws invalid_argument
sender_answer read_answer(std::string_view message);
std::string answer_message(const sender_answer& answer);

}  // namespace spikeweave::live
