#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstdint>

#include "spikeweave/core/error.hpp"
#include "spikeweave/core/memory.hpp"

namespace spikeweave::episodes {

/// More memory is needed than a search may use.
struct memory_exceeded : invalid_argument {
    using invalid_argument::invalid_argument;
};

/// Adds up the memory that a search holds, and refuses to exceed a bound (0 means no bound).
class memory_limit {
public:
    explicit memory_limit(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

    void add(std::uint64_t bytes) {
        const std::uint64_t now = held_ += bytes;
        if (most_bytes_ == 0 || now <= most_bytes_) return;
        throw memory_exceeded(
            fmt::format("the lists of latest-start need more than the {} of memory that they may "
                        "use; raise the limit or the threshold, or bound the size of the episodes",
                        format_memory(most_bytes_)));
    }
    void remove(std::uint64_t bytes) { held_ -= bytes; }

private:
    std::uint64_t most_bytes_;
    std::atomic<std::uint64_t> held_{0};
};

}  // namespace spikeweave::episodes
