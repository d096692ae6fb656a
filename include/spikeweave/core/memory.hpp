#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>

#include "spikeweave/core/export.hpp"

namespace spikeweave {

/// The resident memory of this process at the moment, in bytes; 0 if the system does not report it.
SPIKEWEAVE_API std::uint64_t resident_memory_bytes();

/// The memory that this process may still allocate, in bytes: the smallest of the memory that the
/// system has available, the rest of the control group's limit and the rest of the address-space
/// limit (`ulimit -v`).
SPIKEWEAVE_API std::uint64_t available_memory_bytes();

/// Formats a number of bytes as "14.2 MB".
SPIKEWEAVE_API std::string format_memory(std::uint64_t bytes);

/// Stops calls of this library before the process exceeds a memory bound. A separate thread checks
/// the resident memory of the whole process every 2 to 20 ms, the closer to the bound the more
/// often, because the size of a search's result is not known beforehand. Pass `stop()` to the
/// calls; if one throws `cancelled`, `check()` shows whether the bound was the reason.
class SPIKEWEAVE_API memory_guard {
public:
    /// The name of the bound in messages, and their advice when it is exceeded.
    struct words {
        std::string bound = "max_memory";
        std::string advice = "higher thresholds find less";
    };

    /// @param most   bound in bytes; 0 means the memory that the process has now plus four fifths
    /// of what it may still allocate
    /// @param asked  a second reason to stop: the caller's own stop token
    explicit memory_guard(std::uint64_t most = 0, const std::stop_token& asked = {});
    memory_guard(std::uint64_t most, const std::stop_token& asked, words called);

    std::uint64_t most() const { return most_; }
    /// A token that is triggered when the bound is exceeded or when `asked` is triggered.
    std::stop_token stop() const { return source_.get_token(); }
    /// @throws invalid_argument if the bound is or was exceeded.
    void check() const;
    /// Call this before an allocation of `more` bytes.
    /// @throws invalid_argument if it would exceed the bound.
    void expect(std::uint64_t more) const;
    /// The message for a caller that knows beforehand that it would exceed the bound: "more than
    /// --max-memory 2.0 GB (...)".
    std::string too_much() const;

private:
    std::uint64_t most_;
    bool is_chosen_;
    words called_;
    std::atomic<std::uint64_t> passed_at_{0};
    std::stop_source source_{};
    std::stop_callback<std::function<void()>> asked_;
    std::jthread watch_{};  // last member: it uses those above
};

}  // namespace spikeweave
