#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/time.hpp"

/// The order of spikes that are received. Programs that record send the spikes of a block electrode
/// by electrode, so the order of arrival is not that of time.
namespace spikeweave::live {

/// A spike, by the clock of the recording.
struct spike_event {
    std::int64_t time_us;
    unit_id unit;

    friend auto operator<=>(const spike_event&, const spike_event&) = default;
};

/// The rule by which no earlier spike can arrive.
enum class order_policy : std::uint8_t {
    source,    ///< spikes come in the order of their times, so they are not held back
    block,     ///< the source tells the time before which all spikes have come (`advance`)
    lateness,  ///< a spike comes at most so long after later ones
};

struct order_options {
    order_policy policy = order_policy::source;
    /// Of the policy `lateness`.
    duration lateness = std::chrono::milliseconds{30};
    /// With the policy `block` the source may have been wrong. Its times are then taken that much
    /// earlier from there on as the latest spike needed, but not more than this.
    duration most_margin = std::chrono::milliseconds{100};
};

struct order_counts {
    std::uint64_t accepted = 0;    ///< spikes that were given out
    std::uint64_t late = 0;        ///< spikes that came after their time, and were left out
    std::uint64_t duplicates = 0;  ///< second spikes of a unit at a time, which were left out

    friend bool operator==(const order_counts&, const order_counts&) = default;
};

/// Puts spikes in order. The *watermark* is the time before which all spikes have come; it never
/// goes back. Spikes before it are given out by time, then by unit, those of the policy `source` as
/// they come. What is given out does not depend on when it is taken.
class event_order {
public:
    /// @throws invalid_argument if a time in the options is negative.
    explicit event_order(const order_options& options = {});

    /// Takes a spike. Returns whether it is in time, that is, not before the watermark.
    bool add(const spike_event& spike);
    /// The source tells that all spikes before this time have come.
    void advance(std::int64_t time_us);
    /// The spikes that were not given out before and precede the watermark. Valid until the next
    /// call of `take` or `flush`.
    std::span<const spike_event> take();
    /// Ends the epoch: gives out all spikes that are left, and starts again without a watermark.
    std::span<const spike_event> flush();

    /// Null before anything is known.
    std::optional<std::int64_t> watermark() const { return watermark_; }
    /// The time by which the watermark is earlier than reported, with the policy `block`.
    duration margin() const { return duration{margin_us_}; }
    /// The number of spikes that wait for the watermark.
    std::size_t waiting() const { return waiting_.size(); }
    const order_counts& counts() const { return counts_; }

private:
    void raise_watermark(std::int64_t time_us);
    void accept(const spike_event& spike);
    void release_before(std::optional<std::int64_t> time_us);

    order_options options_;
    std::vector<spike_event> waiting_;  // in any order
    std::vector<spike_event> ready_;
    std::vector<spike_event> taken_;
    std::vector<spike_event> released_;  // only while spikes are released
    std::vector<unit_id> at_last_time_;  // units of the last spikes that were accepted
    std::int64_t last_time_us_ = INT64_MIN;
    std::optional<std::int64_t> watermark_{};
    std::optional<std::int64_t> told_us_{};
    std::int64_t margin_us_ = 0;
    order_counts counts_{};
};

}  // namespace spikeweave::live
