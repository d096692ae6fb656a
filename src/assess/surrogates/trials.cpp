// trial_shifting and the trials of a recording.

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "assess/surrogates/generators.hpp"
#include "core/text.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

void check_trials(const std::vector<time_span>& trials) {
    if (trials.empty()) throw invalid_argument("trial-shifting needs the trials of the recording");
    for (std::size_t i = 0; i < trials.size(); ++i) {
        if (trials[i].length() <= duration{0})
            throw invalid_argument(fmt::format("trial {} is not longer than 0", i + 1));
        if (i > 0 && trials[i].begin < trials[i - 1].end)
            throw invalid_argument(fmt::format("trial {} begins before trial {} ends", i + 1, i));
    }
}

void check_regular(duration length, duration separation) {
    if (length <= duration{0})
        throw invalid_argument("trial_length", fmt::format("expected a time above 0 ms, found {}",
                                                           format_duration(length)));
    if (separation < duration{0})
        throw invalid_argument(
            "trial_separation",
            fmt::format("expected a time of at least 0 ms, found {}", format_duration(separation)));
}

// Cuts the trials to the span. Trials are half-open intervals; a span includes its end.
std::vector<time_span> cut_to(time_span span, std::vector<time_span> trials) {
    for (time_span& trial : trials)
        trial = {std::max(trial.begin, span.begin), std::min(trial.end, span.end + duration{1})};
    std::erase_if(trials, [](const time_span& trial) { return trial.begin >= trial.end; });
    return trials;
}

// Rotates the times [begin, end) within the trial and sorts them again.
void turn(std::span<std::int64_t> times, time_span trial, std::int64_t shift) {
    const std::int64_t length = trial.length().count();
    const std::int64_t forward = (shift % length + length) % length;
    const std::int64_t stays_before = trial.end.count() - forward;
    const auto wraps = std::lower_bound(times.begin(), times.end(), stays_before);
    for (auto t = times.begin(); t != wraps; ++t) *t += forward;
    for (auto t = wraps; t != times.end(); ++t) *t += forward - length;
    std::rotate(times.begin(), wraps, times.end());
}

}  // namespace

std::vector<time_span> regular_trials(time_span span, duration length, duration separation,
                                      compatibility compat) {
    check_regular(length, separation);
    if (span.end <= span.begin) return {};
    const duration period = length + separation;
    const std::int64_t whole = span.length() / period;
    const bool cut = !follows_elephant(compat) && span.length() % period > duration{0};
    const std::int64_t count = whole + (cut ? 1 : 0);
    if (count > std::int64_t{UINT32_MAX})
        throw invalid_argument(fmt::format("{} trials are more than {}", count, UINT32_MAX));
    std::vector<time_span> trials;
    trials.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
        const duration begin = span.begin + i * period;
        trials.push_back({begin, begin + length});
    }
    return trials;
}

std::string note_of_cut_trial(time_span span, duration length, duration separation,
                              compatibility compat) {
    check_regular(length, separation);
    if (span.end <= span.begin) return {};
    const duration period = length + separation;
    const duration rest = span.length() % period;
    if (rest == duration{0}) return {};
    if (follows_elephant(compat))
        return fmt::format(
            "The last {} of the analysed time contain no whole trial with its separation: as "
            "in Elephant, they are in no trial.",
            format_duration(rest));
    if (rest >= length) return {};
    const std::int64_t whole = span.length() / period;
    return fmt::format(
        "The {} is {} long instead of {}, because the time that is analysed ends at {}: it is used "
        "as it is.",
        whole == 0
            ? "only trial"
            : fmt::format("last of {} trials", core::grouped(static_cast<std::size_t>(whole) + 1)),
        format_duration(rest), format_duration(length), format_duration(span.end));
}

namespace assess {

time_mover trial_mover(time_span span, const surrogate_options& options) {
    check_trials(options.trials);
    return [trials = cut_to(span, options.trials), most = options.dither.count()](
               unit_id, std::vector<std::int64_t>& times, random_stream& random) {
        auto from = times.begin();
        auto kept = times.begin();
        for (const time_span& trial : trials) {
            const std::int64_t shift = uniform_between(-most, most, random);
            from = std::lower_bound(from, times.end(), trial.begin.count());
            const auto end = std::lower_bound(from, times.end(), trial.end.count());
            const auto moved = std::move(from, end, kept);
            turn({kept, moved}, trial, shift);
            kept = moved;
            from = end;
        }
        times.erase(kept, times.end());
    };
}

}  // namespace assess

}  // namespace spikeweave
