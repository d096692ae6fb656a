#include "spikeweave/record/preprocess.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <numbers>
#include <span>
#include <sstream>

#include "record/filter/band_filter.hpp"
#include "record/filter/block_reader.hpp"
#include "spikeweave/record/stream.hpp"
#include "support/recordings.hpp"
#include "support/spike_clouds.hpp"
#include "support/spike_files.hpp"

namespace spikeweave {

using record::block_reader;
using record::filter_both_ways;
using record::reach_of;

namespace {

std::vector<float> read_all(const filtered_recording& traces) {
    std::vector<float> out(traces.source().frame_count() * traces.source().channel_count());
    traces.read(0, out);
    return out;
}

recording filled(std::size_t channels, std::size_t frames, auto value_at) {
    std::vector<std::int16_t> samples(channels * frames);
    for (std::size_t f = 0; f < frames; ++f)
        for (std::size_t c = 0; c < channels; ++c)
            samples[f * channels + c] = static_cast<std::int16_t>(value_at(f, c));
    return {channels_in_a_line(channels), std::move(samples)};
}

TEST(BandFilter, IsThatOfScipy) {
    std::ifstream file(std::string(SPIKEWEAVE_SOURCE_DIR) + "/tests/golden/band_filter.tsv");
    std::string line;
    std::getline(file, line);
    std::getline(file, line);
    std::vector<double> trace;
    std::size_t bands = 0;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::string head;
        std::getline(words, head, '\t');
        const std::vector<double> values{std::istream_iterator<double>(words), {}};
        if (head == "trace") {
            trace = values;
            continue;
        }
        std::istringstream band(head);
        std::uint32_t order = 0;
        double low = 0;
        double high = 0;
        double rate = 0;
        band >> order >> low >> high >> rate;
        const auto sections = butterworth_band(order, low, high, rate);
        std::vector<double> ours = trace;
        filter_both_ways(sections, 1, ours);

        EXPECT_EQ(sections.size(), order);
        ASSERT_EQ(values.size(), ours.size());
        for (std::size_t i = 0; i < ours.size(); ++i)
            EXPECT_NEAR(ours[i], values[i], 1e-8) << head << ", frame " << i;
        ++bands;
    }
    EXPECT_EQ(bands, 5U);
}

TEST(BandFilter, RefusesBandsThatCannotBe) {
    for (const auto& [low, high] : {std::pair{0.0, 6000.0}, {600.0, 600.0}, {300.0, 15000.0}})
        EXPECT_THROW(butterworth_band(3, low, high, 30000), invalid_argument) << low << " " << high;
    EXPECT_THROW(butterworth_band(0, 300, 6000, 30000), invalid_argument);
    EXPECT_THROW(butterworth_band(9, 300, 6000, 30000), invalid_argument);
}

TEST(BandFilter, ReachesNoFurtherThanItSays) {
    const auto sections = butterworth_band(3, 300, 6000, 30000);
    const std::size_t reach = reach_of(sections, 1e-10);
    std::vector<double> impulse(4 * reach, 0.0);
    impulse[2 * reach] = 1;

    filter_both_ways(sections, 1, impulse);

    EXPECT_GT(std::abs(impulse[2 * reach]), 0.1);
    for (std::size_t i = 0; i < reach; ++i) EXPECT_LT(std::abs(impulse[i]), 1e-9);
    for (std::size_t i = 3 * reach; i < 4 * reach; ++i) EXPECT_LT(std::abs(impulse[i]), 1e-9);
}

TEST(FilteredRecording, PassesTheBandWithoutDelayAndNothingElse) {
    constexpr double rate = 30000;
    const auto amplitude_of = [&](double hz) {
        const recording wave = filled(1, 30000, [&](std::size_t f, std::size_t) {
            return 1000 * std::sin(2 * std::numbers::pi * hz * static_cast<double>(f) / rate);
        });
        const auto filtered = read_all(filtered_recording(wave));
        // The mean product with the wave, in phase, is half of the amplitude.
        double sum = 0;
        for (std::size_t f = 5000; f < 25000; ++f)
            sum +=
                filtered[f] * std::sin(2 * std::numbers::pi * hz * static_cast<double>(f) / rate);
        return sum / 10000;
    };
    EXPECT_NEAR(amplitude_of(1200), 1000, 5);
    EXPECT_NEAR(amplitude_of(300), 500, 5);  // each of two passes halves the power
    EXPECT_NEAR(amplitude_of(6000), 500, 5);
    EXPECT_LT(amplitude_of(30), 1);
    EXPECT_LT(amplitude_of(14000), 5);
}

TEST(FilteredRecording, HasZerosForAConstant) {
    const recording flat = filled(
        3, 9000, [](std::size_t, std::size_t c) { return 30000 - 20000 * static_cast<int>(c); });
    const filtered_recording traces(flat);
    for (const float value : read_all(traces)) ASSERT_EQ(value, 0);
    for (const double sd : traces.noise()) EXPECT_EQ(sd, 0);
}

TEST(FilteredRecording, AppliesTheGainOfEachChannel) {
    const recording plain = noisy_recording(5, 2, 3000, 4);
    recording_description doubled = plain.description();
    doubled.channels[1].gain_uv = -2;
    const auto one = read_all(filtered_recording(plain));
    const auto two = read_all(filtered_recording({doubled, samples_of(plain)}));
    for (std::size_t i = 0; i < one.size(); i += 2) {
        ASSERT_EQ(two[i], one[i]);
        ASSERT_FLOAT_EQ(two[i + 1], -2 * one[i + 1]);
    }
}

// The tolerance is a float's last digit and 10^-9 of the largest step, which is below 500
// microvolts.
TEST(FilteredRecording, IsTheSameInBlocksAsInOne) {
    const recording from = noisy_recording(1, 3, 20000, 60);
    const filtered_recording traces(from);
    const trace_block whole = block_reader(traces, 0, from.frame_count()).read(0);
    for (const std::size_t block_frames : {1000U, 4096U, 8192U, 19999U}) {
        const block_reader blocks(traces, 40, block_frames);
        for (std::size_t i = 0; i < blocks.block_count(); ++i) {
            const trace_block block = blocks.read(i);
            for (std::int64_t f = -40; f < static_cast<std::int64_t>(block.frames) + 40; ++f) {
                const std::int64_t at = static_cast<std::int64_t>(block.first) + f;
                const bool inside = at >= 0 && at < static_cast<std::int64_t>(from.frame_count());
                for (std::size_t c = 0; c < 3; ++c) {
                    const double expected = inside ? whole.frame(at)[c] : 0;
                    ASSERT_NEAR(block.frame(f)[c], expected, 1.2e-7 * std::abs(expected) + 5e-7);
                }
            }
        }
    }
}

TEST(FilteredRecording, GivesEachValueAlikeWhateverIsReadWithIt) {
    const recording from = noisy_recording(2, 2, 25000, 30);
    const filtered_recording traces(from);
    const auto whole = read_all(traces);
    for (const std::uint64_t first : {0U, 1U, 8191U, 8192U, 16000U, 24999U}) {
        std::vector<float> piece(2 * std::min<std::uint64_t>(500, 25000 - first));
        traces.read(first, piece);
        EXPECT_TRUE(std::equal(piece.begin(), piece.end(),
                               whole.begin() + static_cast<std::ptrdiff_t>(2 * first)));
    }
    std::vector<float> beyond(4);
    EXPECT_THROW(traces.read(24999, beyond), invalid_argument);
}

TEST(FilteredRecording, EstimatesNoiseByTheMedian) {
    const recording quiet = noisy_recording(3, 2, 60000, 0);
    const recording busy = noisy_recording(3, 2, 60000, 200);
    const filtered_recording one(quiet);
    const filtered_recording two(busy, {}, {.threads = 3});
    // The standard deviation itself would be raised by spikes.
    const auto values = read_all(one);
    double squares = 0;
    for (std::size_t i = 0; i < values.size(); i += 2) squares += values[i] * values[i];
    const double sd = std::sqrt(squares / 60000);
    EXPECT_NEAR(one.noise()[0], sd, 0.02 * sd);
    EXPECT_NEAR(two.noise()[0], sd, 0.1 * sd);
    EXPECT_TRUE(
        std::ranges::equal(one.noise(), filtered_recording(quiet, {}, {.threads = 2}).noise()));
}

TEST(FilteredRecording, TakesTheMedianOfTheChannels) {
    const recording from = noisy_recording(4, 5, 2000, 5);
    const auto plain = read_all(filtered_recording(from, {.reference = common_reference::none}));
    const filtered_recording traces(from, {.reference = common_reference::median});
    const auto referenced = read_all(traces);
    for (std::size_t at = 0; at < plain.size(); at += 5) {
        std::vector<float> sorted(plain.begin() + static_cast<std::ptrdiff_t>(at),
                                  plain.begin() + static_cast<std::ptrdiff_t>(at + 5));
        std::sort(sorted.begin(), sorted.end());
        for (std::size_t c = 0; c < 5; ++c)
            ASSERT_NEAR(referenced[at + c], plain[at + c] - sorted[2], 1e-3);
    }
    EXPECT_EQ(traces.reference(), common_reference::median);
    EXPECT_EQ(filtered_recording(from).reference(), common_reference::none);
    EXPECT_EQ(filtered_recording(noisy_recording(4, 64, 100, 0)).reference(),
              common_reference::median);
}

TEST(FilteredRecording, TakesTheMedianOfLiveChannelsAndLeavesDeadOnesSilent) {
    constexpr std::size_t channels = 64;
    const auto dead = [](std::size_t c) { return c == 3 || (c >= 20 && c < 24) || c == 60; };
    const auto samples = samples_of(noisy_recording(4, channels, 3000, 5));
    const recording from = filled(channels, 3000, [&](std::size_t f, std::size_t c) {
        return dead(c) ? (c == 60 ? 32767 : 0) : samples[channels * f + c];
    });
    const auto plain = read_all(filtered_recording(from, {.reference = common_reference::none}));
    const filtered_recording traces(from);
    ASSERT_EQ(traces.reference(), common_reference::median);
    const auto referenced = read_all(traces);
    for (std::size_t at = 0; at < plain.size(); at += channels) {
        std::vector<float> live;
        for (std::size_t c = 0; c < channels; ++c)
            if (!dead(c)) live.push_back(plain[at + c]);
        std::sort(live.begin(), live.end());
        const float median = (live[live.size() / 2] + live[live.size() / 2 - 1]) / 2;
        for (std::size_t c = 0; c < channels; ++c)
            ASSERT_NEAR(referenced[at + c], dead(c) ? 0 : plain[at + c] - median, 1e-3) << c;
    }
    for (std::size_t c = 0; c < channels; ++c) EXPECT_EQ(traces.noise()[c] > 0, !dead(c)) << c;
}

TEST(FilteredRecording, OfDeadChannelsAloneHasNoMedian) {
    const recording from = filled(64, 1000, [](std::size_t, std::size_t c) { return c; });
    const filtered_recording traces(from, {.reference = common_reference::median});
    for (const float value : read_all(traces)) ASSERT_EQ(value, 0);
    EXPECT_TRUE(std::ranges::all_of(traces.noise(), [](double sd) { return sd == 0; }));
}

TEST(FilteredRecording, WhitensWhatChannelsShare) {
    // Each channel also records the one above it.
    const recording apart = noisy_recording(6, 4, 40000, 0);
    const auto samples = samples_of(apart);
    const recording mixed = filled(4, 40000, [&](std::size_t f, std::size_t c) {
        return samples[4 * f + c] + (c > 0 ? 0.8 * samples[4 * f + c - 1] : 0.0);
    });
    const filtered_recording traces(mixed, {.whiten = true});
    const auto values = read_all(traces);
    for (std::size_t a = 0; a < 4; ++a)
        for (std::size_t b = 0; b < 4; ++b) {
            double shared = 0;
            for (std::size_t at = 0; at < values.size(); at += 4)
                shared += values[at + a] * values[at + b];
            EXPECT_NEAR(shared / 40000, a == b ? 1 : 0, 0.04) << a << " " << b;
        }
}

// While samples arrive, later ones are not known.
TEST(FilteredRecording, ThatIsCausalDoesNotDependOnLaterSamples) {
    constexpr std::size_t same = 15000;
    const auto begin_of = [](bool causal, int later) {
        cloud_random random(4);
        const recording from = filled(2, 20000, [&](std::size_t f, std::size_t) {
            return f < same ? 50 * random.normal() : later;
        });
        std::vector<float> values = read_all(filtered_recording(from, {.causal = causal}));
        values.resize(2 * same);
        return values;
    };
    EXPECT_EQ(begin_of(true, 1000), begin_of(true, 0));
    EXPECT_NE(begin_of(false, 1000), begin_of(false, 0));
}

TEST(TraceStream, HasTheTracesOfACausalRecordingInPiecesOfAnySize) {
    cloud_random random(5);
    const recording from = filled(3, 20000, [&](std::size_t, std::size_t c) {
        return 900 + 50 * static_cast<double>(c + 1) * random.normal();
    });
    const filtered_recording filtered(
        from, {.reference = common_reference::median, .whiten = true, .causal = true});
    std::vector<std::int16_t> samples(3 * from.frame_count());
    from.read(0, samples);
    const auto in_pieces = [&](std::size_t frames) {
        trace_stream traces(settings_of(filtered), from.channels());
        std::vector<float> out;
        for (std::size_t at = 0; at < samples.size(); at += 3 * frames) {
            const auto piece = traces.next(
                std::span{samples}.subspan(at, std::min(3 * frames, samples.size() - at)));
            out.insert(out.end(), piece.begin(), piece.end());
        }
        return out;
    };
    const std::vector<float> expected = in_pieces(samples.size());
    for (const std::size_t frames : {1U, 7U, 30U, 8192U})
        EXPECT_EQ(in_pieces(frames), expected) << frames;
    const std::vector<float> whole = read_all(filtered);
    for (std::size_t i = 0; i < whole.size(); ++i) ASSERT_NEAR(whole[i], expected[i], 1e-4) << i;
}

TEST(ScaledTraceStream, LimitsAndRoundsTheTracesOfAStream) {
    constexpr std::size_t channels = 19;
    const recording from = noisy_recording(4, channels, 3000, 30);
    const filtered_recording filtered(
        from, {.reference = common_reference::median, .whiten = true, .causal = true});
    const trace_settings settings = settings_of(filtered);
    trace_scale scale{.limit = 100};
    for (std::size_t c = 0; c < channels; ++c)
        scale.factors.push_back(static_cast<float>(30 + c) / static_cast<float>(settings.noise[c]));
    const std::vector<std::int16_t> samples = samples_of(from);
    const std::vector<float> traces = trace_stream(settings, from.channels()).next(samples);
    scaled_trace_stream stream(settings, from.channels(), scale);
    int limited = 0;
    for (std::size_t at = 0; at < 3000;) {
        const std::size_t frames = std::min<std::size_t>(3000 - at, 1 + at % 70);
        const std::vector<std::int16_t> found =
            stream.next(std::span{samples}.subspan(at * channels, frames * channels));
        for (std::size_t c = 0; c < channels; ++c)
            for (std::size_t f = 0; f < frames; ++f) {
                const float value = traces[(at + f) * channels + c] * scale.factors[c];
                ASSERT_EQ(found[c * frames + f],
                          std::nearbyint(std::clamp(value, -scale.limit, scale.limit)))
                    << "frame " << at + f << ", channel " << c;
                limited += std::abs(value) > scale.limit ? 1 : 0;
            }
        at += frames;
    }
    EXPECT_GT(limited, 0);
    scale.factors.pop_back();
    EXPECT_THROW(scaled_trace_stream(settings, from.channels(), scale), invalid_argument);
}

TEST(FilteredRecording, OfKnownSettingsHasTheTracesOfAStreamThatFollowsTheTissue) {
    constexpr std::size_t channels = 6;
    constexpr std::uint64_t bin = 10000;
    cloud_random random(7);
    const recording noise = filled(channels, 2 * bin, [&](std::size_t, std::size_t c) {
        return 50 * static_cast<double>(c + 1) * random.normal();
    });
    std::vector<std::int16_t> samples(channels * noise.frame_count());
    noise.read(0, samples);
    recording_description described = noise.description();
    for (std::size_t c = 0; c < channels; ++c)
        described.channels[c].y_um = 20 * static_cast<double>(c);
    const recording from(described, samples);
    const filtered_recording estimated(from, {.whiten = true, .causal = true});
    const trace_settings settings = settings_of(estimated);
    const std::vector<float> unmoved = read_all(filtered_recording(from, settings));
    EXPECT_EQ(unmoved, read_all(estimated));

    const auto moved = std::make_shared<const probe_motion>(
        probe_motion{.model = motion_model::rigid,
                     .time_bin_s = bin / from.rate_hz(),
                     .times_s = {0.5 * bin / from.rate_hz(), 1.5 * bin / from.rate_hz()},
                     .depths_um = {50},
                     .displacement_um = {4, 12}});
    const std::vector<float> expected = read_all(filtered_recording(from, settings, moved));
    trace_stream traces(settings, from.channels());
    traces.follow(*moved, 0);
    std::vector<float> streamed = traces.next(std::span{samples}.first(channels * bin));
    traces.follow(*moved, 1);
    const auto rest = traces.next(std::span{samples}.subspan(channels * bin));
    streamed.insert(streamed.end(), rest.begin(), rest.end());
    for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(streamed[i], expected[i], 1e-3) << i;
    float most = 0;
    for (std::size_t i = channels * bin; i < expected.size(); ++i)
        most = std::max(most, std::abs(expected[i] - unmoved[i]));
    EXPECT_GT(most, 1);
}

TEST(FilteredRecording, OfDeadChannelsIsWhitenedWithoutThem) {
    constexpr std::size_t channels = 8;
    const auto samples = samples_of(noisy_recording(7, channels, 20000, 0));
    const auto dead = [](std::size_t c) { return c == 2 || c == 5; };
    // Each channel also records the one above it.
    const recording mixed = filled(channels, 20000, [&](std::size_t f, std::size_t c) {
        const std::int16_t* const frame = samples.data() + channels * f;
        return dead(c) ? 7.0 : frame[c] + (c > 0 ? 0.8 * frame[c - 1] : 0.0);
    });
    const filtered_recording traces(mixed, {.whiten = true});
    for (const float value : read_all(traces)) ASSERT_TRUE(std::isfinite(value));
    for (std::size_t c = 0; c < channels; ++c)
        EXPECT_NEAR(traces.noise()[c], dead(c) ? 0 : 1, dead(c) ? 0 : 0.05) << c;
}

TEST(FilteredRecording, MayBeShorterThanItsFilterReaches) {
    for (const std::size_t frames : {1U, 2U, 7U, 100U}) {
        const filtered_recording traces(noisy_recording(8, 2, frames, 1));
        for (const float value : read_all(traces)) EXPECT_TRUE(std::isfinite(value));
    }
}

}  // namespace
}  // namespace spikeweave
