#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "live/event_order.hpp"

/// Where the spikes of a running recording come from.
namespace spikeweave::live {

/// What a source tells at once. The fields apply in this order.
struct source_block {
    std::vector<std::string> new_units{};  ///< names of units that were not known; ids go on
    bool begins_epoch = false;             ///< the clock has started again
    std::uint64_t missing = 0;             ///< messages that were lost before the spikes
    std::uint64_t belated = 0;             ///< messages that had been missing and came after all
    std::uint64_t repeated = 0;            ///< messages that had come before and were left out
    std::uint64_t unreadable = 0;          ///< messages, or spikes, that could not be read
    std::vector<spike_event> spikes{};
    /// All spikes before this time have come.
    std::optional<std::int64_t> watermark_us{};

    friend bool operator==(const source_block&, const source_block&) = default;
};

/// After so long a source says that nothing has come.
constexpr std::chrono::seconds longest_silence{1};

class source {
public:
    source() = default;
    virtual ~source() = default;
    source(const source&) = delete;
    source& operator=(const source&) = delete;
    source(source&&) = delete;
    source& operator=(source&&) = delete;

    /// The units that are known before the first block. Blocks tell of those that appear later.
    virtual const std::vector<std::string>& unit_names() const = 0;
    /// Waits for the next block; after `longest_silence`, that is an empty one. Null at the end.
    /// @throws io_error if the source fails.
    virtual std::optional<source_block> next() = 0;
};

}  // namespace spikeweave::live
