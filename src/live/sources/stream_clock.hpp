#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "spikeweave/core/time.hpp"

namespace spikeweave::live {

/// Notices from the times of a stream that its clock was set, so that a new epoch begins: they leap
/// by more than a day; or one time was ahead of all, and those that follow agree with each other.
class stream_clock {
public:
    static constexpr std::int64_t longest_leap_us = 24 * 3'600'000'000LL;
    /// Times that far behind the newest one may be those of another epoch.
    static constexpr std::int64_t least_behind_us = 10'000'000;
    /// The one of them, in a row, that begins it; those before it are late.
    static constexpr int agreeing = 20;

    /// @param lateness  spikes that are so much behind are in order
    explicit stream_clock(duration lateness = duration{0})
        : least_behind_us_(least_behind_us +
                           std::clamp<std::int64_t>(lateness.count(), 0, longest_leap_us)) {}

    bool begins_epoch(std::int64_t time_us) const {
        if (!last_us_) return false;
        if (std::abs(time_us - *last_us_) > longest_leap_us) return true;
        return is_behind(time_us) && agree_with(time_us) && behind_ + 1 >= agreeing;
    }

    void take(std::int64_t time_us) {
        const bool is_new = !last_us_ || begins_epoch(time_us);
        if (is_new || !is_behind(time_us))
            behind_ = 0;
        else
            behind_ = agree_with(time_us) ? behind_ + 1 : 1;
        newest_us_ = is_new ? time_us : std::max(newest_us_, time_us);
        last_us_ = time_us;
    }

    void reset() { last_us_.reset(); }

private:
    bool is_behind(std::int64_t time_us) const { return time_us < newest_us_ - least_behind_us_; }
    bool agree_with(std::int64_t time_us) const {
        return behind_ > 0 && std::abs(time_us - *last_us_) <= least_behind_us_;
    }

    std::int64_t least_behind_us_;
    std::optional<std::int64_t> last_us_{};  // null: there was no time yet
    std::int64_t newest_us_ = 0;
    int behind_ = 0;  // times in a row that are behind and agree with each other
};

}  // namespace spikeweave::live
