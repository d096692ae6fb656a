#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

#include "live/sources/source.hpp"

namespace spikeweave::live {

/// The earliest time at which the data that a source reads can have arrived at this computer: the
/// last time at which nothing waited to be read, so a source has to look at least as often as
/// `between_looks`. If it could not, because the process was stopped or had no processor, all that
/// came meanwhile counts as come since the last look.
class arrival_bound {
public:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds between_looks{10};

    /// Data read from now on arrived after the last time at which nothing waited.
    void begin_read() { since_ = empty_at_; }
    /// After an interruption, other threads of this process may not have received yet what waits
    /// outside of it, so that nothing seems to wait. This is not believed for a while.
    void looked(bool nothing_waits, clock::time_point now = clock::now());
    /// When at the earliest that came which was read since `begin_read`.
    clock::time_point since() const { return since_; }

private:
    clock::time_point last_look_ = clock::now();
    clock::time_point empty_at_ = last_look_;
    clock::time_point since_ = last_look_;
    clock::time_point believed_from_ = last_look_;
};

/// When a block of spikes came.
struct block_times {
    std::chrono::steady_clock::time_point since{};  ///< to this computer, at the earliest
    std::chrono::steady_clock::time_point taken{};  ///< into the analysis
};

/// When the spikes of the last two seconds came.
class arrivals {
public:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds longest_memory{2};

    void add(const source_block& block, clock::time_point since);
    /// When a spike came that has this time; null if that is not known.
    std::optional<block_times> of(std::int64_t time_us) const;

private:
    struct block_arrival {
        std::int64_t first_us = 0;
        std::int64_t last_us = 0;
        block_times times{};
    };
    std::deque<block_arrival> blocks_{};
};

}  // namespace spikeweave::live
