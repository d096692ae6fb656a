#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "live/sinks/reaction.hpp"
#include "live/sinks/sink.hpp"
#include "live/sources/arrivals.hpp"
#include "spikeweave/core/execution.hpp"

namespace spikeweave::live {

/// A detection, and when its last spike came.
struct timed_detection {
    block_times spike{};
    std::chrono::steady_clock::time_point detected{};
    bool is_trigger = false;
};

/// Gives what happens to several sinks, and tells the progress.
class all_results : public sink {
public:
    /// @param spikes  those that will come; 0 if that is not known
    all_results(execution run, std::uint64_t spikes);

    void add(std::unique_ptr<sink> one);
    /// Adds a sink that acts on detections. It comes before all others, which tell what it lost.
    void add_reaction(std::unique_ptr<reaction> one);
    /// While detections of the past are given, they are not acted upon.
    void hold_reactions(bool are_held) { are_reactions_held_ = are_held; }
    /// Report arrivals here, so that reactions can ignore stale spikes.
    arrivals& arriving() { return arriving_; }
    /// The detections since the last call whose spikes have come while the session ran.
    std::vector<timed_detection> take_timed() { return std::exchange(timed_, {}); }
    /// The number of units so far.
    std::uint64_t units() const { return units_; }

    void take(const event& what) override;

private:
    void act_on(const detection& what);
    void tell_progress(const session_counts& counts);

    execution run_;
    std::uint64_t spikes_;
    std::string task_ = "spikes";
    std::uint64_t units_ = 0;
    std::vector<std::unique_ptr<reaction>> reactions_{};
    bool are_reactions_held_ = false;
    arrivals arriving_{};
    std::vector<timed_detection> timed_{};
    double behind_s_ = 0;  // samples that wait
    std::vector<std::unique_ptr<sink>> sinks_{};
};

}  // namespace spikeweave::live
