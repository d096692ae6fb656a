#pragma once

#include <span>
#include <string>
#include <vector>

#include "live/sinks/sink.hpp"

namespace spikeweave::live {

/// Whether a rate is above the largest that is allowed.
bool is_above(double per_minute, const event_rate& most);

/// Ends a session at its first measurement of rates if something that is armed is expected by
/// chance too often.
class false_alarm_limit : public sink {
public:
    /// @param armed  and the patterns are those of the session
    false_alarm_limit(std::vector<armed_episode> armed, armed_patterns patterns, event_rate most);

    /// @param per_minute  the expected rates of the episodes, then of the patterns
    /// @throws invalid_argument with the first one that is expected too often.
    void check(std::span<const double> per_minute) const;

    void take(const event& what) override;

private:
    std::vector<armed_episode> armed_;
    armed_patterns patterns_;
    event_rate most_;
    std::vector<std::string> names_{};
    bool was_checked_ = false;
};

}  // namespace spikeweave::live
