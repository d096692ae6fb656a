#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "live/session/session.hpp"
#include "live/sinks/delivery.hpp"
#include "live/sources/arrivals.hpp"
#include "live/sources/source.hpp"

namespace spikeweave::live {

/// The durations of blocks. The bounds of the classes grow by factors of about two.
class latency_histogram {
public:
    static constexpr std::array<double, 19> bounds_s{1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3,
                                                     2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1,  0.2,
                                                     0.5,  1,    2,    5,    10};

    void add(double seconds);
    /// Number of blocks that took at most the bound of this class, or any time if there is none.
    std::uint64_t count_up_to(std::size_t bound) const;
    std::uint64_t count() const { return count_up_to(bounds_s.size()); }
    double sum_s() const { return sum_s_; }

private:
    std::array<std::uint64_t, bounds_s.size() + 1> counts_{};
    double sum_s_ = 0;
};

/// The state of a session at the end of a block.
struct monitored_state {
    session_counts counts{};
    std::optional<std::int64_t> watermark_us{};
    std::chrono::steady_clock::time_point watermark_since{};
    latency_histogram latency{};
};

/// Keeps the state of a session for other threads.
class session_monitor {
public:
    /// A block has been processed, or the session has ended.
    void update(const session& through);
    void add_latency(std::chrono::steady_clock::duration one);
    monitored_state state() const;

private:
    mutable std::mutex mutex_{};
    monitored_state state_{};
};

/// A source that tells a monitor about the session that takes its blocks. A block has been
/// processed when the next one is asked for.
class monitored_source : public source {
public:
    /// @param from      and the others have to live as long
    /// @param arriving  is told of each block
    monitored_source(source& from, const session& through, session_monitor& monitor,
                     arrivals& arriving)
        : from_(&from), through_(&through), monitor_(&monitor), arriving_(&arriving) {}

    const std::vector<std::string>& unit_names() const override { return from_->unit_names(); }
    std::optional<source_block> next() override;
    std::chrono::steady_clock::time_point arrived_after() const override {
        return from_->arrived_after();
    }
    void acknowledge_after(const std::function<std::uint64_t()>& safe_blocks) override {
        from_->acknowledge_after(safe_blocks);
    }

private:
    source* from_;
    const session* through_;
    session_monitor* monitor_;
    arrivals* arriving_;
    std::optional<std::chrono::steady_clock::time_point> arrived_{};
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
