#pragma once

#include <cstdint>
#include <deque>
#include <optional>

/// The numbers of messages, by which losses are noticed.
namespace spikeweave::live {

/// The place of a message by its number.
enum class message_place : std::uint8_t {
    next,        ///< the first message, or the one after that before
    after_gap,   ///< messages are missing before it
    belated,     ///< a later one came before it
    repeated,    ///< it had come before
    restarted,   ///< the sender numbers from the start again
    impossible,  ///< so far ahead that it is no number of a message; it is not counted
};

struct message_counts {
    std::uint64_t received = 0;  ///< without repeated ones
    std::uint64_t missing = 0;   ///< without those that came out of order
    std::uint64_t belated = 0;
    std::uint64_t repeated = 0;
    std::uint64_t restarts = 0;

    friend bool operator==(const message_counts&, const message_counts&) = default;
};

/// Follows the numbers of one sender, which count by one. The first message may have any number,
/// because one may join at any time.
///
/// A number of up to `memory` before the newest one is a message that came out of order or twice;
/// one from further back is a restart of the sender. A restart within the first `memory` messages
/// is recognised only after a break of the connection. A number that is further ahead than
/// `most_missing` is an error, unless another one follows on it: the sender has restarted there.
class message_numbers {
public:
    static constexpr std::uint64_t memory = 8;
    static constexpr std::uint64_t most_missing = std::uint64_t{1} << 32;

    /// @param after_break  the connection broke before this message, so an earlier number is that
    /// of a sender that was started again
    message_place observe(std::uint64_t number, bool after_break = false);
    const message_counts& counts() const { return counts_; }

private:
    void restart(std::uint64_t number);
    void follow(std::uint64_t number);

    bool is_first_ = true;
    std::uint64_t expected_ = 0;
    std::optional<std::uint64_t> impossible_{};  // the last number, if it was
    std::deque<bool> came_{};  // of the numbers before `expected_`, the newest one last
    message_counts counts_{};
};

}  // namespace spikeweave::live
