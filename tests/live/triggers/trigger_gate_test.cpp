#include "live/triggers/trigger_gate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "support/error_text.hpp"
#include "support/run_length.hpp"

namespace spikeweave::live {
namespace {

constexpr duration us(std::int64_t time) {
    return duration{time};
}

// What a gate decides on a detection of the first episode with a spike at each of these times.
std::vector<suppression> decided(const trigger_options& options,
                                 const std::vector<std::int64_t>& times) {
    trigger_gate gate(1, options);
    std::vector<suppression> all;
    for (const std::int64_t time : times) {
        gate.observe(time);
        all.push_back(gate.decide(0));
    }
    return all;
}

constexpr auto none = suppression::none;

TEST(TriggerGate, LetsEverythingPassByDefault) {
    EXPECT_EQ(decided({}, {-5, -5, 0}), std::vector(3, none));
}

TEST(TriggerGate, HoldsOffTheSameEpisode) {
    EXPECT_EQ(decided({.hold_off = us(10)}, {0, 9, 10, 15, 20}),
              (std::vector{none, suppression::hold_off, none, suppression::hold_off, none}))
        << "since the last trigger, not the last detection";

    trigger_gate gate(2, {.hold_off = us(10)});
    gate.observe(0);
    EXPECT_EQ(gate.decide(0), none);
    EXPECT_EQ(gate.decide(1), none);
    EXPECT_EQ(gate.decide(0), suppression::hold_off);
}

TEST(TriggerGate, LimitsTheRateOfAll) {
    const auto rate = suppression::rate;
    EXPECT_EQ(decided({.max_triggers = event_rate{2, us(10)}}, {0, 0, 0, 4, 5, 9, 10, 30, 30, 30}),
              (std::vector{none, none, rate, rate, none, rate, none, none, none, rate}))
        << "two at once, and then one in five microseconds";
}

TEST(TriggerGate, IsMutedWhileAllUnitsFireTooFast) {
    const auto mute = suppression::mute;
    // More than two spikes in the ten microseconds before.
    const trigger_options options{.mute_above = event_rate{2, us(10)}, .mute_window = us(10)};
    EXPECT_EQ(decided(options, {0, 0, 0, 0, 1, 10, 11, 12, 13, 20, 24}),
              (std::vector{none, none, none, none, mute, mute, none, none, mute, mute, none}))
        << "spikes at the same time do not count";
}

TEST(TriggerGate, GivesTheReasonThatConcernsMost) {
    trigger_gate gate(1, {.hold_off = us(10),
                          .max_triggers = event_rate{1, us(100)},
                          .mute_above = event_rate{1, us(10)},
                          .mute_window = us(10),
                          .max_false_alarms = event_rate{1}});
    gate.observe(0);
    EXPECT_EQ(gate.decide(0), suppression::unchecked);
    gate.open();
    EXPECT_EQ(gate.decide(0), none);
    EXPECT_EQ(gate.decide(0), suppression::hold_off);
    gate.observe(5);
    gate.observe(6);
    EXPECT_EQ(gate.decide(0), suppression::mute);
    gate.observe(20);
    EXPECT_EQ(gate.decide(0), suppression::rate);
}

TEST(TriggerGate, LetsNoTimePassBetweenEpochs) {
    trigger_gate gate(1, {.hold_off = us(10)});
    gate.observe(100);
    EXPECT_EQ(gate.decide(0), none);
    gate.observe(103);
    gate.end_epoch();
    gate.observe(-50);
    EXPECT_EQ(gate.decide(0), suppression::hold_off);
    gate.observe(-44);
    EXPECT_EQ(gate.decide(0), suppression::hold_off);
    gate.observe(-43);
    EXPECT_EQ(gate.decide(0), none);
    gate.end_epoch();
    gate.observe(1'000'000);
    EXPECT_EQ(gate.decide(0), suppression::hold_off);
}

TEST(TriggerGate, TakesAnyTimes) {
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(decided({.hold_off = us(10),
                       .max_triggers = event_rate{100'000'000, std::chrono::hours{24}},
                       .mute_above = event_rate{1, us(1)},
                       .mute_window = us(1)},
                      {least, most}),
              std::vector(2, none));
}

// The decisions straight from the definition, from the list of all spikes and triggers so far.
class listed_decisions {
public:
    explicit listed_decisions(trigger_options options) : options_(options) {}

    void observe(std::int64_t now) { spikes_.push_back(now); }

    suppression decide(std::size_t armed) {
        const std::int64_t now = spikes_.back();
        if (options_.mute_above) {
            const auto before = std::count_if(spikes_.begin(), spikes_.end(), [&](auto time) {
                return time < now && time >= now - options_.mute_window.count();
            });
            const auto& [count, period] = *options_.mute_above;
            if (before * period.count() >
                static_cast<std::int64_t>(count) * options_.mute_window.count())
                return suppression::mute;
        }
        for (const auto& [time, who] : triggers_)
            if (who == armed && now < time + options_.hold_off.count())
                return suppression::hold_off;
        if (options_.max_triggers && exceeds_rate(now)) return suppression::rate;
        triggers_.emplace_back(now, armed);
        return suppression::none;
    }

private:
    // Within any time d, a bucket lets at most as many pass as it holds and as come in d.
    bool exceeds_rate(std::int64_t now) const {
        const auto& [count, period] = *options_.max_triggers;
        for (std::size_t first = 0; first <= triggers_.size(); ++first) {
            const std::int64_t since = first < triggers_.size() ? triggers_[first].first : now;
            const auto passed = static_cast<std::int64_t>(triggers_.size() - first) + 1;
            const auto most = static_cast<std::int64_t>(count) * (now - since + period.count());
            if (passed * period.count() > most) return true;
        }
        return false;
    }

    trigger_options options_;
    std::vector<std::int64_t> spikes_{};
    std::vector<std::pair<std::int64_t, std::size_t>> triggers_{};
};

TEST(TriggerGateProperty, DecidesAsTheDefinition) {
    std::mt19937_64 random(11);
    const auto below = [&](std::uint64_t bound) { return random() % bound; };
    const auto small = [&](std::uint64_t bound) {
        return us(1 + static_cast<std::int64_t>(below(bound)));
    };
    std::array<std::size_t, suppressions> seen{};
    for (std::size_t i = 0; i < property_cases(2000); ++i) {
        trigger_options options{.mute_window = small(20)};
        if (below(2) == 0) options.hold_off = small(12);
        if (below(2) == 0) options.max_triggers = event_rate{1 + below(4), small(30)};
        if (below(2) == 0) options.mute_above = event_rate{1 + below(4), small(10)};
        trigger_gate gate(3, options);
        listed_decisions listed(options);
        std::int64_t now = -20;
        for (std::uint64_t spikes = below(120); spikes-- > 0;) {
            now += static_cast<std::int64_t>(below(6) == 0 ? below(40) : below(4));
            gate.observe(now);
            listed.observe(now);
            for (std::uint64_t detections = below(3); detections-- > 0;) {
                const auto armed = static_cast<std::size_t>(below(3));
                const suppression why = gate.decide(armed);
                ASSERT_EQ(why, listed.decide(armed)) << "case " << i << " at " << now;
                ++seen[static_cast<std::size_t>(why)];
            }
        }
    }
    for (const suppression why :
         {none, suppression::hold_off, suppression::rate, suppression::mute})
        EXPECT_GT(seen[static_cast<std::size_t>(why)], property_cases(2000)) << to_string(why);
}

TEST(EventRate, IsReadExactly) {
    const auto second = std::chrono::seconds{1};
    const auto minute = std::chrono::minutes{1};
    EXPECT_EQ(parse_rate("10/s"), (event_rate{10, second}));
    EXPECT_EQ(parse_rate("1/min"), (event_rate{1, minute}));
    EXPECT_EQ(parse_rate("0.5/min"), (event_rate{1, 2 * minute}));
    EXPECT_EQ(parse_rate("3/10s"), (event_rate{3, 10 * second}));
    EXPECT_EQ(parse_rate("5kHz"), (event_rate{5000, second}));
    EXPECT_EQ(parse_rate("2.5kHz"), (event_rate{2500, second}));
    EXPECT_EQ(parse_rate("0.25Hz"), (event_rate{1, 4 * second}));
    for (const char* const text : {"10/s", "1/min", "3/10s", "7/0.25s", "100000000/h"})
        EXPECT_EQ(parse_rate(format_rate(parse_rate(text))), parse_rate(text)) << text;
    EXPECT_EQ(format_rate({10, second}), "10/s");

    for (const char* const text :
         {"", "10", "0/s", "-1/s", "1/", "/s", "1/0s", "1/-1s", "x/s", "1e3/s", "1.2.3/s",
          "100000001/s", "1/25h", "1000000kHz", "0.0000001/s", "1 /s", "18446744073709551617/s"})
        EXPECT_EQ(
            text_of([&] { parse_rate(text); }),
            std::string("'") + text +
                "' is not a rate: expected a number above 0 in a time, such as 10/s, 1/min or "
                "5kHz, with at most 100000000 in 86400 s and six decimals");
    EXPECT_THROW(trigger_gate(1, {.mute_above = event_rate{}}), invalid_argument);
    EXPECT_THROW(trigger_gate(1, {.hold_off = us(-1)}), invalid_argument);
}

}  // namespace
}  // namespace spikeweave::live
