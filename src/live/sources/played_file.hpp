#pragma once

#include <chrono>
#include <cstddef>
#include <stop_token>

#include "live/sources/source.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::live {

/// Returns false if it was stopped before.
bool sleep_until(std::chrono::steady_clock::time_point time, const std::stop_token& stop);

/// The spikes of a recording, given as if they came now.
class played_file : public source {
public:
    /// @param speed  the speed relative to the recording; 0 means as fast as they are processed
    /// @param stop   ends the source within a moment
    played_file(spike_sequence spikes, double speed, std::stop_token stop = {});

    const std::vector<std::string>& unit_names() const override { return spikes_.unit_names(); }
    std::optional<source_block> next() override;
    /// The spikes of a block have come since the block before, whatever kept it from being taken.
    std::chrono::steady_clock::time_point arrived_after() const override {
        return speed_ == 0 ? clock::now() : arrived_after_;
    }

private:
    using clock = std::chrono::steady_clock;

    /// Waits, and returns up to which time the spikes have come; null if it has to stop.
    std::optional<std::int64_t> wait();
    source_block until(std::size_t end, std::int64_t watermark_us);

    spike_sequence spikes_;
    double speed_;
    std::stop_token stop_;
    std::size_t at_ = 0;
    bool is_over_ = false;
    std::optional<clock::time_point> began_{};
    clock::time_point next_block_{};
    clock::time_point arrived_after_{};
    clock::time_point looked_{};  // for the last time
};

}  // namespace spikeweave::live
