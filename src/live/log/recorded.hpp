#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "live/log/session_log.hpp"
#include "live/sinks/sink.hpp"
#include "live/sources/source.hpp"

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
    std::optional<sampling_state> sampling() const override { return from_->sampling(); }

private:
    source* from_;
    session_log* log_;
};

/// A sink that records what happens before it gives it to another one.
class recorded_results : public sink {
public:
    /// @param to  and the log have to live as long
    recorded_results(sink& to, session_log& log) : to_(&to), log_(&log) {}

    /// The next detections have been recorded before, so they are neither recorded nor given.
    void leave_out_detections(std::int64_t count) { known_detections_ = count; }

    /// The results that follow are of this block, which was recorded before; 0: of the last one.
    void repeat_input(std::int64_t number) { repeated_ = number; }

    void take(const event& what) override;
    record_place place() const override;

private:
    sink* to_;
    session_log* log_;
    std::int64_t known_detections_ = 0;
    std::int64_t repeated_ = 0;
    std::int64_t epoch_ = 0;
};

}  // namespace spikeweave::live
