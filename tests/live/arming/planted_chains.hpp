#pragma once

// Streams with chains that begin and end, and what the rule makes of them when it is followed step
// by step.

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "live/session/session.hpp"
#include "live/sources/source.hpp"
#include "spikeweave/assess/episodes.hpp"
#include "spikeweave/mine/episodes.hpp"

namespace spikeweave::live {

constexpr std::int64_t ms = 1'000;
constexpr std::int64_t second = 1'000'000;

/// Times of a Poisson process in [begin, end).
inline std::vector<std::int64_t> poisson_times(std::mt19937_64& random, double hz,
                                               std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> times;
    for (double t = static_cast<double>(begin);;) {
        t -= std::log((static_cast<double>(random() >> 11) + 1) * 0x1p-53) / hz * 1e6;
        if (t >= static_cast<double>(end)) return times;
        times.push_back(static_cast<std::int64_t>(t));
    }
}

/// Spikes in order, each once.
inline void put_in_order(std::vector<spike_event>& spikes) {
    std::ranges::sort(spikes);
    spikes.erase(std::unique(spikes.begin(), spikes.end()), spikes.end());
}

inline std::vector<std::string> named_units_of(std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.push_back("n" + std::to_string(i));
    return names;
}

/// Units of a constant rate.
inline std::vector<spike_event> spikes_of_independent_units(std::mt19937_64& random,
                                                            std::uint32_t units, double hz,
                                                            std::int64_t length_us) {
    std::vector<spike_event> spikes;
    for (std::uint32_t unit = 0; unit < units; ++unit)
        for (const std::int64_t time : poisson_times(random, hz, 0, length_us))
            spikes.push_back({time, unit_id{unit}});
    put_in_order(spikes);
    return spikes;
}

/// Adds the chain 0, 1, 2 with 5 ms between them, in [begin, end).
inline void plant(std::vector<spike_event>& spikes, std::mt19937_64& random, double hz,
                  std::int64_t begin, std::int64_t end) {
    for (const std::int64_t time : poisson_times(random, hz, begin, end))
        for (std::uint32_t unit = 0; unit < 3; ++unit)
            spikes.push_back({time + 5 * ms * unit, unit_id{unit}});
    put_in_order(spikes);
}

inline session_options arming_analysis(duration length, duration hop, arming_options rule = {},
                                       std::optional<event_rate> max_false_alarms = {}) {
    rule.arm = arming_method::automatic;
    session_options options{
        .windows = episode_window_options{
            length,
            hop,
            {.delays = {{duration{4 * ms}, duration{6 * ms}}}, .min_count = 5, .max_size = 3}}};
    options.arming = arming_settings{rule, max_false_alarms};
    return options;
}

/// Small streams on a grid of 500 us. Chains begin and end, and epochs end.
inline std::vector<source_block> changing_stream(std::mt19937_64& random, std::size_t count) {
    std::vector<source_block> blocks;
    std::int64_t now = -40 * ms;
    bool has_chain = false;
    for (std::size_t i = 0; i < count; ++i) {
        source_block& block = blocks.emplace_back();
        if (random() % 6 == 0) has_chain = !has_chain;
        if (i > 0 && random() % 25 == 0) {
            block.begins_epoch = true;
            now = static_cast<std::int64_t>(random() % 100) * ms - 50 * ms;
        }
        for (std::uint64_t k = 1 + random() % 6; k-- > 0;) {
            now += static_cast<std::int64_t>(1 + random() % 20) * ms / 2;
            if (has_chain)
                for (std::uint32_t unit = 0; unit < 3; ++unit)
                    block.spikes.push_back({now + 5 * ms * unit, unit_id{unit}});
            now += has_chain ? 11 * ms : 0;
            if (random() % 3 == 0)
                block.spikes.push_back({now, unit_id{static_cast<std::uint32_t>(random() % 4)}});
        }
        put_in_order(block.spikes);
        for (const spike_event& spike : block.spikes) now = std::max(now, spike.time_us);
    }
    return blocks;
}

/// An occurrence of what was armed automatically.
struct armed_occurrence {
    std::uint64_t epoch = 0;
    std::int64_t end_us = 0;
    std::size_t armed = 0;
    std::vector<std::int64_t> times{};

    friend auto operator<=>(const armed_occurrence&, const armed_occurrence&) = default;
};

/// The rule, followed from its words: windows are cut from the whole stream, mined and tested as
/// the batch analysis does, and occurrences are looked for afterwards.
class rule_by_words {
public:
    rule_by_words(const std::vector<source_block>& blocks, session_options options)
        : options_(std::move(options)) {
        epochs_.emplace_back();
        for (const source_block& block : blocks) {
            if (block.begins_epoch) epochs_.emplace_back();
            epochs_.back().insert(epochs_.back().end(), block.spikes.begin(), block.spikes.end());
        }
        for (std::uint64_t epoch = 0; epoch < epochs_.size(); ++epoch) decide(epoch);
        detect();
    }

    std::vector<armed_occurrence> occurrences{};
    std::size_t armed = 0, disarmed = 0;

private:
    struct decision {
        stream_position due;
        std::set<episode> significant{};
        std::set<episode> wanted{};
    };

    void decide(std::uint64_t epoch) {
        const auto& spikes = epochs_[epoch];
        if (spikes.empty()) return;
        const std::int64_t length = options_.windows->length.count();
        const std::int64_t hop =
            options_.windows->hop.count() == 0 ? length : options_.windows->hop.count();
        std::int64_t begin = -1000 * hop;
        while (begin + hop <= spikes.front().time_us) begin += hop;
        for (; begin + length <= spikes.back().time_us; begin += hop) {
            if (hop < length && begin % length != 0) continue;
            decision& next = decisions_.emplace_back(
                decision{{epoch, begin + length + hop}, significant_in(spikes, begin, length), {}});
            for (const episode& one : next.significant) consider(one, next);
            for (std::size_t back = 1; back < options_.arming->rule.arm_windows; ++back)
                if (back < decisions_.size())
                    for (const episode& one : decisions_[decisions_.size() - 1 - back].significant)
                        consider(one, next);
        }
    }

    void consider(const episode& one, decision& next) {
        std::uint64_t windows = 0;
        const std::size_t last = decisions_.size();
        for (std::size_t k = 0; k < options_.arming->rule.arm_windows && k < last; ++k)
            windows += decisions_[last - 1 - k].significant.count(one);
        if (windows >= options_.arming->rule.arm_after) next.wanted.insert(one);
    }

    std::set<episode> significant_in(const std::vector<spike_event>& spikes, std::int64_t begin,
                                     std::int64_t length) {
        std::vector<std::pair<std::int64_t, unit_id>> part;
        for (const auto& [time, unit] : spikes)
            if (time >= begin && time < begin + length) part.emplace_back(time, unit);
        const spike_sequence window =
            sequence_of(part, named_units_of(4), {duration{begin}, duration{begin + length}});
        auto table = mine_episodes(window, options_.windows->mining, {.threads = 1});
        const auto tests = test_episodes(window, table, {}, {}, {}, {.threads = 1}).assessed;
        std::set<episode> significant;
        for (std::size_t i = 0; i < tests.size(); ++i)
            if (tests[i].q < 0.01 && table.episodes[i].what.size() > 1)
                significant.insert(table.episodes[i].what);
        return significant;
    }

    void detect() {
        std::size_t next = 0;
        for (std::uint64_t epoch = 0; epoch < epochs_.size(); ++epoch) {
            for (const spike_event& spike : epochs_[epoch]) {
                for (; next < decisions_.size() &&
                       decisions_[next].due <= stream_position{epoch, spike.time_us};
                     ++next)
                    change(decisions_[next], epoch);
                for (auto& [what, seen] : armed_now_) seen.emplace_back(spike.time_us, spike.unit);
            }
            for (auto& [what, seen] : armed_now_) look_for(what, epoch, seen);
        }
        std::ranges::sort(occurrences);
    }

    void change(const decision& by, std::uint64_t epoch) {
        for (auto one = armed_now_.begin(); one != armed_now_.end();) {
            if (by.wanted.count(one->first) > 0) {
                ++one;
                continue;
            }
            look_for(one->first, epoch, one->second);
            one = armed_now_.erase(one);
            ++disarmed;
        }
        std::vector<episode> longest_first(by.wanted.begin(), by.wanted.end());
        std::ranges::stable_sort(longest_first, std::greater<>{}, &episode::size);
        for (const episode& one : longest_first) {
            if (by.significant.count(one) == 0 || armed_now_.count(one) > 0) continue;
            armed_now_[one];
            numbers_.emplace(one, numbers_.size());
            ++armed;
        }
    }

    void look_for(const episode& what, std::uint64_t epoch,
                  std::vector<std::pair<std::int64_t, unit_id>>& seen) {
        if (seen.empty()) return;
        const spike_sequence spikes = sequence_of(
            seen, named_units_of(4), {duration{seen.front().first}, duration{seen.back().first}});
        for (const auto& times : find_occurrences(spikes, what))
            occurrences.push_back({epoch, times.back(), numbers_.at(what), times});
        seen.clear();
    }

    session_options options_;
    std::vector<std::vector<spike_event>> epochs_{};
    std::vector<decision> decisions_{};
    std::map<episode, std::vector<std::pair<std::int64_t, unit_id>>> armed_now_{};
    std::map<episode, std::size_t> numbers_{};
};

/// Keeps what was armed and what it detected.
struct arming_results : sink {
    std::vector<armed_occurrence> detections{};
    std::vector<arming_change> changes{};
    std::vector<suppression> suppressed{};
    std::vector<armed_tally> tallies{};
    session_counts at_end{};
    std::uint64_t epoch = 0;

    void take(const event& what) override {
        what.visit(handlers{
            [&](const detection& one) {
                detections.push_back(
                    {epoch, one.end_us, one.armed, {one.times_us.begin(), one.times_us.end()}});
                suppressed.push_back(one.suppressed);
            },
            [&](const arming_change& change) { changes.push_back(change); },
            [&](const epoch_ended&) { ++epoch; },
            [&](const armed_tallied& all) {
                tallies = {all.armed.begin(), all.armed.end()};
            },
            [&](const session_ended& end) { at_end = end.counts; }});
    }
};

}  // namespace spikeweave::live
