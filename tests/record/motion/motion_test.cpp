#include "spikeweave/record/motion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>

#include "spikeweave/core/error.hpp"
#include "spikeweave/record/detection.hpp"
#include "spikeweave/simulate/recording.hpp"
#include "support/recordings.hpp"
#include "support/run_length.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

simulated_recording moving(drift_shape shape, double um, duration length = 40s) {
    return simulate_recording({.channels = 32,
                               .length = length,
                               .units = 20,
                               .drift_um = um,
                               .drift = shape,
                               .drift_period = 20s,
                               .seed = 1});
}

double truth_at(const recording_truth& truth, double time_s) {
    const auto seconds = [](const simulated_displacement& one) { return to_seconds(one.time); };
    const auto later =
        std::find_if(truth.motion.begin(), truth.motion.end(),
                     [&](const simulated_displacement& one) { return seconds(one) > time_s; });
    const auto before = std::prev(later);
    return before->um + (later->um - before->um) * (time_s - seconds(*before)) /
                            (seconds(*later) - seconds(*before));
}

// The standard deviation of the difference, because the truth is from where units began.
double error_um(const probe_motion& found, const recording_truth& truth) {
    double sum = 0;
    double squares = 0;
    const auto count = static_cast<double>(found.times_s.size());
    for (std::size_t t = 0; t < found.times_s.size(); ++t) {
        const double off = found.displacement_um[t] - truth_at(truth, found.times_s[t]);
        sum += off;
        squares += off * off;
    }
    return std::sqrt(squares / count - sum * sum / count / count);
}

probe_motion estimated(const recording& from, motion_model model, int threads = 0) {
    return estimate_motion(from, detection_options{}, {.model = model}, {.threads = threads});
}

constexpr double tolerated_um = 2;

TEST(Motion, IsFoundWhereItIsSteadyOrTurns) {
    SPIKEWEAVE_NEEDS_FULL_RUN();
    for (const auto& [shape, um] :
         {std::pair{drift_shape::linear, 30.0}, std::pair{drift_shape::zigzag, 20.0}}) {
        const simulated_recording simulated = moving(shape, um);
        const probe_motion found = estimated(simulated.traces, motion_model::rigid);
        ASSERT_EQ(found.displacement_um.size(), 40U);
        EXPECT_LT(error_um(found, simulated.truth), tolerated_um) << to_string(shape);
        EXPECT_GT(found.range_um(), 0.7 * um) << to_string(shape);
    }
}

TEST(Motion, OfAJumpIsFoundAndNotSpreadOverTime) {
    SPIKEWEAVE_NEEDS_FULL_RUN();
    const simulated_recording simulated = moving(drift_shape::jump, 20);
    const probe_motion found = estimated(simulated.traces, motion_model::rigid);
    ASSERT_EQ(found.displacement_um.size(), 40U);
    EXPECT_LT(error_um(found, simulated.truth), tolerated_um);
    EXPECT_GT(found.range_um(), 14);
    EXPECT_GT(found.displacement_um[21] - found.displacement_um[18], 12);
}

TEST(Motion, IsSmallWhereNothingMoves) {
    SPIKEWEAVE_NEEDS_FULL_RUN();
    constexpr double small_um = 2;
    const recording still = moving(drift_shape::linear, 0).traces;
    EXPECT_LT(estimated(still, motion_model::rigid).range_um(), small_um);
}

TEST(Motion, DoesNotDependOnThreads) {
    const recording from = moving(drift_shape::zigzag, 20, 10s).traces;
    const probe_motion one = estimated(from, motion_model::blocks, 1);
    EXPECT_EQ(estimated(from, motion_model::blocks, 3), one);
}

recording_description probe_of(std::size_t channels, double pitch_um) {
    recording_description what = channels_in_a_line(channels);
    what.positions = position_source::file;
    for (std::size_t c = 0; c < channels; ++c)
        what.channels[c].y_um = pitch_um * static_cast<double>(c);
    return what;
}

TEST(Motion, IsLookedForWhereAProbeCanShowIt) {
    EXPECT_EQ(motion_model_for(probe_of(32, 20)), motion_model::rigid);
    EXPECT_EQ(motion_model_for(probe_of(64, 20)), motion_model::blocks);
    EXPECT_EQ(motion_model_for(probe_of(8, 20)), motion_model::none);
    EXPECT_EQ(motion_model_for(probe_of(16, 5)), motion_model::none);
    EXPECT_EQ(motion_model_for(probe_of(32, 100)), motion_model::none);
    recording_description assumed = probe_of(32, 20);
    assumed.positions = position_source::assumed;
    EXPECT_EQ(motion_model_for(assumed), motion_model::none);
    const recording few(probe_of(4, 20), std::vector<std::int16_t>(4 * 1000));
    EXPECT_TRUE(estimated(few, motion_model::automatic).empty());
}

TEST(Motion, IsLinearBetweenWindowsAndConstantInABin) {
    const probe_motion motion{.model = motion_model::blocks,
                              .time_bin_s = 2,
                              .times_s = {1, 3},
                              .depths_um = {100, 300},
                              .displacement_um = {0, 10, 5, 25}};
    EXPECT_EQ(motion.bin_of(1.9), 0U);
    EXPECT_EQ(motion.bin_of(2), 1U);
    EXPECT_EQ(motion.bin_of(99), 1U);
    EXPECT_DOUBLE_EQ(motion.at(0, 0), 0);
    EXPECT_DOUBLE_EQ(motion.at(0, 150), 2.5);
    EXPECT_DOUBLE_EQ(motion.at(1, 900), 25);
    EXPECT_DOUBLE_EQ(motion.range_um(), 15);
}

TEST(Motion, RefusesATimeBinOfNothing) {
    const recording few(probe_of(4, 20), std::vector<std::int16_t>(4 * 1000));
    EXPECT_THROW(estimate_motion(few, detection_options{}, {.time_bin = duration{0}}),
                 invalid_argument);
}

// Two seconds in which everything jumps up by a row after the first.
recording jumped(const recording& still, std::size_t columns) {
    const std::size_t channels = still.channel_count();
    const std::vector<std::int16_t> before = samples_of(still);
    std::vector<std::int16_t> after = before;
    for (std::size_t f = before.size() / channels / 2; f < before.size() / channels; ++f)
        for (std::size_t c = columns; c < channels; ++c)
            after[f * channels + c] = before[f * channels + c - columns];
    return {still.description(), std::move(after)};
}

std::vector<float> traces_with(const recording& from, std::vector<double> displacement_um) {
    const probe_motion motion{.model = motion_model::rigid,
                              .times_s = {0.5, 1.5},
                              .depths_um = {200},
                              .displacement_um = std::move(displacement_um)};
    const filtered_recording traces(from, {.moved = std::make_shared<const probe_motion>(motion)});
    std::vector<float> out(from.frame_count() * from.channel_count());
    traces.read(0, out);
    return out;
}

// While a channel's place is beyond the end of the probe, there is little noise on it.
TEST(Motion, LeavesTheNoiseOfTimesAtWhichAChannelIsOnTheProbe) {
    SPIKEWEAVE_NEEDS_FULL_RUN();
    constexpr std::size_t frames = 240000;
    const recording from = noisy_recording(3, 16, frames, 0);
    probe_motion motion{.model = motion_model::rigid, .time_bin_s = 1, .depths_um = {150}};
    for (std::size_t bin = 0; bin < 8; ++bin) {
        motion.times_s.push_back(static_cast<double>(bin) + 0.5);
        motion.displacement_um.push_back(bin < 5 ? -60 : 0);
    }
    const filtered_recording still(from);
    const filtered_recording moved(from, {.moved = std::make_shared<const probe_motion>(motion)});
    for (std::size_t c = 0; c < 16; ++c) {
        EXPECT_GT(moved.noise()[c], 0.95 * still.noise()[c]) << c;
        EXPECT_LT(moved.noise()[c], 1.3 * still.noise()[c]) << c;
    }
    const detection_result found = detect_spikes(
        from, {.preprocessing = {.moved = std::make_shared<const probe_motion>(motion)}});
    EXPECT_LT(found.size(), 2 * detect_spikes(from).size() + 20);
}

TEST(Motion, OfAWholeRowIsUndoneExactly) {
    constexpr std::size_t columns = 2;
    const recording still = simulate_recording({.channels = 40, .length = 2s, .seed = 3}).traces;
    const std::vector<float> expected = traces_with(still, {0, 0});
    const std::vector<float> found = traces_with(jumped(still, columns), {0, 20});
    constexpr std::size_t settled = 33000;
    double most = 0;
    for (std::size_t f = settled; f < 60000; ++f)
        for (std::size_t c = 12; c < 28; ++c)
            most = std::max(most, std::abs(static_cast<double>(expected[f * 40 + c]) -
                                           static_cast<double>(found[f * 40 + c])));
    EXPECT_LT(most, 1e-2);
}

}  // namespace
}  // namespace spikeweave
