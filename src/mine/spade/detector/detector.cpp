// For each pattern, the windows that may still be completed are kept, as many as the pattern has
// bins. The spikes of a window may arrive in any order, so it only counts them.

#include "spikeweave/mine/spade/detector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

// A place of a unit in a pattern.
struct pattern_place {
    std::uint32_t pattern;
    std::uint32_t spike;
    std::uint32_t lag;
};

// A window of a pattern, and the number of its spikes that have arrived.
struct open_window {
    std::uint64_t start = 0;
    std::uint32_t spikes = 0;
};

// The windows of a pattern among those of all, and the times of their spikes.
struct pattern_memory {
    std::uint32_t spikes;
    std::uint32_t windows;
    std::size_t first_window;
    std::size_t first_time;
};

void check_pattern(const std::vector<pattern_spike>& pattern, std::size_t number,
                   std::size_t unit_count) {
    const auto fail = [&](std::string_view why) {
        throw invalid_argument(fmt::format("pattern {}: {}", number, why));
    };
    if (pattern.empty()) fail("it has no spike");
    if (pattern.front().lag != 0) fail("its first spike is not in the first bin");
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (to_index(pattern[i].unit) >= unit_count)
            fail(fmt::format("there is no unit {}", to_index(pattern[i].unit)));
        if (pattern[i].lag > pattern_detector::most_lag)
            fail(fmt::format("it has more than {} bins", pattern_detector::most_lag + 1));
        if (i == 0) continue;
        const auto& [unit, lag] = pattern[i];
        const pattern_spike& before = pattern[i - 1];
        if (lag < before.lag || (lag == before.lag && unit <= before.unit))
            fail("its spikes are not in the order of their lags and units");
    }
}

}  // namespace

struct pattern_detector::state {
    // Numbers of bins begin with the earliest time, so that they are not negative.
    static constexpr std::uint64_t bin_zero = std::uint64_t{1} << 63;

    armed_patterns armed;
    std::vector<std::vector<pattern_place>> places;  // of each unit
    std::vector<pattern_memory> memory;              // of each pattern
    std::vector<open_window> windows{};
    std::vector<std::int64_t> times{};
    std::vector<std::uint64_t> counts;
    std::vector<std::optional<std::uint64_t>> last_bin;  // of each unit
    std::int64_t last_time = INT64_MIN;
    std::vector<pattern_detection> found{};  // with room for one of every place of a unit

    state(armed_patterns given, std::size_t unit_count);
    std::uint64_t bin_of(std::int64_t time) const {
        const std::int64_t bin = armed.bin.count();
        return static_cast<std::uint64_t>(time / bin - (time % bin < 0 ? 1 : 0)) + bin_zero;
    }
    std::int64_t begin_of(std::uint64_t window) const {
        std::int64_t begin = 0;
        const auto number = static_cast<std::int64_t>(window - bin_zero);
        return __builtin_mul_overflow(number, armed.bin.count(), &begin) ? INT64_MIN : begin;
    }
    void take(const pattern_place& place, std::uint64_t start, std::int64_t time);
};

pattern_detector::state::state(armed_patterns given, std::size_t unit_count)
    : armed(std::move(given)),
      places(unit_count),
      counts(armed.patterns.size()),
      last_bin(unit_count) {
    if (armed.bin <= duration{0}) throw invalid_argument("the bin must be above 0");
    for (std::uint32_t number = 0; number < armed.patterns.size(); ++number) {
        const std::vector<pattern_spike>& pattern = armed.patterns[number];
        check_pattern(pattern, number, unit_count);
        const std::uint32_t bins = pattern.back().lag + 1;
        memory.push_back(
            {static_cast<std::uint32_t>(pattern.size()), bins, windows.size(), times.size()});
        windows.resize(windows.size() + bins);
        times.resize(times.size() + bins * pattern.size());
        for (std::uint32_t i = 0; i < pattern.size(); ++i)
            places[to_index(pattern[i].unit)].push_back({number, i, pattern[i].lag});
    }
    std::size_t most_places = 0;
    for (const auto& of_unit : places) most_places = std::max(most_places, of_unit.size());
    found.reserve(most_places);
}

void pattern_detector::state::take(const pattern_place& place, std::uint64_t start,
                                   std::int64_t time) {
    const pattern_memory& of = memory[place.pattern];
    const std::size_t slot = start % of.windows;
    open_window& window = windows[of.first_window + slot];
    if (window.start != start) window = {.start = start};
    const auto spikes = std::span{times}.subspan(of.first_time + slot * of.spikes, of.spikes);
    spikes[place.spike] = time;
    if (++window.spikes < of.spikes) return;
    ++counts[place.pattern];
    found.push_back({place.pattern, begin_of(start), spikes});
}

pattern_detector::pattern_detector(armed_patterns armed, std::size_t unit_count)
    : state_(std::make_unique<state>(std::move(armed), unit_count)) {}

pattern_detector::~pattern_detector() = default;
pattern_detector::pattern_detector(pattern_detector&&) noexcept = default;
pattern_detector& pattern_detector::operator=(pattern_detector&&) noexcept = default;

std::span<const pattern_detection> pattern_detector::add(std::int64_t time_us, unit_id unit) {
    state& now = *state_;
    if (to_index(unit) >= now.places.size())
        throw invalid_argument(fmt::format("a spike belongs to unit {}, but there are {} units",
                                           to_index(unit), now.places.size()));
    if (time_us < now.last_time)
        throw invalid_argument(
            fmt::format("a spike at {} us is earlier than the one before it, at {} us", time_us,
                        now.last_time));
    now.found.clear();
    now.last_time = time_us;
    const std::uint64_t bin = now.bin_of(time_us);
    if (std::exchange(now.last_bin[to_index(unit)], bin) == bin) return {};
    // The places of a unit are in the order of the patterns. A window that would begin before the
    // first bin has no spike there.
    for (const pattern_place& place : now.places[to_index(unit)])
        if (place.lag <= bin) now.take(place, bin - place.lag, time_us);
    return now.found;
}

void pattern_detector::flush() {
    std::fill(state_->windows.begin(), state_->windows.end(), open_window{});
    std::fill(state_->last_bin.begin(), state_->last_bin.end(), std::nullopt);
    state_->last_time = INT64_MIN;
    state_->found.clear();
}

const armed_patterns& pattern_detector::armed() const {
    return state_->armed;
}

std::uint64_t pattern_detector::count(std::size_t pattern) const {
    if (pattern >= state_->counts.size())
        throw invalid_argument(
            fmt::format("there is no pattern {} among {}", pattern, state_->counts.size()));
    return state_->counts[pattern];
}

}  // namespace spikeweave
