#include "spikeweave/simulate/recording.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "simulate/recording_model.hpp"
#include "spikeweave/spikes/spike_trains.hpp"
#include "support/recordings.hpp"
#include "support/run_length.hpp"
#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

std::uint64_t digest(const std::vector<std::int16_t>& samples) {
    std::uint64_t hash = 14695981039346656037U;
    for (const std::int16_t sample : samples) {
        hash ^= static_cast<std::uint16_t>(sample);
        hash *= 1099511628211U;
    }
    return hash;
}

double correlation(const std::vector<std::int16_t>& samples, std::size_t channels, std::size_t a,
                   std::size_t b) {
    double one = 0;
    double two = 0;
    double both = 0;
    for (std::size_t at = 0; at < samples.size(); at += channels) {
        one += static_cast<double>(samples[at + a]) * samples[at + a];
        two += static_cast<double>(samples[at + b]) * samples[at + b];
        both += static_cast<double>(samples[at + a]) * samples[at + b];
    }
    return both / std::sqrt(one * two);
}

TEST(SimulateRecording, GivesTheSameBytesOnEveryMachineAndAnyNumberOfThreads) {
    const recording_options options{.channels = 5, .length = 700ms, .units = 4, .seed = 11};
    const simulated_recording one = simulate_recording(options, {.threads = 1});
    const simulated_recording many = simulate_recording(options, {.threads = 5});
    EXPECT_EQ(samples_of(one.traces), samples_of(many.traces));
    EXPECT_EQ(one.truth.spikes, many.truth.spikes);
    EXPECT_EQ(digest(samples_of(one.traces)), 13134689502568997443U);
    recording_options other = options;
    other.seed = 12;
    EXPECT_NE(samples_of(simulate_recording(other).traces), samples_of(one.traces));
}

TEST(SimulateRecording, TakesUnitsTimesAndNamesOfAFile) {
    const temporary_folder folder;
    const auto file = folder.path() / "spikes.tsv";
    write_spikes(file, spike_sequence({1'500'000, 1'700'000, 1'700'000, 3'100'000},
                                      {unit_id{0}, unit_id{0}, unit_id{1}, unit_id{1}},
                                      {"cell a", "cell b"}, {1s, 3200ms}));
    const recording_options options{.channels = 4, .length = 1h, .units = 7, .spikes = file};

    const recording_truth truth = simulate_recording(folder.path() / "rec", options);

    const recording made = read_recording(folder.path() / "rec");
    EXPECT_EQ(made.length(), 3s) << "whole seconds";
    EXPECT_EQ(truth.spikes.unit_names(), (std::vector<std::string>{"cell a", "cell b"}));
    EXPECT_EQ(read_spikes(folder.path() / "rec/truth.npz").spikes, truth.spikes);
    const auto times = truth.spikes.times_us();
    EXPECT_EQ(std::vector(times.begin(), times.end()),
              (std::vector<std::int64_t>{500'000, 700'000, 700'000, 2'100'000}))
        << "since the begin of the file's span";
    ASSERT_EQ(truth.units.size(), 2U);
    EXPECT_NEAR(truth.units[0].rate_hz, 2.0 / 3, 1e-9);
    const auto samples = samples_of(made);
    const auto trough = std::ranges::min_element(samples) - samples.begin();
    const double trough_s = static_cast<double>(trough / 4) / made.rate_hz();
    EXPECT_TRUE(std::ranges::any_of(times, [&](std::int64_t at) {
        return std::abs(static_cast<double>(at) / 1e6 - trough_s) < 1e-3;
    }));
    write_spikes(folder.path() / "none.tsv", spike_sequence{});
    EXPECT_SAYS(refusal_of([&] { simulate_recording({.spikes = folder.path() / "none.tsv"}); }),
                "none.tsv");
}

TEST(SimulateRecording, WritesToAFolderWhatItGivesInMemory) {
    const temporary_folder folder;
    const recording_options options{.channels = 3, .length = 400ms, .units = 2, .seed = 2};
    const simulated_recording expected = simulate_recording(options);

    const recording_truth truth = simulate_recording(folder.path() / "rec", options);

    const recording read = read_recording(folder.path() / "rec");
    EXPECT_EQ(samples_of(read), samples_of(expected.traces));
    EXPECT_EQ(read.channels(), expected.traces.channels());
    EXPECT_EQ(truth.spikes, expected.truth.spikes);
    EXPECT_EQ(read_spikes(folder.path() / "rec/truth.npz").spikes, truth.spikes);
    EXPECT_SAYS(refusal_of([&] { simulate_recording(folder.path() / "rec", options); }),
                "exists already");
    EXPECT_EQ(simulate_recording(folder.path() / "rec", options, true).spikes, truth.spikes);
}

TEST(SimulateRecording, HasTheRatesAndDeadTimesThatWereAskedFor) {
    const recording_options options{.channels = 1,
                                    .columns = 1,
                                    .rate_hz = 1000,
                                    .length = 200s,
                                    .units = 5,
                                    .low_hz = 10,
                                    .high_hz = 30,
                                    .refractory = 10ms};
    const simulated_recording made = simulate_recording(options);
    const spike_trains trains(made.truth.spikes);
    for (std::uint32_t u = 0; u < 5; ++u) {
        const auto times = trains.times_us(unit_id{u});
        std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
        for (std::size_t i = 1; i < times.size(); ++i)
            shortest = std::min(shortest, times[i] - times[i - 1]);
        EXPECT_GE(shortest, 10'000 - 1);
        EXPECT_LT(shortest, 12'000);
        const double rate = made.truth.units[u].rate_hz;
        EXPECT_TRUE(rate >= 10 && rate <= 30);
        // The tolerance is five standard deviations of a Poisson count.
        EXPECT_NEAR(static_cast<double>(times.size()), 200 * rate, 5 * std::sqrt(200 * rate));
    }
}

TEST(SimulateRecording, HasNoiseOfTheSizeAndReachThatWereAskedFor) {
    recording_options options{
        .channels = 4, .columns = 1, .length = 3s, .units = 1, .low_uv = 0, .high_uv = 0};
    options.noise_uv = 10;
    options.gain_uv = 0.1;
    const auto samples = samples_of(simulate_recording(options).traces);
    double squares = 0;
    double fourth = 0;
    for (std::size_t at = 0; at < samples.size(); at += 4) {
        const double uv = 0.1 * samples[at];
        squares += uv * uv;
        fourth += uv * uv * uv * uv;
    }
    const auto n = static_cast<double>(samples.size()) / 4;
    EXPECT_NEAR(std::sqrt(squares / n), 10, 0.1);
    EXPECT_NEAR(fourth / n / std::pow(squares / n, 2), 3, 0.1);  // as for the normal distribution
    EXPECT_GT(correlation(samples, 4, 0, 1), 0.3);
    EXPECT_GT(correlation(samples, 4, 0, 2), 0.02);
    EXPECT_NEAR(correlation(samples, 4, 0, 3), 0,
                0.02);  // 60 um apart, which is the range of the noise

    options.noise_reach_um = 0;
    EXPECT_NEAR(correlation(samples_of(simulate_recording(options).traces), 4, 0, 1), 0, 0.02);
}

TEST(SimulateRecording, PutsEachSpikeWhereItsUnitIs) {
    recording_options options{.channels = 8, .columns = 1, .length = 5s, .units = 1, .seed = 5};
    options.noise_uv = 0;
    options.amplitude_jitter = 0;
    const simulated_recording made = simulate_recording(options);
    const simulated_unit& unit = made.truth.units[0];
    const auto samples = samples_of(made.traces);
    for (const std::int64_t time_us : made.truth.spikes.times_us()) {
        const auto frame =
            static_cast<std::size_t>(std::llround(static_cast<double>(time_us) * 0.03));
        if (frame >= samples.size() / 8) continue;
        const auto* const at = samples.data() + frame * 8;
        EXPECT_EQ(std::min_element(at, at + 8) - at, unit.channel);
        EXPECT_NEAR(-at[unit.channel] * options.gain_uv, unit.peak_uv, 0.03 * unit.peak_uv);
    }
}

TEST(SimulateRecording, MovesItsUnitsAlongTheProbe) {
    recording_options options{.channels = 16, .columns = 1, .length = 20s, .units = 1, .seed = 4};
    options.noise_uv = 0;
    // The unit drifts away from the nearer end, which it would otherwise leave.
    const bool up = simulate_recording(options).truth.units[0].y_um < 150;
    options.drift_um = up ? 100 : -100;
    const simulated_recording made = simulate_recording(options);
    const auto samples = samples_of(made.traces);
    const auto channel_at = [&](std::int64_t time_us) {
        const auto* const at =
            samples.data() +
            static_cast<std::size_t>(std::llround(static_cast<double>(time_us) * 0.03)) * 16;
        return std::min_element(at, at + 16) - at;
    };
    const auto times = made.truth.spikes.times_us();
    EXPECT_NEAR(static_cast<double>(channel_at(times[times.size() - 2]) - channel_at(times[0])),
                up ? 5 : -5, 1);
}

// The displacement that the truth gives, as a reader of motion.tsv computes it.
double displacement_at(const std::vector<simulated_displacement>& motion, duration time) {
    for (std::size_t i = 1; i < motion.size(); ++i) {
        const simulated_displacement& to = motion[i];
        if (time >= to.time) continue;
        const simulated_displacement& from = motion[i - 1];
        return from.um +
               (to.um - from.um) * to_seconds(time - from.time) / to_seconds(to.time - from.time);
    }
    return motion.back().um;
}

TEST(SimulateRecording, MovesItsUnitsAsTheTruthSays) {
    SPIKEWEAVE_NEEDS_FULL_RUN();
    for (const drift_shape shape : values_of<drift_shape>()) {
        SCOPED_TRACE(to_string(shape));
        recording_options options{.channels = 24, .columns = 1, .length = 12s, .units = 1};
        options.noise_uv = 0;
        options.amplitude_jitter = 0;
        options.low_hz = 10;
        options.pitch_um = 10;
        const double y_um = simulate_recording(options).truth.units[0].y_um;
        options.drift_um = y_um < 115 ? 80 : -80;
        options.drift = shape;
        options.drift_period = 5s;
        const simulated_recording made = simulate_recording(options);
        const auto samples = samples_of(made.traces);
        for (const std::int64_t time_us : made.truth.spikes.times_us()) {
            const auto frame =
                static_cast<std::size_t>(std::llround(static_cast<double>(time_us) * 0.03));
            const auto* const at = samples.data() + frame * 24;
            if (frame >= samples.size() / 24) continue;
            const double now_um = y_um + displacement_at(made.truth.motion, duration{time_us});
            EXPECT_NEAR(10 * static_cast<double>(std::min_element(at, at + 24) - at),
                        std::clamp(now_um, 0.0, 230.0), 5.5);
        }
    }
}

TEST(SimulateRecording, KnowsTheShapesOfDrift) {
    recording_options options{.channels = 1, .columns = 1, .length = 20s, .units = 1};
    EXPECT_TRUE(simulate_recording(options).truth.motion.empty());
    options.drift_um = 40;
    options.drift_period = 8s;
    const auto expect = [&](drift_shape shape, std::optional<duration> start,
                            const std::vector<std::pair<duration, double>>& motion) {
        options.drift = shape;
        options.drift_start = start;
        std::vector<std::pair<duration, double>> found;
        for (const auto& one : simulate_recording(options).truth.motion)
            found.emplace_back(one.time, one.um);
        EXPECT_EQ(found, motion);
    };
    expect(drift_shape::linear, {}, {{0s, 0}, {20s, 40}});
    expect(drift_shape::linear, 5s, {{0s, 0}, {5s, 0}, {20s, 40}});
    expect(drift_shape::zigzag, {},
           {{0s, 0}, {2s, 0}, {6s, 40}, {10s, 0}, {14s, 40}, {18s, 0}, {20s, 20}});
    expect(drift_shape::zigzag, 0s, {{0s, 0}, {4s, 40}, {8s, 0}, {12s, 40}, {16s, 0}, {20s, 40}});
    expect(drift_shape::jump, {}, {{0s, 0}, {10s, 0}, {10s, 40}, {20s, 40}});
    options.drift_start = 20s;
    EXPECT_SAYS(refusal_of([&] { simulate_recording(options); }), "begin to move after 20 s");
}

TEST(SimulateRecording, WritesTheMotionOnlyWithDrift) {
    const temporary_folder folder;
    recording_options options{.channels = 3, .length = 400ms, .units = 2};
    options.drift_um = -12.5;
    options.drift = drift_shape::jump;
    simulate_recording(folder.path() / "rec", options);
    EXPECT_EQ(read_bytes(folder.path() / "rec/motion.tsv"),
              "time_s\tdisplacement_um\n0.000000\t0.000000\n0.200000\t0.000000\n"
              "0.200000\t-12.500000\n0.400000\t-12.500000\n");
    options.drift_um = 0;
    simulate_recording(folder.path() / "rec", options, true);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "rec/motion.tsv"));
}

// A unit that stays keeps its name, about its amplitude, and its place but for what all units move.
TEST(SimulateRecording, KeepsSomeUnitsInLaterSessions) {
    recording_options options{.channels = 32, .length = 1s, .units = 60, .seed = 3};
    options.turnover = 0.25;
    options.session_drift_um = 50;
    const recording_truth first = simulate_recording(options).truth;
    options.session = 2;
    const simulated_recording later = simulate_recording(options);
    const recording_truth& second = later.truth;
    std::vector<double> moved;
    std::size_t kept = 0;
    for (std::uint32_t u = 0; u < options.units; ++u) {
        const std::string& name = second.spikes.name(unit_id{u});
        if (name != first.spikes.name(unit_id{u})) {
            EXPECT_EQ(name, std::to_string(options.units + u));
            continue;
        }
        ++kept;
        moved.push_back(second.units[u].y_um - first.units[u].y_um);
        EXPECT_NEAR(second.units[u].peak_uv / first.units[u].peak_uv, 1, 0.25);
    }
    EXPECT_NEAR(static_cast<double>(kept), 45, 10);
    const auto [least, most] = std::ranges::minmax(moved);
    EXPECT_LT(most - least, 4.1);
    EXPECT_GT(std::abs(least), 5);
    EXPECT_NE(spike_trains(second.spikes).times_us(unit_id{0})[0],
              spike_trains(first.spikes).times_us(unit_id{0})[0]);
    EXPECT_EQ(samples_of(later.traces), samples_of(simulate_recording(options).traces));
    options.turnover = 0;
    options.session_drift_um = 0;
    options.session_change = 0;
    const recording_truth same = simulate_recording(options).truth;
    for (std::uint32_t u = 0; u < options.units; ++u) {
        EXPECT_EQ(same.units[u].y_um, first.units[u].y_um);
        EXPECT_EQ(same.units[u].peak_uv, first.units[u].peak_uv);
    }
}

TEST(SimulateRecording, RefusesWhatCannotBe) {
    for (const recording_options& options :
         {recording_options{.channels = 0}, recording_options{.columns = 33},
          recording_options{.rate_hz = 0}, recording_options{.length = 0s},
          recording_options{.length = 1us}, recording_options{.low_hz = 20},
          recording_options{.refractory = 100ms}, recording_options{.low_uv = 300},
          recording_options{.amplitude_jitter = 2}, recording_options{.gain_uv = 0}})
        EXPECT_THROW(simulate_recording(options), invalid_argument);
}

}  // namespace
}  // namespace spikeweave
