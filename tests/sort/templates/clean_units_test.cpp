#include "sort/templates/clean_units.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace spikeweave::templates {
namespace {

constexpr template_window window{20, 40};
constexpr double rate = 30'000;
constexpr double seconds = 100;
constexpr std::size_t spikes_each = 200;

// A trough on some channels, so that the norm of the whole template is the given one.
matched_filter trough(std::uint32_t first_channel, std::size_t channels, double norm) {
    unit_template from;
    double squares = 0;
    for (std::size_t c = 0; c < channels; ++c) {
        from.channels.push_back(first_channel + static_cast<std::uint32_t>(c));
        for (std::size_t f = 0; f < window.size(); ++f) {
            const double t = (static_cast<double>(f) - static_cast<double>(window.before)) / 5;
            from.values.push_back(static_cast<float>(-std::exp(-t * t)));
            squares += std::exp(-2 * t * t);
        }
    }
    for (float& value : from.values) value *= static_cast<float>(norm / std::sqrt(squares));
    return filter_of(from);
}

double peak_of(const matched_filter& filter) {
    double largest = 0;
    for (const float value : waveform_of(filter, 0, 0))
        largest = std::max(largest, std::abs(double{value}));
    return largest;
}

struct unit_case {
    matched_filter filter;
    std::optional<residual_traces> found_late{};
};

struct cleaning {
    std::vector<std::uint32_t> fates{};
    std::vector<bool> kept{};
    std::vector<cluster_decision> decisions{};
};

// Units on channels of their own, whose spikes are regular and do not fall together.
cleaning clean(const std::vector<unit_case>& units, bool is_last, double detected_size,
               std::uint32_t least_spikes = 20, const std::vector<char>& explained = {}) {
    std::vector<matched_filter> filters;
    std::vector<std::optional<residual_traces>> found_late;
    for (const unit_case& unit : units) {
        filters.push_back(unit.filter);
        found_late.push_back(unit.found_late);
    }
    std::vector<template_spike> spikes;
    for (std::size_t n = 0; n < spikes_each; ++n)
        for (std::uint32_t u = 0; u < units.size(); ++u)
            spikes.push_back(
                {.frame = static_cast<std::int64_t>(1'000 + 14'000 * n + 3'000 * u), .unit = u});
    const std::vector<std::uint64_t> before(units.size(), spikes_each);
    std::vector<std::uint32_t> numbers(units.size());
    std::iota(numbers.begin(), numbers.end(), 1U);
    const match_plan plan(filters, {}, {.threads = 1});
    cleaning out;
    out.fates = clean_units({.plan = plan,
                             .window = window,
                             .spikes = spikes,
                             .before = before,
                             .numbers = numbers,
                             .found_late = found_late,
                             .explained = explained,
                             .channel_count = 32,
                             .frame_count = seconds * rate,
                             .rate_hz = rate,
                             .least_spikes = least_spikes,
                             .detected_size = detected_size,
                             .is_last = is_last},
                            {.threads = 1}, out.decisions)
                    .fates;
    for (std::uint32_t u = 0; u < out.fates.size(); ++u) out.kept.push_back(out.fates[u] == u);
    return out;
}

TEST(CleanUnits, WantsMoreOfSmallTemplatesThatWereFoundFirst) {
    constexpr auto late = residual_traces::channels;
    const std::vector<unit_case> units{{trough(0, 4, 5.5)},
                                       {trough(4, 4, 5.5), late},
                                       {trough(8, 4, 6.5)},
                                       {trough(12, 4, 4.5), late}};
    EXPECT_EQ(clean(units, false, 100).kept, (std::vector<bool>{true, true, true, true}));

    const cleaning last = clean(units, true, 100);
    EXPECT_EQ(last.kept, (std::vector<bool>{false, true, true, false}));
    ASSERT_EQ(last.decisions.size(), 2U);
    for (const cluster_decision& each : last.decisions)
        EXPECT_EQ(std::string(each.reason),
                  "its template is too small to distinguish its spikes from noise");
}

TEST(CleanUnits, DropsLargeSpikesThatOnlySumsOfChannelsShowed) {
    const matched_filter filter = trough(0, 4, 12);
    const matched_filter same_elsewhere = trough(8, 4, 12);
    const double peak = peak_of(filter);
    ASSERT_GT(peak, 1);
    const std::vector<unit_case> units{{filter, residual_traces::pooled},
                                       {same_elsewhere, residual_traces::channels}};
    EXPECT_EQ(clean(units, false, 1.1 * peak).kept, (std::vector<bool>{true, true}));

    const cleaning large = clean(units, false, 0.9 * peak);
    EXPECT_EQ(large.kept, (std::vector<bool>{false, true}));
    ASSERT_EQ(large.decisions.size(), 1U);
    EXPECT_EQ(large.decisions.front().cluster, 1U);
    EXPECT_EQ(std::string(large.decisions.front().reason),
              "its spikes are large enough to be found on single channels");
}

TEST(CleanUnits, DropsUnitsThatOthersExplain) {
    const std::vector<unit_case> units{{trough(0, 4, 20)}, {trough(8, 4, 20)}};
    EXPECT_EQ(clean(units, false, 100, 20, {0, 1}).kept, (std::vector<bool>{true, false}));
    EXPECT_EQ(clean(units, false, 100, 20, {0, 0}).kept, (std::vector<bool>{true, true}));
}

// Two late units have one template, which differs little from that of the first one.
TEST(CleanUnits, DropsWhatWasMergedWithADroppedUnit) {
    constexpr auto late = residual_traces::channels;
    const matched_filter variant = trough(0, 3, 17.3);
    const cleaning both = clean({{trough(0, 4, 20)}, {variant, late}, {variant, late}}, false, 100);
    EXPECT_EQ(both.fates, (std::vector<std::uint32_t>{0, no_unit, no_unit}));
    ASSERT_EQ(both.decisions.size(), 2U);
    EXPECT_EQ(both.decisions.front().fate, cluster_fate::merged);
    EXPECT_EQ(std::string(both.decisions.back().reason),
              "it is a variant of another unit, found late");
}

TEST(CleanUnits, WantsMoreSpikesOfLateUnits) {
    constexpr auto late = residual_traces::channels;
    const std::vector<unit_case> units{{trough(0, 4, 20)}, {trough(8, 4, 20), late}};
    EXPECT_EQ(clean(units, false, 100, spikes_each * 2 / 5).kept, (std::vector<bool>{true, true}));
    EXPECT_EQ(clean(units, false, 100, spikes_each / 2).kept, (std::vector<bool>{true, false}));
}

// Units with these spikes.
cleaned_units clean_trains(const std::vector<matched_filter>& filters,
                           const std::vector<std::vector<std::int64_t>>& trains,
                           const std::vector<std::optional<residual_traces>>& late = {},
                           bool is_last = false, const std::vector<float>& amplitudes = {1}) {
    std::vector<template_spike> spikes;
    std::vector<std::uint64_t> before;
    for (std::uint32_t u = 0; u < trains.size(); ++u) {
        for (std::size_t n = 0; n < trains[u].size(); ++n)
            spikes.push_back(
                {.frame = trains[u][n], .unit = u, .amplitude = amplitudes[n % amplitudes.size()]});
        before.push_back(trains[u].size());
    }
    std::ranges::sort(spikes, {}, [](const template_spike& spike) { return spike.frame; });
    std::vector<std::uint32_t> numbers(trains.size());
    std::iota(numbers.begin(), numbers.end(), 1U);
    std::vector<std::optional<residual_traces>> found_late = late;
    found_late.resize(trains.size());
    const match_plan plan(filters, {}, {.threads = 1});
    std::vector<cluster_decision> decisions;
    return clean_units({.plan = plan,
                        .window = window,
                        .spikes = spikes,
                        .before = before,
                        .numbers = numbers,
                        .found_late = found_late,
                        .channel_count = 32,
                        .frame_count = seconds * rate,
                        .rate_hz = rate,
                        .least_spikes = 20,
                        .detected_size = 4.5,
                        .is_last = is_last},
                       {.threads = 1}, decisions);
}

// At about 20 Hz, none within 4 ms of the one before.
std::vector<std::int64_t> train(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::exponential_distribution<double> interval(20 / rate);
    std::vector<std::int64_t> out;
    for (double at = 1000; at < seconds * rate - 1000; at += 120 + interval(random))
        out.push_back(static_cast<std::int64_t>(at));
    return out;
}

std::vector<std::int64_t> train_without_refractory_period() {
    std::mt19937_64 random(5);
    std::vector<std::int64_t> out(train(1).size());
    for (std::int64_t& at : out)
        at = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(seconds * rate));
    std::ranges::sort(out);
    return out;
}

// Noise has no refractory period.
TEST(CleanUnits, KeepsASmallTemplateOfAUnitWithARefractoryPeriod) {
    const std::vector<matched_filter> filters{trough(0, 4, 5), trough(8, 4, 5), trough(16, 4, 3.5)};
    EXPECT_EQ(
        clean_trains(filters, {train(1), train_without_refractory_period(), train(2)}, {}, true)
            .fates,
        (std::vector<std::uint32_t>{0, no_unit, no_unit}));
}

// Of noise, the smallest spikes that the threshold lets pass are the most.
TEST(CleanUnits, DropsALateUnitThatTheThresholdCutsOutOfNoise) {
    std::mt19937_64 random(8);
    std::exponential_distribution<float> beyond(5);
    std::normal_distribution<float> around(1, 0.1F);
    std::vector<float> of_noise(500);
    std::vector<float> of_neuron(500);
    for (float& each : of_noise) each = 0.6F + beyond(random);
    for (float& each : of_neuron) each = around(random);
    const auto noise = train_without_refractory_period();
    const std::vector<matched_filter> filters{trough(0, 4, 12), trough(8, 4, 12),
                                              trough(16, 4, 12)};
    const std::vector<std::optional<residual_traces>> late{residual_traces::channels,
                                                           residual_traces::channels};
    const auto fates = [&](const std::vector<float>& amplitudes, bool is_last) {
        return clean_trains(filters, {train(1), noise, noise}, late, is_last, amplitudes).fates;
    };
    EXPECT_EQ(fates(of_noise, true), (std::vector<std::uint32_t>{0, no_unit, 2}));
    EXPECT_EQ(fates(of_noise, false), (std::vector<std::uint32_t>{0, 1, 2}));
    EXPECT_EQ(fates(of_neuron, true), (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(CleanUnits, KeepsALateUnitThatFiresLikeAnotherNeuron) {
    const std::vector<matched_filter> filters{trough(0, 4, 20), trough(0, 3, 17.3)};
    const std::vector<std::optional<residual_traces>> late{{}, residual_traces::channels};
    EXPECT_EQ(clean_trains(filters, {train(1), train(2)}, late).fates,
              (std::vector<std::uint32_t>{0, 1}));
}

TEST(CleanUnits, JoinsPartsOfANeuronAroundDifferentPeaks) {
    constexpr std::int64_t later = 12;
    // The same trough, so much later in the window.
    const auto late_trough = [](double norm) {
        unit_template from;
        for (std::uint32_t c = 0; c < 4; ++c) {
            from.channels.push_back(c);
            for (std::size_t f = 0; f < window.size(); ++f) {
                const double t =
                    (static_cast<double>(f) - static_cast<double>(window.before + later)) / 5;
                from.values.push_back(static_cast<float>(-std::exp(-t * t)));
            }
        }
        double squares = 0;
        for (const float value : from.values) squares += value * value;
        for (float& value : from.values) value *= static_cast<float>(norm / std::sqrt(squares));
        return filter_of(from);
    };
    std::vector<std::vector<std::int64_t>> halves(2);
    std::size_t n = 0;
    for (const std::int64_t frame : train(1)) {
        const bool is_first = n++ % 5 < 3;
        halves[is_first ? 0 : 1].push_back(is_first ? frame : frame - later);
    }

    const cleaned_units one = clean_trains({trough(0, 4, 40), late_trough(40)}, halves);

    EXPECT_EQ(one.fates, (std::vector<std::uint32_t>{0, 0}));
    EXPECT_EQ(one.shifts, (std::vector<std::int64_t>{0, later}));

    const cleaned_units two =
        clean_trains({trough(0, 4, 40), late_trough(40)}, {train(1), train(2)});

    EXPECT_EQ(two.fates, (std::vector<std::uint32_t>{0, 1}));
}

// Of so few spikes, hardly any pair is expected at refractory lags.
TEST(CleanUnits, JoinsPartsOfADriftingNeuronThatTakeTurns) {
    std::vector<std::vector<std::int64_t>> turns(2);
    std::vector<std::vector<std::int64_t>> mixed(2);
    std::mt19937_64 random(3);
    const auto frames = static_cast<std::int64_t>(seconds * rate);
    for (std::int64_t n = 0; n < 200; ++n) {
        const std::int64_t at = (n * frames + static_cast<std::int64_t>(random() % 2'000)) / 200;
        turns[n < 100 ? 0 : 1].push_back(at);
        mixed[random() % 2].push_back(at);
    }
    const std::vector<matched_filter> alike{trough(0, 4, 60), trough(0, 5, 60)};

    EXPECT_EQ(clean_trains(alike, turns).fates, (std::vector<std::uint32_t>{0, 0}));
    EXPECT_EQ(clean_trains(alike, mixed).fates, (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(clean_trains({trough(0, 4, 60), trough(3, 5, 60)}, turns).fates,
              (std::vector<std::uint32_t>{0, 1}))
        << "too unlike";
}

// The parts of the filters of large spikes leave more of them than noise does.
TEST(CleanUnits, JoinsHalvesOfANeuronOfLargeSpikes) {
    // A trough on four channels, and on a fifth one of this share of their height.
    const auto large_trough = [](double share, double later = 0, double width = 5) {
        unit_template from;
        double squares = 0;
        for (std::uint32_t c = 0; c < 5; ++c) {
            from.channels.push_back(c);
            for (std::size_t f = 0; f < window.size(); ++f) {
                const double frame = static_cast<double>(f) - static_cast<double>(window.before);
                const double t = (frame - later) / width;
                const double value = -std::exp(-t * t) * (c < 4 ? 1 : share);
                from.values.push_back(static_cast<float>(value));
                squares += value * value;
            }
        }
        for (float& value : from.values) value *= static_cast<float>(400 / std::sqrt(squares));
        return filter_of(from);
    };
    // Of so few spikes, hardly any pair is expected at refractory lags.
    std::vector<std::vector<std::int64_t>> halves(2);
    for (std::int64_t n = 0; n < 200; ++n)
        halves[static_cast<std::size_t>(n % 2)].push_back(1'000 + 14'000 * n);
    EXPECT_EQ(clean_trains({large_trough(0), large_trough(0.05)}, halves).fates,
              (std::vector<std::uint32_t>{0, 0}));
    EXPECT_EQ(clean_trains({large_trough(0), large_trough(0.1)}, halves).fates,
              (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(clean_trains({large_trough(0), large_trough(0, 0.45, 5.1)}, halves).fates,
              (std::vector<std::uint32_t>{0, 0}))
        << "their times lie between frames";
    EXPECT_EQ(clean_trains({large_trough(0), large_trough(0.1, 0.45, 5.1)}, halves).fates,
              (std::vector<std::uint32_t>{0, 1}));
}

TEST(CleanUnits, JoinsTheLargeAndTheSmallSpikesOfBursts) {
    std::vector<std::vector<std::int64_t>> parts(2);
    std::mt19937_64 random(3);
    for (std::int64_t at = 1000; at < static_cast<std::int64_t>(seconds * rate) - 30'000;
         at += 30'000) {
        const auto begin = at + static_cast<std::int64_t>(random() % 10'000);
        parts[0].insert(parts[0].end(), {begin, begin + 130});
        parts[1].insert(parts[1].end(), {begin + 260, begin + 400});
    }
    EXPECT_EQ(clean_trains({trough(0, 4, 60), trough(0, 4, 20)}, parts).fates,
              (std::vector<std::uint32_t>{0, 0}));
    EXPECT_EQ(clean_trains({trough(0, 4, 60), trough(0, 4, 12)}, parts).fates,
              (std::vector<std::uint32_t>{0, 1}))
        << "too small for the same neuron";
}

// Its second spikes are smaller by little and come within the refractory lags of independent units.
TEST(CleanUnits, JoinsTheFirstAndTheSecondSpikesOfBursts) {
    std::vector<std::vector<std::int64_t>> parts(2);
    std::mt19937_64 random(3);
    for (const std::int64_t at : train(1)) {
        if (random() % 4 != 0) continue;
        parts[0].push_back(at);
        parts[1].push_back(at + 30 + static_cast<std::int64_t>(random() % 60));
    }
    const std::vector<matched_filter> filters{trough(0, 4, 60), trough(0, 4, 55)};
    EXPECT_EQ(clean_trains(filters, parts).fates, (std::vector<std::uint32_t>{0, 0}));
    EXPECT_EQ(clean_trains(filters, {parts[0], train(2)}).fates,
              (std::vector<std::uint32_t>{0, 1}));
}

// A large neuron fires less often than each pair of three others does by chance.
TEST(CleanUnits, DropsTheMeanOfCollisionsOfTwoUnitsNotOfThree) {
    std::vector<std::int64_t> rare;
    for (const std::int64_t frame : train(4))
        if (rare.empty() || frame > rare.back() + 30'000) rare.push_back(frame);
    const auto fate_of = [&](const matched_filter& filter) {
        const std::vector<matched_filter> filters{trough(0, 4, 20), trough(4, 4, 20),
                                                  trough(8, 4, 20), filter};
        return clean_trains(filters, {train(1), train(2), train(3), rare}).fates[3];
    };
    EXPECT_EQ(fate_of(trough(0, 8, 28.3)), no_unit);
    EXPECT_EQ(fate_of(trough(0, 12, 34.6)), 3U);
}

TEST(CleanUnits, DropsWhatTemplatesLeaveOfLargerSpikes) {
    const std::vector<std::int64_t> large = train(1);
    std::vector<std::int64_t> ringing;
    for (const std::int64_t frame : large) ringing.push_back(frame + 55);
    const std::vector<matched_filter> filters{trough(0, 4, 60), trough(8, 4, 20)};

    EXPECT_EQ(clean_trains(filters, {large, ringing}).fates,
              (std::vector<std::uint32_t>{0, no_unit}));
    EXPECT_EQ(clean_trains(filters, {large, train(2)}).fates, (std::vector<std::uint32_t>{0, 1}));
}

}  // namespace
}  // namespace spikeweave::templates
