#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "live/session.hpp"
#include "spikeweave/core/execution.hpp"

namespace spikeweave::live {

/// Gives results to several sinks, and tells the progress.
class all_results : public sink {
public:
    /// @param spikes  those that will come; 0 if that is not known
    all_results(execution run, std::uint64_t spikes);

    void add(std::unique_ptr<sink> one);
    /// The number of units so far.
    std::uint64_t units() const { return units_; }

    void units_added(std::span<const std::string> names) override;
    void detected(const episode_detection& detection) override;
    void mined(const mined_window& window) override;
    void counted(const time_span& window, std::span<const std::uint64_t> counts) override;
    void epoch_ended() override;
    void block_ended(const session_counts& counts) override;
    void session_ended(const session_counts& counts) override;

private:
    execution run_;
    std::uint64_t spikes_;
    std::uint64_t units_ = 0;
    std::vector<std::unique_ptr<sink>> sinks_{};
};

}  // namespace spikeweave::live
