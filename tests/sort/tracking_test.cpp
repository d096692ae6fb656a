#include "spikeweave/sort/tracking.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"

namespace spikeweave {
namespace {

constexpr std::size_t frames = 40;

struct neuron {
    double x_um;
    double y_um;
    double peak_uv;
    double width;     // of the trough, in frames
    double reach_um;  // of its field
};

double uniform(random_stream& random, double low, double high) {
    return low + (high - low) * random.uniform();
}

neuron draw_neuron(random_stream& random) {
    return {uniform(random, 0, 20), uniform(random, 0, 620), uniform(random, 60, 250),
            uniform(random, 3, 7), uniform(random, 18, 35)};
}

std::vector<neuron> draw_neurons(std::size_t number, std::uint32_t seed) {
    random_stream random(seed, random_purpose::recording_units, 0);
    std::vector<neuron> out;
    for (std::size_t i = 0; i < number; ++i) out.push_back(draw_neuron(random));
    return out;
}

sorted_session contacts() {
    sorted_session out{.frames = frames, .rate_hz = 30'000};
    for (std::uint32_t c = 0; c < 64; ++c)
        out.channels.push_back({.name = std::to_string(c),
                                .gain_uv = 1,
                                .x_um = 20.0 * (c % 2),
                                .y_um = 20.0 * (c / 2)});
    return out;
}

// The waveform of a neuron on the twelve nearest contacts, with noise of a mean of many spikes.
unit_footprint footprint(const sorted_session& in, const neuron& from, double moved_um,
                         random_stream& random) {
    std::vector<std::uint32_t> nearest(in.channels.size());
    std::iota(nearest.begin(), nearest.end(), 0U);
    const auto distance = [&](std::uint32_t c) {
        return std::hypot(in.channels[c].x_um - from.x_um,
                          in.channels[c].y_um - from.y_um - moved_um);
    };
    std::ranges::sort(nearest, {}, distance);
    nearest.resize(12);
    std::ranges::sort(nearest);
    unit_footprint out{.spikes = 500, .channels = nearest};
    const auto draw = [&] {
        std::vector<float> values;
        for (std::size_t f = 0; f < frames; ++f)
            for (const std::uint32_t c : nearest) {
                const double t = (static_cast<double>(f) - 12) / from.width;
                const double r = distance(c) / from.reach_um;
                const double spike = from.peak_uv / (1 + r * r) *
                                     (0.4 * std::exp(-(t - 2) * (t - 2)) - std::exp(-t * t));
                values.push_back(static_cast<float>(spike + uniform(random, -1, 1)));
            }
        return values;
    };
    out.mean = draw();
    out.halves = {draw(), draw()};
    return out;
}

sorted_session session_of(const std::vector<neuron>& neurons, double moved_um, std::uint32_t seed) {
    random_stream random(seed, random_purpose::recording_noise, 0);
    sorted_session out = contacts();
    out.name = std::to_string(seed);
    for (const neuron& one : neurons) out.units.push_back(footprint(out, one, moved_um, random));
    return out;
}

TEST(TrackUnits, FindsNeuronsThatMovedAmongOthers) {
    const std::vector<neuron> first = draw_neurons(40, 1);
    // Thirty remain, in another order and with other amplitudes; ten others come.
    std::vector<neuron> second(first.rbegin(), first.rbegin() + 30);
    random_stream random(2, random_purpose::recording_units, 0);
    for (neuron& one : second) one.peak_uv *= uniform(random, 0.85, 1.15);
    for (int i = 0; i < 10; ++i) second.push_back(draw_neuron(random));
    const std::vector sessions{session_of(first, 0, 11), session_of(second, 34, 12)};

    const tracking found = track_units(sessions);

    ASSERT_EQ(found.relations.size(), 1U);
    EXPECT_NEAR(found.relations[0].moved_um, 34, 3);
    std::size_t right = 0;
    std::size_t wrong = 0;
    for (const unit_match& one : found.matches)
        if (one.is_accepted)
            ++(one.other_unit < 30 && one.unit == 39 - one.other_unit ? right : wrong);
    // Some are at the ends of the probe, others like a neighbour.
    EXPECT_GE(right, 24U);
    EXPECT_LE(wrong, 1U);
    EXPECT_EQ(found.relations[0].accepted, right + wrong);
    EXPECT_EQ(found.units.size(), 80 - right - wrong);
    for (const split_half_check& check : found.checks) {
        EXPECT_EQ(check.units, 40U);
        EXPECT_LE(check.missed + check.wrong, 3U);
        EXPECT_EQ(check.wrong, 0U);
    }
}

// Units that resemble each other in shape are told apart by their places.
TEST(TrackUnits, TakesNoOtherNeuronForOneThatIsGone) {
    const std::vector sessions{session_of(draw_neurons(30, 3), 0, 13),
                               session_of(draw_neurons(30, 4), 0, 14)};
    const tracking found = track_units(sessions);
    EXPECT_LE(found.relations[0].accepted, 5U);
    EXPECT_EQ(found.units.size(), 60 - found.relations[0].accepted);
}

TEST(TrackUnits, JoinsSeveralSessionsToOneNeuronEach) {
    const std::vector<neuron> all = draw_neurons(25, 5);
    const std::vector<neuron> some(all.begin() + 5, all.end());
    const std::vector sessions{session_of(all, 0, 15), session_of(some, 20, 16),
                               session_of(all, -20, 17)};
    const tracking found = track_units(sessions, {}, {.threads = 3});
    std::size_t in_all = 0;
    for (const tracked_unit& neuron : found.units) {
        ASSERT_EQ(neuron.in_session.size(), 3U);
        const auto [a, b, c] =
            std::tuple(neuron.in_session[0], neuron.in_session[1], neuron.in_session[2]);
        if (a && c) {
            EXPECT_EQ(*a, *c);
        }
        if (a && b) {
            EXPECT_EQ(*a, *b + 5);
        }
        in_all += a && b && c ? 1 : 0;
    }
    EXPECT_GE(in_all, 18U);
    const tracking again = track_units(sessions, {}, {.threads = 1});
    ASSERT_EQ(again.matches.size(), found.matches.size());
    for (std::size_t i = 0; i < again.matches.size(); ++i)
        EXPECT_EQ(again.matches[i].probability, found.matches[i].probability);
}

TEST(TrackUnits, RefusesSessionsThatCannotBeCompared) {
    const std::vector one{session_of(draw_neurons(3, 1), 0, 1)};
    EXPECT_THROW(track_units(one), invalid_argument);
    std::vector two{one[0], one[0]};
    two[1].channels[3].x_um += 5;
    EXPECT_THROW(track_units(two), invalid_argument);
    two[1] = one[0];
    two[1].rate_hz = 20'000;
    EXPECT_THROW(track_units(two), invalid_argument);
    two[1] = one[0];
    EXPECT_THROW(track_units(two, {.min_probability = 0}), invalid_argument);
    two[1].units.clear();
    EXPECT_EQ(track_units(two).units.size(), 3U);
}

TEST(Autocorrelogram, HasTheSharesOfLags) {
    std::vector<std::int64_t> times;
    for (std::int64_t i = 0; i < 200; ++i) times.push_back(i * 100'000);
    const std::vector<double> shares = autocorrelogram_of(times);
    ASSERT_EQ(shares.size(), 24U);
    // 199 lags of 100 ms and 198 of 200 ms; 300 ms are beyond the end.
    std::vector<double> some;
    std::ranges::copy_if(shares, std::back_inserter(some), [](double share) { return share > 0; });
    ASSERT_EQ(some.size(), 2U);
    EXPECT_DOUBLE_EQ(some[0], 199.0 / 397);
    EXPECT_TRUE(autocorrelogram_of(std::span(times).first(40)).empty());
}

}  // namespace
}  // namespace spikeweave
