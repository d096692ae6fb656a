#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "live/log/session_log.hpp"
#include "live/sink.hpp"
#include "live/source.hpp"

namespace spikeweave::live {

/// A source whose blocks are recorded before they are processed.
class recorded_source : public source {
public:
    /// @param from  and the log have to live as long
    recorded_source(source& from, session_log& log);

    const std::vector<std::string>& unit_names() const override { return from_->unit_names(); }
    std::optional<source_block> next() override;
    std::chrono::steady_clock::time_point arrived_after() const override {
        return from_->arrived_after();
    }

private:
    source* from_;
    session_log* log_;
};

/// A sink whose results are recorded before they are given to another one.
class recorded_results : public sink {
public:
    /// @param to  and the log have to live as long
    recorded_results(sink& to, session_log& log) : to_(&to), log_(&log) {}

    /// The next detections have been recorded before, so they are neither recorded nor given.
    void leave_out_detections(std::int64_t count) { known_detections_ = count; }

    /// The results that follow are of this block, which was recorded before; 0: of the last one.
    void replay_input(std::int64_t number) { replayed_ = number; }

    void units_added(std::span<const std::string> names) override { to_->units_added(names); }
    void accepted(std::span<const spike_event> spikes) override { to_->accepted(spikes); }
    void detected(const detection& what) override;
    void mined(const mined_window& window) override;
    void silent(const silent_range& windows) override { to_->silent(windows); }
    void counted(const time_span& window, std::span<const std::uint64_t> counts) override;
    std::int64_t input() const override {
        return replayed_ > 0 ? replayed_ : log_->recorded_inputs();
    }
    void arming_changed(const arming_change& change) override;
    bool takes_new_results() const override;
    void epoch_ended() override;
    void chance_measured(const chance_rates& rates) override { to_->chance_measured(rates); }
    void block_ended(const session_counts& counts) override { to_->block_ended(counts); }
    void session_ends() override;
    void tallied(std::span<const armed_tally> armed) override { to_->tallied(armed); }
    void session_ended(const session_counts& counts) override;

private:
    sink* to_;
    session_log* log_;
    std::int64_t known_detections_ = 0;
    std::int64_t replayed_ = 0;
    std::int64_t epoch_ = 0;
};

}  // namespace spikeweave::live
