#include "live/triggers/false_alarm_limit.hpp"

#include <fmt/format.h>

#include <utility>

#include "live/sinks/unit_names.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {

bool is_above(double per_minute, const event_rate& most) {
    return per_minute * to_seconds(most.period) > 60 * static_cast<double>(most.count);
}

false_alarm_limit::false_alarm_limit(std::vector<armed_episode> armed, armed_patterns patterns,
                                     event_rate most)
    : armed_(std::move(armed)), patterns_(std::move(patterns)), most_(most) {}

void false_alarm_limit::take(const event& what) {
    what.visit(handlers{[&](const units_added& more) {
                            names_.insert(names_.end(), more.names.begin(), more.names.end());
                        },
                        [&](const chance_rates& rates) {
                            if (!std::exchange(was_checked_, true)) check(rates.per_minute);
                        }});
}

void false_alarm_limit::check(std::span<const double> per_minute) const {
    for (std::size_t i = 0; i < per_minute.size(); ++i) {
        if (!is_above(per_minute[i], most_)) continue;
        const std::string what =
            i < armed_.size()
                ? fmt::format("the episode {}", armed_text(armed_[i].what, names_))
                : fmt::format("the pattern {}", armed_text(patterns_.patterns[i - armed_.size()],
                                                           patterns_.bin, names_));
        throw invalid_argument("max_false_alarms",
                               fmt::format("{} is expected {:.3g} times a minute by chance, which "
                                           "is more than {}",
                                           what, per_minute[i], format_rate(most_)));
    }
}

}  // namespace spikeweave::live
