#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>

namespace spikeweave {

/// The resident memory of this process now; 0 where the system does not say.
std::uint64_t resident_memory_bytes();

/// What this process may still take: the least of what the system has to give, what is left of the
/// limit of its control group, and of that of its addresses (`ulimit -v`).
std::uint64_t available_memory_bytes();

/// "14.2 MB".
std::string format_memory(std::uint64_t bytes);

/// Stops calls of this library before they take more memory than they may. It looks from the side,
/// a hundred times a second, at the resident memory of the whole process, as nobody knows before
/// what a search will find. Give `stop()` to the calls; when one throws `cancelled`, `check()` says
/// whether this was why.
class memory_guard {
public:
    /// How messages name the bound, and what they advise when it is passed.
    struct words {
        std::string bound = "max_memory";
        std::string advice = "higher thresholds find less";
    };

    /// @param most   bytes; 0: what the process has and four fifths of what it may still take
    /// @param asked  stops the calls too
    explicit memory_guard(std::uint64_t most = 0, const std::stop_token& asked = {});
    memory_guard(std::uint64_t most, const std::stop_token& asked, words called);

    std::uint64_t most() const { return most_; }
    /// Requested when the bound is passed, and when `asked` is.
    std::stop_token stop() const { return source_.get_token(); }
    /// @throws invalid_argument if the bound is or was passed.
    void check() const;
    /// Before so much more is taken at once. @throws invalid_argument if it would pass the bound.
    void expect(std::uint64_t more) const;
    /// The message, for somebody who expects to need so much. "more than --max-memory 2.0 GB (...)"
    std::string too_much() const;

private:
    std::uint64_t most_;
    bool is_chosen_;
    words called_;
    std::atomic<std::uint64_t> passed_at_{0};
    std::stop_source source_{};
    std::stop_callback<std::function<void()>> asked_;
    std::jthread watch_{};  // last: it uses what stands above
};

}  // namespace spikeweave
