#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "live/sinks/delivery.hpp"
#include "live/sinks/loss_alarm.hpp"
#include "live/sinks/sink.hpp"
#include "live/sinks/unit_names.hpp"
#include "spikeweave/core/time.hpp"

namespace spikeweave::live {

using text_writer = std::function<void(std::string_view)>;

/// A receiver of lines of JSON. Several threads may call it at once.
class line_output {
public:
    line_output() = default;
    virtual ~line_output() = default;
    line_output(const line_output&) = delete;
    line_output& operator=(const line_output&) = delete;

    /// @param type  of the line, such as "detection"
    /// @param line  with its end
    virtual void take(std::string_view type, std::string_view line) = 0;
    /// All lines of a block have been given.
    virtual void flush() = 0;
};

/// Writes the lines of a block at once.
class written_lines : public line_output {
public:
    explicit written_lines(text_writer write) : write_(std::move(write)) {}
    void take(std::string_view type, std::string_view line) override;
    void flush() override;

private:
    text_writer write_;
    std::mutex mutex_{};
    std::string text_{};
};

/// The interval of lines about the arrivals so far if they go to programs that listen.
constexpr duration usual_stats_every = std::chrono::seconds{1};

struct json_results_options {
    /// The time between two lines that tell what has come so far; 0: only the last line tells it.
    duration stats_every{0};
    /// Destinations of which an alarm tells if they fail.
    delivery_reports reports{};
    /// The patterns of the session.
    armed_patterns patterns{};
};

/// Gives results as lines of JSON: those of a block at once, and a window when it has been mined.
/// docs/cli.md describes them.
class json_results : public sink {
public:
    /// @param armed  those of the session
    json_results(std::vector<armed_episode> armed, std::unique_ptr<line_output> to,
                 json_results_options options = {});

    void take(const event& what) override {
        what.visit([this](const auto& one) { on(one); });
    }

private:
    void on(const units_added& more);
    void on(const detection& what);
    void on(const mined_window& window);
    void on(const silent_range& windows);
    void on(const counts_in_window& now);
    void on(const arming_change& change);
    void on(const samples_waiting& now);
    void on(const epoch_ended& /*end*/);
    void on(const chance_rates& rates);
    void on(const block_ended& block);
    void on(const armed_tallied& all);
    void on(const session_ended& end);
    void on(const auto& /*other*/) {}
    using clock = std::chrono::steady_clock;

    void describe_armed();
    void begin_change(std::string_view type, const arming_change& change);
    void add_stats(const session_counts& counts);
    void add_alarm(const session_counts& counts);
    void add_alarms_of_destinations();
    void end_line(std::string_view type);

    std::vector<armed_episode> armed_;
    std::unique_ptr<line_output> to_;
    json_results_options options_;
    unit_names units_{};
    std::string line_{};
    loss_alarm alarm_{};
    std::vector<std::string> armed_texts_{};
    bool told_chance_ = false;
    std::string tallies_{};  // as JSON; empty if nothing is armed
    delivery_alarms failures_;
    clock::time_point last_stats_ = clock::now();
};

}  // namespace spikeweave::live
