#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "record/detect/detect.hpp"
#include "support/on_ranks.hpp"
#include "support/random_streams.hpp"
#include "support/recordings.hpp"
#include "support/run_length.hpp"

namespace spikeweave {

using record::detect_in_blocks;
using record::standard_block_frames;

namespace {

struct found_spike {
    std::int64_t frame = 0;
    std::uint32_t channel = 0;
    std::map<std::uint32_t, float> masks{};

    friend bool operator==(const found_spike&, const found_spike&) = default;
};

// Implements the definition with the whole recording in memory: it grows each connected set from
// one crossing by looking at all channels around it.
class reference_detector {
public:
    reference_detector(const filtered_recording& traces, const detection_options& options)
        : traces_(traces),
          options_(options),
          channels_(traces.source().channel_count()),
          frames_(static_cast<std::int64_t>(traces.source().frame_count())),
          height_(traces.source().frame_count() * channels_),
          seen_(height_.size(), 0) {
        traces.read(0, height_);
        for (std::size_t i = 0; i < height_.size(); ++i) {
            const double sd = traces.noise()[i % channels_];
            const float towards = options.sign == spike_sign::negative ? -1.0F : 1.0F;
            height_[i] = sd > 0 ? height_[i] * (towards / static_cast<float>(sd)) : 0.0F;
            if (options.sign == spike_sign::both) height_[i] = std::abs(height_[i]);
        }
    }

    std::vector<found_spike> find() {
        std::vector<found_spike> out;
        for (std::int64_t t = 0; t < frames_; ++t)
            for (std::size_t c = 0; c < channels_; ++c)
                if (is_weak(t, c) && !seen(t, c)) take(t, c, out);
        std::sort(out.begin(), out.end(), [](const found_spike& a, const found_spike& b) {
            return std::tie(a.frame, a.channel) < std::tie(b.frame, b.channel);
        });
        return out;
    }

private:
    float at(std::int64_t t, std::size_t c) const {
        return height_[static_cast<std::size_t>(t) * channels_ + c];
    }
    char& seen(std::int64_t t, std::size_t c) {
        return seen_[static_cast<std::size_t>(t) * channels_ + c];
    }
    bool is_weak(std::int64_t t, std::size_t c) const {
        return at(t, c) > static_cast<float>(options_.weak_threshold);
    }
    bool are_near(std::size_t a, std::size_t b) const {
        const auto& one = traces_.source().channels()[a];
        const auto& two = traces_.source().channels()[b];
        const double x = one.x_um - two.x_um;
        const double y = one.y_um - two.y_um;
        return one.shank == two.shank && x * x + y * y <= options_.neighbours * options_.neighbours;
    }

    void take(std::int64_t first, std::size_t channel, std::vector<found_spike>& out) {
        std::vector<std::pair<std::int64_t, std::size_t>> waiting{{first, channel}};
        std::map<std::uint32_t, float> highest;
        std::tuple<float, std::int64_t, std::int64_t> peak{0, 0, 0};
        seen(first, channel) = 1;
        while (!waiting.empty()) {
            const auto [t, c] = waiting.back();
            waiting.pop_back();
            float& height = highest[static_cast<std::uint32_t>(c)];
            height = std::max(height, at(t, c));
            peak = std::max(peak, std::tuple{at(t, c), -t, -static_cast<std::int64_t>(c)});
            for (std::int64_t u = t - options_.join_frames; u <= t + options_.join_frames; ++u)
                for (std::size_t d = 0; d < channels_; ++d)
                    if (u >= 0 && u < frames_ && are_near(c, d) && is_weak(u, d) && !seen(u, d)) {
                        seen(u, d) = 1;
                        waiting.emplace_back(u, d);
                    }
        }
        if (!(std::get<0>(peak) > static_cast<float>(options_.strong_threshold))) return;
        found_spike spike{-std::get<1>(peak), static_cast<std::uint32_t>(-std::get<2>(peak))};
        const auto weak = static_cast<float>(options_.weak_threshold);
        const auto strong = static_cast<float>(options_.strong_threshold);
        for (const auto& [c, height] : highest)
            spike.masks[c] = std::clamp((height - weak) / (strong - weak), 0.0F, 1.0F);
        out.push_back(std::move(spike));
    }

    const filtered_recording& traces_;
    const detection_options& options_;
    std::size_t channels_;
    std::int64_t frames_;
    std::vector<float> height_;
    std::vector<char> seen_;
};

std::vector<found_spike> as_found(const detection_result& spikes) {
    std::vector<found_spike> out(spikes.size());
    for (std::size_t n = 0; n < spikes.size(); ++n) {
        out[n].frame = spikes.frames[n];
        out[n].channel = spikes.peak_channels[n];
        for (std::size_t i = spikes.mask_offsets[n]; i < spikes.mask_offsets[n + 1]; ++i)
            out[n].masks[spikes.mask_channels[i]] = spikes.masks[i];
    }
    return out;
}

// Events may be long, because the reference has no limit of their length.
detection_options drawn_options(random_streams& draw) {
    detection_options options{.neighbours = 20 * static_cast<double>(1 + draw.below(3)),
                              .join_frames = static_cast<std::uint32_t>(draw.below(3)),
                              .longest = std::chrono::seconds{10}};
    options.weak_threshold = 1 + static_cast<double>(draw.below(4)) / 2;
    options.strong_threshold = options.weak_threshold + 1 + static_cast<double>(draw.below(3));
    options.sign = static_cast<spike_sign>(draw.below(3));
    return options;
}

recording drawn_recording(random_streams& draw, std::uint64_t seed) {
    const std::size_t channels = 1 + draw.below(7);
    return noisy_recording(seed, channels, 200 + draw.below(3000), draw.below(30));
}

TEST(DetectedSpikes, AreThoseOfTheDefinition) {
    std::size_t total = 0;
    for (std::uint64_t seed = 1; seed <= property_cases(60); ++seed) {
        random_streams draw(seed);
        const detection_options options = drawn_options(draw);
        const filtered_recording traces(drawn_recording(draw, seed));

        const auto expected = reference_detector(traces, options).find();
        const auto found = as_found(detect_in_blocks(traces, options, standard_block_frames, {}));

        ASSERT_EQ(found, expected) << "seed " << seed;
        total += expected.size();
    }
    EXPECT_GT(total, property_cases(60) * 5);
}

// Blocks may differ by rounding errors: less than half a millionth of a microvolt in a trace.
void expect_alike(const detection_result& a, const detection_result& b, const std::string& what) {
    ASSERT_EQ(a.frames, b.frames) << what;
    ASSERT_EQ(a.peak_channels, b.peak_channels) << what;
    ASSERT_EQ(a.mask_offsets, b.mask_offsets) << what;
    ASSERT_EQ(a.mask_channels, b.mask_channels) << what;
    ASSERT_EQ(a.features.size(), b.features.size()) << what;
    for (std::size_t i = 0; i < a.masks.size(); ++i) ASSERT_NEAR(a.masks[i], b.masks[i], 1e-4);
    for (std::size_t i = 0; i < a.fractions.size(); ++i)
        ASSERT_NEAR(a.fractions[i], b.fractions[i], 1e-3);
}

// With many channels there is no moment without a weak sample, and sets that end beside each other
// in space must not hold each other up.
TEST(DetectedSpikes, OfManyChannelsAreTheSameInBlocksOfAnySize) {
    const filtered_recording traces(noisy_recording(12, 60, 3000, 40));
    detection_options options{.weak_threshold = 1.7, .longest = std::chrono::microseconds{200}};
    const detection_result whole = detect_in_blocks(traces, options, 1U << 20U, {});
    EXPECT_GT(whole.size(), 30U);
    EXPECT_GT(whole.cut, 0U);
    for (const std::size_t block_frames : {64U, 501U, 1024U}) {
        const detection_result found =
            detect_in_blocks(traces, options, block_frames, {.threads = 2});
        expect_alike(found, whole, std::to_string(block_frames));
        EXPECT_EQ(found.cut, whole.cut);
    }
}

TEST(DetectedSpikes, AreTheSameInBlocksOfAnySize) {
    for (std::uint64_t seed = 1; seed <= property_cases(20); ++seed) {
        random_streams draw(seed);
        detection_options options = drawn_options(draw);
        options.longest = std::chrono::milliseconds{1 + draw.below(4)};
        const filtered_recording traces(drawn_recording(draw, seed));
        const detection_result whole = detect_in_blocks(traces, options, 1U << 20U, {});
        for (const std::size_t block_frames : {64U, 501U, 1024U})
            expect_alike(detect_in_blocks(traces, options, block_frames, {.threads = 2}), whole,
                         "seed " + std::to_string(seed));
    }
}

TEST(DetectedSpikes, AreTheSameToTheBitOnAnyNumberOfThreads) {
    const recording from = noisy_recording(9, 5, 60000, 300);
    const detection_result one = detect_spikes(from, {}, {.threads = 1});
    EXPECT_GT(one.size(), 200U);
    for (const int threads : {2, 3, 8}) {
        const detection_result many = detect_spikes(from, {}, {.threads = threads});
        EXPECT_EQ(many.frames, one.frames);
        EXPECT_EQ(many.fractions, one.fractions);
        EXPECT_EQ(many.mask_channels, one.mask_channels);
        EXPECT_EQ(many.masks, one.masks);
        EXPECT_EQ(many.features, one.features);
        EXPECT_EQ(many.noise, one.noise);
    }
}

TEST(DetectedSpikes, AreTheSameToTheBitOnAnyNumberOfRanks) {
    detection_options options{.described_channels = 8};
    for (const std::size_t channels : {3U, 60U}) {  // with gaps between crossings, and without
        options.preprocessing.whiten = channels > 3;
        options.preprocessing.reference =
            channels > 3 ? common_reference::median : common_reference::none;
        const recording from =
            noisy_recording(9, channels, is_shortened_run() ? 20000 : 30000, 200);
        const detection_result one = detect_spikes(from, options, {.threads = 1});
        EXPECT_GT(one.size(), 100U);
        on_ranks([&](int, std::shared_ptr<communicator> all) {
            const detection_result many =
                detect_spikes(from, options, {.threads = 2, .ranks = std::move(all)});
            EXPECT_EQ(many.frames, one.frames);
            EXPECT_EQ(many.fractions, one.fractions);
            EXPECT_EQ(many.mask_offsets, one.mask_offsets);
            EXPECT_EQ(many.mask_channels, one.mask_channels);
            EXPECT_EQ(many.masks, one.masks);
            EXPECT_EQ(many.features, one.features);
            EXPECT_EQ(many.cut, one.cut);
            EXPECT_EQ(many.noise, one.noise);
        });
    }
}

// Four microvolts per count scale everything exactly, and the minus inverts the signs.
TEST(DetectedSpikes, DoNotDependOnTheUnitOrTheSign) {
    const recording from = noisy_recording(10, 4, 20000, 80);
    const detection_result plain = detect_spikes(from);
    recording_description other = from.description();
    for (recording_channel& channel : other.channels) channel.gain_uv = -4;

    const detection_result turned =
        detect_spikes({other, samples_of(from)}, {.sign = spike_sign::positive});

    expect_alike(turned, plain, "turned");
    EXPECT_GT(plain.size(), 50U);
}

}  // namespace
}  // namespace spikeweave
