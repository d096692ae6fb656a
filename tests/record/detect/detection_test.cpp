#include "spikeweave/record/detection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "record/detect/flood_fill.hpp"
#include "record/detect/waveforms.hpp"
#include "spikeweave/simulate/recording.hpp"
#include "support/recordings.hpp"
#include "support/same_spikes.hpp"
#include "support/spike_files.hpp"

namespace spikeweave {

using record::channel_peak;
using record::crossing;
using record::flood_fill;
using record::fraction_of;
using record::take_waveform;
using record::waveform_window;

namespace {

using neighbour_lists = std::vector<std::vector<std::uint32_t>>;
const neighbour_lists line_of_four{{1}, {0, 2}, {1, 3}, {2}};

struct filled_set {
    std::vector<std::vector<channel_peak>> sets{};
    std::size_t cut = 0;
};

// Takes each frame's crossings as channel and height.
filled_set fill(const std::vector<std::pair<std::int64_t, std::vector<crossing>>>& frames,
                std::uint32_t join_frames = 1, std::int64_t longest = 1000) {
    filled_set out;
    flood_fill filler(line_of_four, join_frames, longest, [&](std::vector<channel_peak>&& peaks) {
        out.sets.push_back(std::move(peaks));
    });
    for (const auto& [frame, crossings] : frames) filler.add(frame, crossings);
    filler.finish();
    out.cut = filler.cut();
    return out;
}

TEST(FloodFill, JoinsNeighboursInSpaceAndTime) {
    EXPECT_EQ(fill({{5, {{0, 3.0F}, {1, 4.0F}}}}).sets.size(), 1U);
    EXPECT_EQ(fill({{5, {{0, 3.0F}, {2, 4.0F}}}}).sets.size(), 2U);
    EXPECT_EQ(fill({{5, {{0, 3.0F}}}, {6, {{1, 4.0F}}}}).sets.size(), 1U);
    EXPECT_EQ(fill({{5, {{0, 3.0F}}}, {7, {{0, 4.0F}}}}).sets.size(), 2U);
    EXPECT_EQ(fill({{5, {{0, 3.0F}}}, {7, {{0, 4.0F}}}}, 2).sets.size(), 1U);
    EXPECT_EQ(fill({{5, {{0, 3.0F}}}, {6, {{0, 3.0F}}}}, 0).sets.size(), 2U);
}

TEST(FloodFill, JoinsSetsThatMeetLaterAndKeepsTheFirstOfEqualPeaks) {
    // Channels 0 and 2 are joined through channel 1 in frame 6.
    const filled_set found =
        fill({{5, {{0, 3.0F}, {2, 9.0F}}}, {6, {{0, 3.0F}, {1, 2.0F}, {2, 5.0F}}}});

    ASSERT_EQ(found.sets.size(), 1U);
    ASSERT_EQ(found.sets[0].size(), 3U);
    EXPECT_EQ(found.sets[0][0].frame, 5);
    EXPECT_EQ(found.sets[0][1].frame, 6);
    EXPECT_EQ(found.sets[0][2].height, 9.0F);
}

TEST(FloodFill, CutsWhatGoesOnTooLong) {
    std::vector<std::pair<std::int64_t, std::vector<crossing>>> frames;
    for (std::int64_t t = 0; t < 100; ++t) frames.push_back({t, {{3, 3.0F}}});

    const filled_set found = fill(frames, 1, 40);

    ASSERT_EQ(found.sets.size(), 3U);  // frames 0 to 39, 40 to 79, 80 to 99
    EXPECT_EQ(found.sets[1][0].frame, 40);
    EXPECT_EQ(found.cut, 2U);
    EXPECT_EQ(fill(frames, 1, 100).cut, 0U);
}

TEST(Neighbours, AreOnOneShankAndNearEnough) {
    std::vector<recording_channel> channels(5);
    for (std::size_t c = 0; c < 5; ++c) channels[c].y_um = 20 * static_cast<double>(c);
    channels[4].shank = 1;

    EXPECT_EQ(neighbours_of(channels), (neighbour_lists{{1}, {0, 2}, {1, 3}, {2}, {}}));
    EXPECT_EQ(neighbours_of(channels, 40),
              (neighbour_lists{{1, 2}, {0, 2, 3}, {0, 1, 3}, {1, 2}, {}}));
    EXPECT_EQ(neighbours_of(channels, 19.9), neighbour_lists(5));
    EXPECT_EQ(neighbours_of({recording_channel{}}), neighbour_lists(1));
    EXPECT_THROW(neighbours_of(channels, -1), invalid_argument);
}

trace_block block_of(const std::vector<float>& values, std::size_t apron) {
    return {.frames = values.size() - 2 * apron, .apron = apron, .channels = 1, .values = values};
}

TEST(Waveforms, ArePlacedByTheTopOfAParabola) {
    // -(t - 0.25)^2 at -1, 0, 1, for both signs.
    const trace_block up = block_of({0, -1.5625F, -0.0625F, -0.5625F, 0}, 1);
    const trace_block down = block_of({0, 1.5625F - 9, 0.0625F - 9, 0.5625F - 9, 0}, 1);
    EXPECT_FLOAT_EQ(fraction_of(up, 1, 0), 0);  // a negative value there is no trough
    EXPECT_FLOAT_EQ(fraction_of(down, 1, 0), 0.25F);
    const trace_block top = block_of({0, 9 - 1.5625F, 9 - 0.0625F, 9 - 0.5625F, 0}, 1);
    EXPECT_FLOAT_EQ(fraction_of(top, 1, 0), 0.25F);
    EXPECT_FLOAT_EQ(fraction_of(block_of({0, 5, 5, 5, 0}, 1), 1, 0), 0);
    EXPECT_FLOAT_EQ(fraction_of(block_of({0, 8, 5, 1, 0}, 1), 1, 0), 0);
}

TEST(Waveforms, AreExactForAParabolaAtAnyFraction) {
    const auto curve = [](double t) { return static_cast<float>(3 - 2 * t + 0.5 * t * t); };
    std::vector<float> values(30);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = curve(static_cast<double>(i));
    const waveform_window window{3, 4};
    for (const float fraction : {-0.5F, -0.2F, 0.0F, 0.3F, 0.5F}) {
        std::vector<float> waveform(window.size());
        take_waveform(block_of(values, 0), 12, fraction, 0, window, waveform);
        for (std::size_t i = 0; i < waveform.size(); ++i)
            EXPECT_NEAR(waveform[i], curve(9.0 + static_cast<double>(i) + fraction), 1e-4)
                << fraction << " " << i;
    }
}

// One channel has a trough that its neighbours see weaker, in noise of known size.
TEST(DetectSpikes, FindsOneWithItsPlaceAndMasks) {
    const recording noise = noisy_recording(1, 4, 30000, 0);
    auto samples = samples_of(noise);
    const double shares[] = {0.0, 0.5, 1.0, 0.25};
    const filtered_recording quiet(noise);
    for (std::int64_t k = -4; k <= 4; ++k)
        for (std::size_t c = 0; c < 4; ++c)
            samples[static_cast<std::size_t>(12345 + k) * 4 + c] -= static_cast<std::int16_t>(
                1000 * shares[c] * std::exp(-0.15 * static_cast<double>(k * k)));
    const recording from(noise.description(), samples);
    const filtered_recording traces(from);
    std::vector<float> around(21 * 4);
    traces.read(12335, around);

    const detection_result found = detect_spikes(from, {.strong_threshold = 8});

    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.frames[0], 12345);
    EXPECT_LT(std::abs(found.fractions[0]), 0.2);
    EXPECT_EQ(found.peak_channels[0], 2U);
    EXPECT_NEAR(static_cast<double>(found.time_us(0)), 12345 / 0.03, 8);
    EXPECT_EQ(found.features.size(), 12U);
    for (std::size_t i = 0; i < found.masks.size(); ++i) {
        const std::uint32_t c = found.mask_channels[i];
        float lowest = 0;
        for (std::size_t f = 8; f < 14; ++f) lowest = std::min(lowest, around[4 * f + c]);
        const double height = -lowest / found.noise[c];
        EXPECT_NEAR(found.masks[i], std::clamp((height - 2) / 6, 0.0, 1.0), 1e-4) << c;
    }
    EXPECT_TRUE(std::ranges::count(found.mask_channels, 1U) == 1 &&
                std::ranges::count(found.mask_channels, 2U) == 1);
}

void expect_sound(const detection_result& found) {
    for (const float value : found.features) ASSERT_TRUE(std::isfinite(value));
    for (const float value : found.fractions) ASSERT_LE(std::abs(value), 0.5F);
    for (const float value : found.masks) ASSERT_TRUE(value > 0 && value <= 1);
    ASSERT_EQ(found.mask_offsets.size(), found.size() + 1);
    ASSERT_EQ(found.features.size(), found.size() * found.features_per_spike());
    for (std::size_t n = 0; n < found.size(); ++n) {
        const auto masks = std::span{found.masks}.subspan(
            found.mask_offsets[n], found.mask_offsets[n + 1] - found.mask_offsets[n]);
        ASSERT_EQ(std::ranges::max(masks), 1) << "spike " << n;
    }
}

TEST(DetectSpikes, FindsNothingInSilence) {
    const recording silent(channels_in_a_line(3), std::vector<std::int16_t>(3 * 20000, 0));
    const detection_result found = detect_spikes(silent);
    EXPECT_EQ(found.size(), 0U);
    expect_sound(found);
    ASSERT_EQ(found.warnings.size(), 1U);
    EXPECT_SAYS(found.warnings[0], "3 of 3 channels show no noise");
    EXPECT_EQ(detect_spikes(recording(channels_in_a_line(3), std::vector<std::int16_t>{})).size(),
              0U);
}

TEST(DetectSpikes, LeavesOutAChannelThatIsStuckAtItsEnd) {
    const recording from = noisy_recording(2, 3, 30000, 50);
    auto samples = samples_of(from);
    for (std::size_t at = 1; at < samples.size(); at += 3) samples[at] = 32767;
    const detection_result found = detect_spikes({from.description(), samples});
    expect_sound(found);
    EXPECT_GT(found.size(), 10U);
    EXPECT_EQ(std::ranges::count(found.mask_channels, 1U), 0);
    ASSERT_EQ(found.warnings.size(), 1U);
    EXPECT_SAYS(found.warnings[0], "1 of 3 channels show no noise");
}

TEST(DetectSpikes, LeavesOutAChannelThatIsManyTimesAsNoisyAsMost) {
    const recording from = noisy_recording(2, 5, 30000, 50);
    auto samples = samples_of(from);
    for (std::size_t at = 3; at < samples.size(); at += 5)
        samples[at] = static_cast<std::int16_t>(8 * samples[at]);
    const detection_result found = detect_spikes({from.description(), samples});
    expect_sound(found);
    EXPECT_EQ(found.noise[3], 0);
    EXPECT_EQ(std::ranges::count(found.mask_channels, 3U), 0);
    ASSERT_EQ(found.warnings.size(), 1U);
    EXPECT_SAYS(found.warnings[0], "1 of 5 channels have more than five times the noise of most");
}

TEST(DetectSpikes, SaysThatSpikesPointTheOtherWay) {
    const recording from = noisy_recording(5, 3, 60000, 100);
    auto samples = samples_of(from);
    EXPECT_TRUE(detect_spikes(from).warnings.empty());
    for (std::int16_t& sample : samples) sample = static_cast<std::int16_t>(-sample);
    const recording inverted(from.description(), samples);
    const detection_result found = detect_spikes(inverted);
    ASSERT_EQ(found.warnings.size(), 1U);
    EXPECT_SAYS(found.warnings[0], "On 3 of 3 channels the largest spikes point up");
    EXPECT_SAYS(found.warnings[0], "sign positive finds the others");
    EXPECT_TRUE(detect_spikes(inverted, {.sign = spike_sign::positive}).warnings.empty());
    EXPECT_TRUE(detect_spikes(inverted, {.sign = spike_sign::both}).warnings.empty());
    EXPECT_SAYS(detect_spikes(from, {.sign = spike_sign::positive}).warnings.at(0), "point down");
}

TEST(DetectSpikes, SaysWhichChannelsStandAtTheirLimit) {
    const recording from = noisy_recording(6, 3, 60000, 50);
    auto samples = samples_of(from);
    for (std::size_t f = 1000; f < 5000; ++f) samples[f * 3 + 2] = 2047;
    const detection_result found = detect_spikes({from.description(), samples});
    ASSERT_FALSE(found.warnings.empty());
    EXPECT_SAYS(found.warnings[0], "1 of 3 channels stand at the limit of their range");
    EXPECT_SAYS(found.warnings[0], from.channels()[2].name + " (6.7 % of the time)");
}

TEST(DetectSpikes, SaysThatTheAmplifierWasBlanked) {
    const recording from = noisy_recording(7, 3, 60000, 50);
    auto samples = samples_of(from);
    std::fill(samples.begin() + 3 * 6000, samples.begin() + 3 * 12000, std::int16_t{12});
    const detection_result found = detect_spikes({from.description(), samples});
    ASSERT_EQ(found.warnings.size(), 1U);
    EXPECT_SAYS(found.warnings[0], "No channel changes during about 10 % of the time");
}

TEST(DetectSpikes, SaysWhichChannelsAreBlankedAlone) {
    const recording from = noisy_recording(7, 3, 60000, 50);
    auto samples = samples_of(from);
    for (std::size_t f = 6000; f < 12000; ++f) samples[f * 3 + 1] = 12;
    const recording blanked(from.description(), samples);
    const detection_result found = detect_spikes(blanked);
    ASSERT_EQ(found.warnings.size(), 1U);
    EXPECT_SAYS(found.warnings[0],
                "1 of 3 channels do not change for a part of the time in which others do");
    EXPECT_SAYS(found.warnings[0], from.channels()[1].name + " (10 %)");
    EXPECT_EQ(check_recording(blanked), found.warnings);
}

TEST(DetectSpikes, LeavesOutChannelsWithTheNoiseOfAnAmplifierOnly) {
    const recording from = noisy_recording(9, 5, 60000, 50);
    auto samples = samples_of(from);
    for (std::size_t at = 0; at < samples.size(); at += 5)
        samples[at + 3] = static_cast<std::int16_t>(samples[at + 3] / 40);
    const recording open(from.description(), samples);
    for (const auto reference : {common_reference::none, common_reference::median}) {
        const detection_options how{.preprocessing = {.reference = reference}};
        const detection_result found = detect_spikes(open, how);
        ASSERT_EQ(found.warnings.size(), 1U);
        EXPECT_SAYS(found.warnings[0], "1 of 5 channels show no noise, or next to none");
        EXPECT_EQ(found.noise[3], 0);
        EXPECT_EQ(std::ranges::count(found.mask_channels, 3U), 0);
        EXPECT_EQ(check_recording(open, how), found.warnings);
    }
}

TEST(CheckRecording, SaysThatSpikesCannotBeDetected) {
    const recording from = noisy_recording(5, 3, 60000, 50);
    auto samples = samples_of(from);
    for (std::int16_t& sample : samples) sample = static_cast<std::int16_t>(sample ^ 0x8000);
    const auto warnings = check_recording({from.description(), samples});
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_SAYS(warnings[0], "Spikes cannot be detected: ");
    EXPECT_SAYS(warnings[0], "as unsigned samples do");
    EXPECT_TRUE(check_recording(from).empty());
}

TEST(DetectSpikes, SaysWhichChannelsAreCopies) {
    const recording from = noisy_recording(8, 4, 60000, 50);
    auto samples = samples_of(from);
    for (std::size_t at = 0; at < samples.size(); at += 4) samples[at + 3] = samples[at + 1];
    const detection_result found = detect_spikes({from.description(), samples});
    ASSERT_EQ(found.warnings.size(), 1U);
    EXPECT_SAYS(found.warnings[0], "1 of 4 channels have the same samples as another one: " +
                                       from.channels()[3].name + " as " + from.channels()[1].name);
}

TEST(DetectSpikes, RefusesUnsignedSamples) {
    const recording from = noisy_recording(9, 3, 60000, 50);
    auto samples = samples_of(from);
    for (std::int16_t& sample : samples) sample = static_cast<std::int16_t>(sample ^ 0x8000);
    const recording unsigned_ones(from.description(), samples);
    EXPECT_SAYS(refusal_of([&] { detect_spikes(unsigned_ones); }),
                "the samples of 3 of 3 channels jump between -32,768 and 32,767");
}

TEST(DetectSpikes, CutsAnArtefactThatEveryChannelSees) {
    const recording from = noisy_recording(3, 4, 30000, 10);
    auto samples = samples_of(from);
    for (std::size_t f = 10000; f < 12000; ++f)
        for (std::size_t c = 0; c < 4; ++c)
            samples[f * 4 + c] = f / 3 % 2 == 0 ? std::int16_t{32767} : std::int16_t{-32768};
    const detection_result found = detect_spikes({from.description(), samples}, {.join_frames = 6});
    expect_sound(found);
    EXPECT_GE(found.cut, 3U);
    EXPECT_SAYS(found.warnings.back(), "went on for more than 16 ms");
}

TEST(DetectSpikes, DropsNoSpikeAtTheEnds) {
    const recording noise = noisy_recording(4, 2, 20000, 0);
    auto samples = samples_of(noise);
    for (const std::size_t at : {2U, 19997U})
        for (std::size_t k = at - 1; k <= at + 1; ++k) samples[2 * k] = -400;
    const detection_result found =
        detect_spikes({noise.description(), samples}, {.strong_threshold = 10});
    expect_sound(found);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found.frames[0], 2);
    EXPECT_EQ(found.frames[1], 19997);
}

TEST(DetectSpikes, GivesFeaturesThatAreUncorrelatedAndLargestFirst) {
    const recording from = noisy_recording(5, 3, 90000, 900);
    const detection_result found = detect_spikes(from);
    expect_sound(found);
    std::vector<std::size_t> of_channel;
    for (std::size_t n = 0; n < found.size(); ++n)
        for (std::size_t i = found.mask_offsets[n]; i < found.mask_offsets[n + 1]; ++i)
            if (found.mask_channels[i] == 1) of_channel.push_back(n);
    ASSERT_GT(of_channel.size(), 300U);

    const auto feature = [&](std::size_t n, std::size_t k) {
        return static_cast<double>(found.features_of(n)[3 + k]);
    };
    const auto count = static_cast<double>(of_channel.size());
    double means[3] = {0, 0, 0};
    for (const std::size_t n : of_channel)
        for (std::size_t k = 0; k < 3; ++k) means[k] += feature(n, k) / count;
    double shared[3][3] = {};
    for (const std::size_t n : of_channel)
        for (std::size_t a = 0; a < 3; ++a)
            for (std::size_t b = 0; b < 3; ++b)
                shared[a][b] += (feature(n, a) - means[a]) * (feature(n, b) - means[b]) / count;
    EXPECT_GT(shared[0][0], shared[1][1]);
    EXPECT_GT(shared[1][1], shared[2][2]);
    EXPECT_NEAR(shared[0][1] / std::sqrt(shared[0][0] * shared[1][1]), 0, 1e-3);
    EXPECT_NEAR(shared[1][2] / std::sqrt(shared[1][1] * shared[2][2]), 0, 1e-3);
}

TEST(DetectSpikes, GivesSpikesAFirstComponentAboveZero) {
    const detection_result found = detect_spikes(noisy_recording(5, 3, 90000, 900));
    std::size_t above = 0;
    for (std::size_t n = 0; n < found.size(); ++n)
        above += found.features_of(n)[3 * found.peak_channels[n]] > 0 ? 1 : 0;
    EXPECT_GT(found.size(), 300U);
    EXPECT_GT(static_cast<double>(above), 0.99 * static_cast<double>(found.size()));
}

TEST(DetectSpikes, GivesTheFeaturesOfAnotherRecordingsBasis) {
    const recording whole = noisy_recording(5, 3, 90000, 900);
    std::vector<std::int16_t> samples = samples_of(whole);
    samples.resize(3 * 45000);
    const recording half(whole.description(), samples);
    const detection_result all = detect_spikes(whole);
    const detection_result own = detect_spikes(half);
    const detection_result found = detect_spikes(half, {.basis = all.basis});

    EXPECT_EQ(found.basis, all.basis);
    EXPECT_NE(own.basis.components, all.basis.components);
    std::size_t same = 0;
    std::size_t m = 0;
    for (std::size_t n = 0; n < found.size(); ++n) {
        if (found.frames[n] > 40000) break;
        while (m + 1 < all.size() && all.frames[m] < found.frames[n]) ++m;
        // Noise is estimated again, so a spike at the threshold may be found in only one of them.
        if (all.frames[m] != found.frames[n] || all.peak_channels[m] != found.peak_channels[n])
            continue;
        ++same;
        ASSERT_TRUE(std::ranges::equal(all.features_of(m), found.features_of(n))) << n;
    }
    EXPECT_GT(same, 200U);
}

TEST(DetectSpikes, DescribesSpikesOnTheNearestChannels) {
    const recording from = noisy_recording(8, 9, 30000, 300);
    const detection_result all = detect_spikes(from);
    const detection_result found =
        detect_spikes(from, {.described_channels = 4, .basis = all.basis});

    EXPECT_EQ(found.frames, all.frames);
    EXPECT_EQ(found.fractions, all.fractions);
    ASSERT_EQ(found.peak_channels, all.peak_channels);
    ASSERT_EQ(found.described_channels.size(), 9U);
    EXPECT_EQ(found.described_channels[0], (std::vector<std::uint32_t>{0, 1, 2, 3}));
    EXPECT_EQ(found.features_per_spike(), 12U);
    std::size_t left_out = 0;
    for (std::size_t n = 0; n < all.size(); ++n) {
        const std::vector<std::uint32_t>& around = found.described_channels[all.peak_channels[n]];
        ASSERT_EQ(around.size(), 4U);
        EXPECT_TRUE(std::ranges::binary_search(around, all.peak_channels[n]));
        std::vector<float> features;
        for (const std::uint32_t c : around)
            for (std::size_t k = 0; k < 3; ++k) features.push_back(all.features_of(n)[3 * c + k]);
        ASSERT_TRUE(std::ranges::equal(found.features_of(n), features)) << n;
        std::size_t at = found.mask_offsets[n];
        for (std::size_t i = all.mask_offsets[n]; i < all.mask_offsets[n + 1]; ++i) {
            if (!std::ranges::binary_search(around, all.mask_channels[i])) {
                ++left_out;
                continue;
            }
            ASSERT_LT(at, found.mask_offsets[n + 1]);
            EXPECT_EQ(found.mask_channels[at], all.mask_channels[i]);
            EXPECT_EQ(found.masks[at++], all.masks[i]);
        }
        EXPECT_EQ(at, found.mask_offsets[n + 1]);
    }
    EXPECT_GT(left_out, 0U);

    expect_same_spikes(detect_spikes(from, {.described_channels = 9}), all, "all channels");
    const known_spikes known{found.frames, found.fractions, found.peak_channels};
    const detection_result again =
        describe_spikes(from, known, {.described_channels = 4, .basis = all.basis});
    EXPECT_EQ(again.features, found.features);
    EXPECT_EQ(again.described_channels, found.described_channels);
}

TEST(DetectSpikes, RefusesABasisOfOtherTraces) {
    const recording from = noisy_recording(6, 2, 9000, 50);
    const feature_basis basis = detect_spikes(from).basis;
    const auto refused = [&](const recording& other, detection_options how) {
        how.basis = basis;
        try {
            detect_spikes(other, how);
        } catch (const invalid_argument& error) {
            return std::string(error.what());
        }
        return std::string("nothing");
    };
    EXPECT_EQ(refused(from, {}), "nothing");
    EXPECT_SAYS(refused(noisy_recording(6, 3, 9000, 50), {}), "2 channels");
    recording_description moved = from.description();
    moved.channels[1].x_um += 7;
    EXPECT_SAYS(refused({moved, samples_of(from)}, {}), "channel 2 is at");
    moved = from.description();
    moved.rate_hz = 20000;
    EXPECT_SAYS(refused({moved, samples_of(from)}, {}), "20000 samples a second");
    EXPECT_SAYS(refused(from, {.preprocessing = {.low_corner = 500}}), "500 to 6000 Hz");
    EXPECT_SAYS(refused(from, {.preprocessing = {.reference = common_reference::median}}),
                "reference median");
    EXPECT_SAYS(refused(from, {.preprocessing = {.whiten = true}}), "whitened");
    EXPECT_SAYS(refused(from, {.features_per_channel = 2}), "2 features a channel");
    EXPECT_SAYS(refused(from, {.before = std::chrono::milliseconds{1}}), "30 frames before");
}

TEST(DetectSpikes, FindsTheSpikesOfASimulation) {
    using namespace std::chrono_literals;
    const simulated_recording simulated =
        simulate_recording({.channels = 16, .length = 20s, .units = 6, .seed = 3});
    const detection_result found = detect_spikes(simulated.traces);
    expect_sound(found);
    const auto truth = simulated.truth.spikes.times_us();
    std::size_t hits = 0;
    std::size_t n = 0;
    double late_us = 0;
    for (const std::int64_t time_us : truth) {
        while (n < found.size() && found.time_us(n) < time_us - 300) ++n;
        if (n == found.size() || found.time_us(n) > time_us + 300) continue;
        ++hits;
        late_us += static_cast<double>(found.time_us(n) - time_us);
    }
    EXPECT_GT(truth.size(), 500U);
    EXPECT_GT(static_cast<double>(hits), 0.98 * static_cast<double>(truth.size()));
    EXPECT_NEAR(late_us / static_cast<double>(hits), 0, 15);
    EXPECT_LT(static_cast<double>(found.size()), 1.1 * static_cast<double>(truth.size()));
}

TEST(DetectSpikes, RefusesOptionsThatCannotBe) {
    using namespace std::chrono_literals;
    const recording from = noisy_recording(6, 2, 1000, 3);
    for (const detection_options& options :
         {detection_options{.weak_threshold = 0}, detection_options{.weak_threshold = 5},
          detection_options{.neighbours = -1}, detection_options{.longest = 0ms},
          detection_options{.before = -1ms}, detection_options{.after = 21ms},
          detection_options{.features_per_channel = 0},
          detection_options{.features_per_channel = 1000},
          detection_options{.preprocessing = {.low_corner = 20000}}})
        EXPECT_THROW(detect_spikes(from, options), invalid_argument);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(detect_spikes(from, {}, {.stop = stop.get_token()}), cancelled);
}

}  // namespace
}  // namespace spikeweave
