#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "live/metrics/latency_histogram.hpp"
#include "live/session/session.hpp"
#include "live/sinks/all_results.hpp"
#include "live/sinks/delivery.hpp"
#include "live/sources/source.hpp"

namespace spikeweave::live {

/// The stages of a result, whose times are measured.
enum class stage : std::uint8_t {
    sorting,    ///< from the arrival of the last sample that decides a spike until it is found
    detection,  ///< from the spike that completes what is armed until it is detected
    trigger,    ///< from there until all destinations have been given it
    whole,      ///< from the arrival of the last sample, or of the spike, until then
};
constexpr std::array<std::string_view, 4> stage_names{"sorting", "detection", "trigger", "whole"};

/// The state of a session at the end of a block.
struct monitored_state {
    session_counts counts{};
    std::optional<std::int64_t> watermark_us{};
    std::chrono::steady_clock::time_point watermark_since{};
    latency_histogram latency{};  ///< of blocks of spikes
    std::array<latency_histogram, stage_names.size()> stages{};
    std::optional<sampling_state> sampling{};  ///< if spikes are found in samples

    latency_histogram& of(stage one) { return stages[static_cast<std::size_t>(one)]; }
};

/// Keeps the state of a session for other threads.
class session_monitor {
public:
    /// A block has been processed, or the session has ended.
    void update(const session& through);
    void add_latency(std::chrono::steady_clock::duration one);
    /// Called when the detections of a block have been sent to all destinations.
    void add_detections(std::span<const timed_detection> found);
    void update(sampling_state samples);
    monitored_state state() const;

private:
    mutable std::mutex mutex_{};
    monitored_state state_{};
};

/// A source that tells a monitor about the session that takes its blocks. A block has been
/// processed when the next one is asked for.
class monitored_source : public source {
public:
    /// @param from     and the others have to live as long
    /// @param results  is told when each block has come, and if samples wait too long
    monitored_source(source& from, const session& through, session_monitor& monitor,
                     all_results& results)
        : from_(&from), through_(&through), monitor_(&monitor), results_(&results) {}

    const std::vector<std::string>& unit_names() const override { return from_->unit_names(); }
    std::optional<source_block> next() override;
    std::chrono::steady_clock::time_point arrived_after() const override {
        return from_->arrived_after();
    }
    std::optional<sampling_state> sampling() const override { return from_->sampling(); }
    void acknowledge_after(const std::function<std::uint64_t()>& safe_blocks) override {
        from_->acknowledge_after(safe_blocks);
    }

private:
    void look_at_samples(bool is_over);

    source* from_;
    const session* through_;
    session_monitor* monitor_;
    all_results* results_;
    std::optional<std::chrono::steady_clock::time_point> arrived_{};
    static constexpr std::chrono::seconds between_looks{1};  // at samples
    std::chrono::steady_clock::time_point next_look_ =
        std::chrono::steady_clock::now() + between_looks;
    double told_behind_s_ = 0;
};

/// The state of a session in the text format of Prometheus. docs/cli.md lists what it has.
std::string metrics_text(const monitored_state& state, const delivery_reports& reports,
                         std::uint64_t memory_bytes, std::chrono::steady_clock::time_point now);

/// Serves a text at http://127.0.0.1:PORT/metrics, by a thread of its own, as long as it lives.
/// Only requests for this address are answered, so that no page in a browser can have the text
/// through a name of its own.
class metrics_server {
public:
    /// @throws io_error if the port cannot be had.
    explicit metrics_server(std::uint16_t port);
    ~metrics_server();
    metrics_server(const metrics_server&) = delete;
    metrics_server& operator=(const metrics_server&) = delete;

    /// @param text  makes the text; it is called by the server's thread
    void serve(std::function<std::string()> text);

private:
    class state;
    std::unique_ptr<state> state_;
};

}  // namespace spikeweave::live
