#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <span>
#include <vector>

#include "simulate/random_values.hpp"
#include "spikeweave/simulate/recording.hpp"
#include "spikeweave/spikes/spike_trains.hpp"
#include "support/recordings.hpp"
#include "support/run_length.hpp"
#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

std::uint64_t digest_of(const recording_options& options) {
    std::uint64_t hash = 14695981039346656037U;
    for (const std::int16_t sample : samples_of(simulate_recording(options).traces)) {
        hash ^= static_cast<std::uint16_t>(sample);
        hash *= 1099511628211U;
    }
    return hash;
}

recording_options realistic(std::uint32_t channels, duration length, std::uint32_t units) {
    return {.channels = channels,
            .length = length,
            .units = units,
            .difficulty = recording_difficulty::realistic};
}

// Without noise, other units or differences of amplitude.
recording_options silent(recording_options options) {
    options.noise_uv = 0;
    options.amplitude_jitter = 0;
    options.background = 0;
    return options;
}

// The correlation of two channels, the second one later by `lag` samples.
double correlation(std::span<const std::int16_t> samples, std::size_t channels, std::size_t a,
                   std::size_t b, std::size_t lag) {
    double one = 0;
    double two = 0;
    double both = 0;
    for (std::size_t at = 0; at + (lag + 1) * channels <= samples.size(); at += channels) {
        const double x = samples[at + a];
        const double y = samples[at + lag * channels + b];
        one += x * x;
        two += y * y;
        both += x * y;
    }
    return both / std::sqrt(one * two);
}

// The largest deflection of either sign on a channel within 0.3 ms, in uV, with its sign.
double extreme_near(std::span<const std::int16_t> samples, std::size_t channels,
                    std::size_t channel, std::int64_t time_us) {
    const auto middle = std::llround(static_cast<double>(time_us) * 0.03);
    double extreme = 0;
    for (auto f = std::max<std::int64_t>(0, middle - 9); f <= middle + 9; ++f) {
        const auto at = static_cast<std::size_t>(f) * channels + channel;
        if (at >= samples.size()) break;
        const double uv = 0.195 * samples[at];
        if (std::abs(uv) > std::abs(extreme)) extreme = uv;
    }
    return extreme;
}

TEST(RealisticRecording, LeavesEasyOnesAsTheyWere) {
    EXPECT_EQ(digest_of({.length = 2s}), 9689795070601133223U);
    recording_options easy = realistic(32, 2s, 20);
    easy.distribution = unit_distribution::uniform;
    easy.waveforms = waveform_variety::alike;
    easy.similar = easy.bursting = easy.background = 0;
    easy.spectrum = noise_spectrum::white;
    EXPECT_EQ(digest_of(easy), 9689795070601133223U);
}

TEST(RealisticRecording, GivesTheSameBytesOnEveryMachineAndAnyNumberOfThreads) {
    recording_options options = realistic(6, 900ms, 5);
    options.drift_um = 20;
    const simulated_recording one = simulate_recording(options, {.threads = 1});
    const simulated_recording many = simulate_recording(options, {.threads = 5});
    EXPECT_EQ(samples_of(one.traces), samples_of(many.traces));
    EXPECT_EQ(one.truth.spikes, many.truth.spikes);
    EXPECT_EQ(digest_of(options), 1514811688022150264U);
}

TEST(RealisticRecording, HasUnitsOfAllKindsWithTheirPeaks) {
    SPIKEWEAVE_NEEDS_FULL_RUN();
    recording_options options = silent(realistic(64, 8s, 60));
    options.similar = options.bursting = 0;
    options.seed = 1;
    const simulated_recording made = simulate_recording(options);
    const auto samples = samples_of(made.traces);
    const spike_trains trains(made.truth.spikes);
    std::set<waveform_kind> kinds;
    for (std::uint32_t u = 0; u < options.units; ++u) {
        const simulated_unit& unit = made.truth.units[u];
        kinds.insert(unit.waveform);
        // The median is that of a spike without others at the same time.
        std::vector<double> peaks;
        for (const std::int64_t time_us : trains.times_us(unit_id{u}))
            peaks.push_back(extreme_near(samples, 64, unit.channel, time_us));
        if (peaks.size() < 5) continue;
        std::sort(peaks.begin(), peaks.end());
        const double sign = unit.waveform == waveform_kind::positive ? 1 : -1;
        EXPECT_NEAR(peaks[peaks.size() / 2], sign * unit.peak_uv, 4 + 0.1 * unit.peak_uv) << u;
    }
    EXPECT_EQ(kinds.size(), values_of<waveform_kind>().size());
}

TEST(RealisticRecording, HasWaveformsThatDifferFromChannelToChannel) {
    SPIKEWEAVE_NEEDS_FULL_RUN();
    const auto likeness = [](waveform_variety waveforms) {
        recording_options options = silent(realistic(16, 5s, 1));
        options.columns = 1;
        options.low_uv = options.high_uv = 5000;
        options.bursting = 0;
        options.waveforms = waveforms;
        const simulated_recording made = simulate_recording(options);
        const auto samples = samples_of(made.traces);
        const std::size_t channel = made.truth.units[0].channel;
        double least = 1;
        // Within 60 um, at the best of all delays up to 0.4 ms.
        for (std::size_t c = channel < 3 ? 0 : channel - 3; c <= channel + 3 && c < 16; ++c) {
            double best = -1;
            for (std::size_t lag = 0; lag <= 12; ++lag)
                best = std::max({best, correlation(samples, 16, channel, c, lag),
                                 correlation(samples, 16, c, channel, lag)});
            least = std::min(least, best);
        }
        return least;
    };
    EXPECT_GT(likeness(waveform_variety::alike), 0.995);
    EXPECT_LT(likeness(waveform_variety::varied), 0.98);
}

TEST(RealisticRecording, PutsSimilarUnitsBesideOthers) {
    recording_options options = realistic(32, 1s, 200);
    options.similar = 0.4;
    const auto units = simulate_recording(options).truth.units;
    std::size_t count = 0;
    std::set<std::uint32_t> originals;
    for (std::uint32_t u = 0; u < units.size(); ++u) {
        if (!units[u].like) continue;
        ++count;
        originals.insert(*units[u].like);
        const simulated_unit& other = units[*units[u].like];
        EXPECT_LT(*units[u].like, u);
        EXPECT_EQ(units[u].waveform, other.waveform);
        EXPECT_LE(std::hypot(units[u].x_um - other.x_um, units[u].y_um - other.y_um), 21.3);
        EXPECT_GE(units[u].peak_uv, 0.8 * other.peak_uv);
        EXPECT_LE(units[u].peak_uv, 1.25 * other.peak_uv);
    }
    EXPECT_GT(originals.size(), count * 3 / 4);
    EXPECT_NEAR(static_cast<double>(count), 80, 5 * std::sqrt(200 * 0.4 * 0.6));
}

TEST(RealisticRecording, FiresBurstsInWhichSpikesBecomeSmallerAndRecover) {
    recording_options options = silent({.channels = 4, .length = 100s, .units = 1});
    options.bursting = 1;
    options.low_hz = options.high_hz = 8;
    options.low_uv = options.high_uv = 1000;
    const simulated_recording made = simulate_recording(options);
    ASSERT_TRUE(made.truth.units[0].bursting);
    const auto samples = samples_of(made.traces);
    const auto times = made.truth.spikes.times_us();
    // Intervals are within bursts, from 4 (the dead time) to 7 ms, more often than by chance.
    std::array<std::size_t, 6> of_place{};
    std::array<double, 6> sizes{};
    std::size_t place = 0;
    for (std::size_t i = 1; i < times.size(); ++i) {
        const std::int64_t passed_us = times[i] - times[i - 1];
        EXPECT_GE(passed_us, 3999);
        place = passed_us <= 7001 ? place + 1 : 0;
        if (place >= of_place.size() || (place == 0 && passed_us < 100'000)) continue;
        ++of_place[place];
        sizes[place] -= extreme_near(samples, 4, made.truth.units[0].channel, times[i]) / 1000;
    }
    EXPECT_GT(of_place[0], 40U);
    EXPECT_GT(of_place[1], 100U);
    EXPECT_GT(of_place[4], 10U);
    for (std::size_t i = 0; i < 5; ++i) sizes[i] /= static_cast<double>(of_place[i]);
    EXPECT_GT(sizes[0], 0.94);
    for (std::size_t i = 1; i < 5; ++i) EXPECT_LT(sizes[i], sizes[i - 1] - 0.01) << i;
    EXPECT_LT(sizes[4], 0.8);
    EXPECT_NEAR(static_cast<double>(times.size()), 800, 200);
}

TEST(RealisticRecording, AddsSmallUnitsThatAreInNoTruth) {
    recording_options options{.channels = 16, .length = 5s, .units = 3};
    options.noise_uv = 0;
    const simulated_recording without = simulate_recording(options);
    options.background = 4;
    const simulated_recording with = simulate_recording(options);
    EXPECT_EQ(with.truth.spikes, without.truth.spikes);
    EXPECT_EQ(with.truth.units.size(), 3U);
    const auto one = samples_of(without.traces);
    const auto two = samples_of(with.traces);
    double squares = 0;
    double largest = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
        const double uv = 0.195 * (two[i] - one[i]);
        squares += uv * uv;
        largest = std::max(largest, std::abs(uv));
    }
    const double sd = std::sqrt(squares / static_cast<double>(one.size()));
    EXPECT_TRUE(sd > 0.5 && sd < 8) << sd;
    EXPECT_LT(largest, 90);
}

TEST(RealisticRecording, HasNoiseThatIsCorrelatedInTimeAndSpace) {
    recording_options options{.channels = 4, .columns = 1, .length = 6s, .units = 1};
    options.low_uv = options.high_uv = 0;
    options.noise_uv = 10;
    options.gain_uv = 0.1;
    const auto white = samples_of(simulate_recording(options).traces);
    options.spectrum = noise_spectrum::coloured;
    const auto samples = samples_of(simulate_recording(options).traces);
    double squares = 0;
    for (const std::int16_t sample : samples) squares += 0.01 * sample * sample;
    EXPECT_NEAR(std::sqrt(squares / static_cast<double>(samples.size())), 10, 0.1);
    EXPECT_NEAR(correlation(white, 4, 1, 1, 1), 0, 0.02);
    // Seven tenths of the variance are of the process x[t] = (p + q) x[t-1] - p q x[t-2] + e[t].
    const double p = 120e-6 / (120e-6 + 1 / 30000.0);
    const double q = 40e-6 / (40e-6 + 1 / 30000.0);
    double last = 1;
    double now = (p + q) / (1 + p * q);
    for (std::size_t lag = 1; lag <= 20; ++lag) {
        EXPECT_NEAR(correlation(samples, 4, 1, 1, lag), 0.7 * now, 0.02) << lag;
        const double next = (p + q) * now - p * q * last;
        last = now;
        now = next;
    }
    EXPECT_NEAR(correlation(samples, 4, 0, 1, 0), 0.7 * correlation(white, 4, 0, 1, 0), 0.03);
    EXPECT_NEAR(correlation(samples, 4, 0, 3, 0), 0, 0.03);
}

TEST(RealisticRecording, HasCorrelatedNoiseAcrossItsBlocks) {
    recording_options options{.channels = 64, .columns = 1, .length = 5s, .units = 1};
    options.low_uv = options.high_uv = 0;
    options.spectrum = noise_spectrum::coloured;
    const auto samples = samples_of(simulate_recording(options).traces);
    double squares = 0;
    double both = 0;
    for (std::size_t block = 4096; block < samples.size() / 64; block += 4096)
        for (std::size_t c = 0; c < 64; ++c) {
            const double before = samples[(block - 1) * 64 + c];
            const double after = samples[block * 64 + c];
            squares += before * before + after * after;
            both += 2 * before * after;
        }
    EXPECT_NEAR(both / squares, 0.65, 0.05);
}

TEST(RealisticRecording, DrawsLognormally) {
    random_stream random(3, random_purpose::recording_shapes, 0);
    constexpr int count = 20000;
    int within = 0;
    int below = 0;
    for (int i = 0; i < count; ++i) {
        const double value = simulate::lognormal(random, 50, 200);
        EXPECT_TRUE(value > 24.9 && value < 400.1) << value;
        within += value > 50 && value < 200 ? 1 : 0;
        below += value < 100 ? 1 : 0;
    }
    // Normal variables within two standard deviations are within one in 71.5 % of cases.
    EXPECT_NEAR(within, 0.715 * count, 0.015 * count);
    EXPECT_NEAR(below, 0.5 * count, 0.015 * count);
    EXPECT_DOUBLE_EQ(simulate::lognormal(random, 9, 9), 9);
}

TEST(RealisticRecording, WritesWhatItsUnitsAre) {
    const temporary_folder folder;
    simulate_recording(folder.path() / "easy", {.channels = 2, .length = 100ms, .units = 1});
    simulate_recording(folder.path() / "realistic", realistic(2, 100ms, 1));
    const auto header = [&](const char* name) {
        const auto text = read_bytes(folder.path() / name / "units.tsv");
        return text.substr(0, text.find('\n'));
    };
    const std::string usual =
        "unit\tchannel\tx_um\ty_um\tdepth_um\trate_hz\tpeak_uv\tpeak_by_noise";
    EXPECT_EQ(header("easy"), usual);
    EXPECT_EQ(header("realistic"), usual + "\twaveform\tbursting\tlike");
}

TEST(RealisticRecording, RefusesWhatCannotBe) {
    recording_options options = realistic(2, 1s, 1);
    options.low_uv = 0;
    EXPECT_SAYS(refusal_of([&] { simulate_recording(options); }), "low_peak");
    options = realistic(2, 1s, 1);
    options.refractory = 60ms;
    EXPECT_SAYS(refusal_of([&] { simulate_recording(options); }), "29.3939 Hz");
    options.refractory = 4ms;
    options.similar = 1.5;
    EXPECT_SAYS(refusal_of([&] { simulate_recording(options); }), "similar");
}

}  // namespace
}  // namespace spikeweave
