#include "record/trace_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "record/detect/trace_steps.hpp"
#include "record/filter/across_channels.hpp"
#include "spikeweave/record/stream.hpp"
#include "support/random_streams.hpp"
#include "support/recordings.hpp"
#include "support/run_length.hpp"

// Runs the kernels' code thread by thread on the CPU and compares it with the CPU's own.
namespace spikeweave {

using record::block_grid;
using record::block_reader;
using record::blocks_together;
using record::crossing_problem;
using record::crossing_rule;
using record::describe_channel;
using record::filter_column_forward;
using record::filter_column_of;
using record::filter_problem;
using record::forward_problem;
using record::fraction_of;
using record::kept_traces_of;
using record::median_by;
using record::mixed;
using record::most_sections;
using record::order_of;
using record::piece_crossings;
using record::principal_components;
using record::spike_row;
using record::stage;
using record::staged_block;
using record::staged_run;
using record::staging;
using record::steps_on_cpu;
using record::subtract_medians;
using record::value_of;
using record::values_of;
using record::waveform_at;
using record::waveform_place;
using record::waveform_problem;
using record::waveform_window;
using record::whitened;
using record::whitener;
using record::window_of;

namespace {

std::uint64_t count_of(std::span<const double> values, std::uint64_t prefix, int bit) {
    return static_cast<std::uint64_t>(std::count_if(
        values.begin(), values.end(), [&](double x) { return order_of(x) >> bit == prefix; }));
}

double median_as_a_warp_does(std::span<const double> values) {
    return median_by(
        static_cast<std::uint32_t>(values.size()),
        [&](std::uint64_t prefix, int bit) { return count_of(values, prefix, bit); },
        [&](std::uint64_t order, std::uint32_t& less) {
            std::uint64_t greatest = 0;
            less = 0;
            for (const double value : values) {
                if (order_of(value) >= order) continue;
                ++less;
                greatest = std::max(greatest, order_of(value));
            }
            return greatest;
        });
}

double median_by_sorting(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle] + values[middle - 1]) / 2;
}

std::vector<std::uint32_t> all_channels(std::size_t channels) {
    std::vector<std::uint32_t> all(channels);
    std::iota(all.begin(), all.end(), 0U);
    return all;
}

// Draws from few values, so that many are equal, including both zeros.
std::vector<double> drawn_frame(random_streams& draw, std::size_t channels) {
    std::vector<double> values(channels);
    const std::uint64_t different = 1 + draw.below(2 * channels);
    for (double& value : values)
        value = (static_cast<double>(draw.below(different)) - static_cast<double>(different / 2)) *
                (draw.below(2) == 0 ? -0.1 : 0.1);
    return values;
}

TEST(MedianOfChannels, IsThatOfSortedValues) {
    for (std::uint64_t seed = 1; seed <= property_cases(300); ++seed) {
        random_streams draw(seed);
        const std::size_t channels = 1 + draw.below(seed % 3 == 0 ? 400 : 40);
        std::vector<double> frames;
        std::vector<double> expected;
        for (int f = 0; f < 20; ++f) {
            const std::vector<double> frame = drawn_frame(draw, channels);
            const double median = median_by_sorting(frame);
            ASSERT_EQ(median_as_a_warp_does(frame), median) << "seed " << seed;
            for (const double value : frame) {
                frames.push_back(value);
                expected.push_back(value - median);
            }
        }

        subtract_medians(channels, all_channels(channels), frames);

        ASSERT_EQ(frames, expected) << "seed " << seed;
    }
}

// The level of the noise drifts and jumps out of the bracket around the last median.
TEST(MedianOfChannels, IsFoundWhereItJumps) {
    random_streams draw(7);
    for (const std::size_t channels : {32U, 33U, 384U}) {
        std::vector<double> frames;
        std::vector<double> expected;
        double level = 0;
        for (int f = 0; f < 2000; ++f) {
            level = f % 100 == 0 ? static_cast<double>(draw.below(1000)) : level + 0.1;
            std::vector<double> frame(channels);
            for (double& value : frame) value = level + static_cast<double>(draw.below(10000)) / 99;
            const double median = median_by_sorting(frame);
            for (const double value : frame) expected.push_back(value - median);
            frames.insert(frames.end(), frame.begin(), frame.end());
        }
        subtract_medians(channels, all_channels(channels), frames);
        ASSERT_EQ(frames, expected) << channels << " channels";
    }
}

TEST(OrderOfAValue, IsThatOfTheValues) {
    const double infinity = std::numeric_limits<double>::infinity();
    const std::vector<double> rising{-infinity, -1e300, -1, -1e-320, 0, 1e-320, 0.5, 1, infinity};
    for (const double value : rising) EXPECT_EQ(value_of(order_of(value)), value);
    for (std::size_t i = 1; i < rising.size(); ++i)
        EXPECT_LT(order_of(rising[i - 1]), order_of(rising[i]));
    EXPECT_EQ(order_of(-0.0), order_of(0.0));
}

TEST(Whitening, SumsInTheOrderOfChannels) {
    random_streams draw(3);
    for (const std::size_t channels : {1U, 5U, 16U, 17U, 40U}) {
        for (const std::size_t frames : {1U, 4U, 7U}) {
            std::vector<float> matrix(channels * channels);
            std::vector<float> traces(frames * channels);
            for (auto* const values : {&matrix, &traces})
                for (float& value : *values) value = static_cast<float>(draw.below(1000)) / 7 - 70;
            // Channels that are far apart have no weight.
            for (std::size_t i = 0; i < matrix.size(); ++i)
                if (i / channels > i % channels + 6 || i % channels > i / channels + 6)
                    matrix[i] = 0;
            std::vector<float> expected;
            for (std::size_t f = 0; f < frames; ++f)
                for (std::uint32_t c = 0; c < channels; ++c)
                    expected.push_back(whitened(traces.data() + f * channels, matrix.data(),
                                                static_cast<std::uint32_t>(channels), c));

            whitener(matrix, channels).apply(traces);

            ASSERT_EQ(traces, expected) << channels << " channels, " << frames << " frames";
        }
    }
}

// ---- whole blocks

// Simulates the memory of a device and runs every kernel's threads one after another.
class pretended_device {
public:
    pretended_device(const filtered_recording& traces, std::size_t block_frames, std::size_t apron,
                     std::vector<std::size_t> blocks)
        : of_(traces, apron, block_frames),
          blocks_(std::move(blocks)),
          grid_{.total = traces.source().frame_count(),
                .block_frames = block_frames,
                .apron = apron,
                .reach = of_.recipe().reach,
                .channels = traces.source().channel_count()},
          rows_(grid_.trace_rows()) {
        const staging plan = stage(grid_, blocks_);
        const std::size_t channels = grid_.channels;
        std::vector<std::int16_t> counts(static_cast<std::size_t>(plan.frames) * channels);
        for (const staged_run& run : plan.runs)
            of_.source().read(run.begin,
                              std::span{counts}.subspan(
                                  static_cast<std::size_t>(run.at) * channels,
                                  static_cast<std::size_t>(run.end - run.begin) * channels));
        std::vector<double> gains;
        for (const auto& channel : of_.source().channels()) gains.push_back(channel.gain_uv);
        std::vector<double> values(blocks_.size() * grid_.value_rows() * channels);
        traces_.assign(blocks_.size() * rows_ * channels, 0);
        std::vector<double> shares(channels, 0.0);
        for (const std::uint32_t c : of_.recipe().referenced) shares[c] = 1;
        filter_problem problem{
            .blocks = plan.blocks.data(),
            .counts = counts.data(),
            .gains = gains.data(),
            .sections = {},
            .section_count = static_cast<std::uint32_t>(of_.recipe().sections.size()),
            .block_count = static_cast<std::uint32_t>(blocks_.size()),
            .channels = static_cast<std::uint32_t>(channels),
            .referenced = of_.recipe().referenced.data(),
            .shares = shares.data(),
            .referenced_count = static_cast<std::uint32_t>(of_.recipe().referenced.size()),
            .values = values.data(),
            .value_rows = grid_.value_rows(),
            .traces = traces_.data(),
            .trace_rows = rows_};
        std::copy(of_.recipe().sections.begin(), of_.recipe().sections.end(), problem.sections);
        std::vector<double> states(2 * most_sections * 3);
        for (std::uint32_t b = 0; b < problem.block_count; ++b)
            for (std::uint32_t c = 0; c < problem.channels; ++c)
                filter_column_of(problem, b, c, states.data() + 1, 3);
        if (problem.referenced_count > 0) take_medians(problem);
        if (!of_.recipe().whitening.empty()) whiten();
    }

    // Returns where it differs from what the CPU reads; npos if nowhere.
    std::size_t first_difference() const {
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            const trace_block block = of_.read(blocks_[b]);
            const float* const mine = traces_.data() + b * rows_ * grid_.channels;
            for (std::size_t i = 0; i < block.values.size(); ++i)
                if (!(mine[i] == block.values[i])) return b * rows_ * grid_.channels + i;
        }
        return std::string::npos;
    }

    const float* traces() const { return traces_.data(); }
    std::size_t trace_rows() const { return rows_; }

private:
    void take_medians(const filter_problem& p) {
        for (std::uint32_t b = 0; b < p.block_count; ++b) {
            const staged_block& where = p.blocks[b];
            for (std::uint64_t row = 0; row < where.kept_to - where.kept_from; ++row) {
                const std::span<const double> frame(
                    values_of(p, b) + (where.kept_from + row) * p.channels, p.channels);
                std::vector<double> some;
                for (std::uint32_t i = 0; i < p.referenced_count; ++i)
                    some.push_back(frame[p.referenced[i]]);
                const double median = median_as_a_warp_does(some);
                for (std::uint32_t c = 0; c < p.channels; ++c)
                    kept_traces_of(p, b)[row * p.channels + c] =
                        static_cast<float>(frame[c] - p.shares[c] * median);
            }
        }
    }
    void whiten() {
        const std::vector<float> plain = traces_;
        const auto channels = static_cast<std::uint32_t>(grid_.channels);
        for (std::size_t i = 0; i < plain.size(); ++i)
            traces_[i] =
                whitened(plain.data() + i / channels * channels, of_.recipe().whitening.data(),
                         channels, static_cast<std::uint32_t>(i % channels));
    }

    block_reader of_;
    std::vector<std::size_t> blocks_;
    block_grid grid_;
    std::size_t rows_;
    std::vector<float> traces_;
};

std::vector<std::size_t> all_blocks(const recording& from, std::size_t block_frames) {
    std::vector<std::size_t> blocks((from.frame_count() + block_frames - 1) / block_frames);
    std::iota(blocks.begin(), blocks.end(), std::size_t{0});
    return blocks;
}

// Keeps every other recording; in the rest each channel is dead with probability 1/3.
recording with_dead_channels(const recording& from, random_streams& draw) {
    std::vector<std::int16_t> samples = samples_of(from);
    const std::size_t channels = from.channel_count();
    const bool some = draw.below(2) == 0;
    for (std::size_t c = 0; c < channels; ++c)
        if (some && draw.below(3) == 0)
            for (std::size_t at = c; at < samples.size(); at += channels) samples[at] = 7;
    return {channels_in_a_line(channels), std::move(samples)};
}

TEST(FilterKernels, GiveTheTracesOfTheCpu) {
    for (std::uint64_t seed = 1; seed <= property_cases(40); ++seed) {
        random_streams draw(seed);
        const std::size_t channels = 1 + draw.below(6);
        const recording from =
            with_dead_channels(noisy_recording(seed, channels, 1 + draw.below(5000), 20), draw);
        const preprocessing_options options{
            .filter_order = 1 + static_cast<std::uint32_t>(draw.below(8)),
            .reference = draw.below(2) == 0 ? common_reference::none : common_reference::median,
            .whiten = from.frame_count() > 500 && draw.below(2) == 0};
        const filtered_recording traces(from, options);
        for (const std::size_t block_frames : {61U, 1000U, 8192U}) {
            std::vector<std::size_t> blocks = all_blocks(from, block_frames);
            const std::size_t apron = draw.below(50);
            ASSERT_EQ(pretended_device(traces, block_frames, apron, blocks).first_difference(),
                      std::string::npos)
                << "seed " << seed << ", blocks of " << block_frames;
            std::erase_if(blocks, [&](std::size_t) { return draw.below(3) > 0; });
            if (blocks.empty()) continue;
            ASSERT_EQ(pretended_device(traces, block_frames, apron, blocks).first_difference(),
                      std::string::npos)
                << "seed " << seed << ", some blocks of " << block_frames;
        }
    }
}

// With a common median, whose kernel is that of blocks, the values would be the same.
TEST(FilterKernels, GiveTheTracesOfAStreamInPieces) {
    for (std::uint64_t seed = 1; seed <= property_cases(40); ++seed) {
        random_streams draw(seed);
        const auto channels = static_cast<std::uint32_t>(1 + draw.below(6));
        const recording from = noisy_recording(seed, channels, 600, 20);
        const filtered_recording filtered(
            from, {.filter_order = 1 + static_cast<std::uint32_t>(draw.below(8)),
                   .reference = common_reference::none,
                   .causal = true});
        const trace_settings settings = settings_of(filtered);
        const std::vector<std::int16_t> samples = samples_of(from);
        const std::vector<float> expected = trace_stream(settings, from.channels()).next(samples);

        std::vector<double> gains;
        std::vector<double> first;
        for (std::uint32_t c = 0; c < channels; ++c) {
            gains.push_back(from.channels()[c].gain_uv);
            first.push_back(gains[c] * samples[c]);
        }
        std::vector<double> states(2 * settings.sections.size() * channels);
        std::vector<float> traces(samples.size());
        for (std::size_t at = 0; at < samples.size();) {
            const std::size_t frames =
                std::min(1 + draw.below(40), (samples.size() - at) / channels);
            forward_problem problem{
                .counts = samples.data() + at,
                .gains = gains.data(),
                .first = first.data(),
                .sections = {},
                .section_count = static_cast<std::uint32_t>(settings.sections.size()),
                .channels = channels,
                .frames = static_cast<std::uint32_t>(frames),
                .states = states.data(),
                .values = nullptr,
                .traces = traces.data() + at};
            std::ranges::copy(settings.sections, problem.sections);
            for (std::uint32_t c = 0; c < channels; ++c) filter_column_forward(problem, c);
            at += frames * channels;
        }
        ASSERT_EQ(traces, expected) << "seed " << seed;
    }
}

TEST(FilterKernels, MixTheChannelsOfDisplacedContacts) {
    constexpr std::size_t channels = 24;
    random_streams draw(4);
    std::vector<recording_channel> contacts(channels);
    for (std::size_t c = 0; c < channels; ++c) contacts[c].y_um = 20 * static_cast<double>(c);
    std::vector<bool> live(channels, true);
    live[5] = false;
    const displaced_contacts displaced(
        contacts, live,
        {.model = motion_model::rigid, .times_s = {0.5}, .depths_um = {50}, .displacement_um = {7}},
        0);
    for (const std::size_t frames : {1U, 64U, 70U}) {
        std::vector<float> traces(frames * channels);
        for (float& value : traces) value = static_cast<float>(draw.below(1000)) / 7 - 70;
        std::vector<float> expected;
        const auto sources = static_cast<std::uint32_t>(displaced.sources());
        for (std::size_t f = 0; f < frames; ++f)
            for (std::size_t c = 0; c < channels; ++c)
                expected.push_back(mixed(traces.data() + f * channels,
                                         displaced.from().data() + c * sources,
                                         displaced.weights().data() + c * sources, sources));
        displaced.apply(traces);
        ASSERT_EQ(traces, expected) << frames << " frames";
    }
}

TEST(SpikeKernels, FindAndDescribeWhatTheCpuDoes) {
    constexpr std::size_t block_frames = 700;
    const recording from = noisy_recording(5, 6, 4000, 40);
    const filtered_recording traces(from);
    const detection_options options{.features_per_channel = 6};
    const waveform_window window = window_of(options, from.rate_hz());
    const crossing_rule rule{.by_noise = {-0.05F, -0.05F, 0, -0.05F, -0.04F, -0.05F}, .above = 2};
    const auto cpu = steps_on_cpu(traces, rule, window, block_frames);
    const std::vector<std::size_t> blocks = all_blocks(from, block_frames);
    const pretended_device bare(traces, block_frames, 0, blocks);
    const pretended_device with_apron(traces, block_frames, window.apron(), blocks);

    const crossing_problem crosses{bare.traces(), rule.by_noise.data(), 6, rule.above, rule.both};
    std::vector<std::uint32_t> samples;
    for (std::uint32_t i = 0; i < 6 * from.frame_count(); ++i)
        if (crosses(i)) samples.push_back(i);
    ASSERT_GT(samples.size(), 200U);
    principal_components components(6, options.features_per_channel, window.size());
    for (std::size_t c = 0; c < 6; ++c)
        for (std::size_t i = 0; i < components.of(c).size(); ++i)
            components.of(c)[i] = static_cast<float>((i * 37 + c) % 11) - 5;
    std::vector<float> axes(6 * components.of(0).size());
    for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = components.of(i % 6)[i / 6];

    std::size_t at = 0;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        const piece_crossings found = cpu->crossings_of(b);
        std::vector<std::int64_t> frames;
        std::vector<std::uint32_t> peaks;
        std::vector<waveform_place> places;
        std::vector<spike_row> rows;
        for (std::size_t i = 0; i < found.frames.size(); ++i, ++at) {
            const std::size_t frame = b * block_frames + found.frames[i];
            const std::uint32_t channel = found.crossings[i].channel;
            ASSERT_EQ(samples.at(at), frame * 6 + channel);
            ASSERT_EQ(crosses.height(samples[at]), found.crossings[i].height);
            frames.push_back(static_cast<std::int64_t>(frame));
            peaks.push_back(channel);
            places.push_back({frames.back(), channel, static_cast<std::uint32_t>(i % 6)});
            rows.push_back({b * with_apron.trace_rows() + window.apron() + found.frames[i], channel,
                            places.back().channel});
        }
        const waveform_problem problem{with_apron.traces(),
                                       rows.data(),
                                       static_cast<std::uint32_t>(rows.size()),
                                       6,
                                       static_cast<std::uint32_t>(window.size()),
                                       window.before,
                                       options.features_per_channel,
                                       axes.data()};
        const std::vector<float> waveforms = cpu->waveforms_of(b, places);
        std::vector<float> fractions(rows.size());
        std::vector<float> features(rows.size() * 36);
        cpu->describe(b, {frames, peaks, fractions, features}, components);
        for (std::uint32_t n = 0; n < rows.size(); ++n) {
            for (std::uint32_t i = 0; i < problem.frames; ++i)
                ASSERT_EQ(waveform_at(problem, n, i), waveforms[n * problem.frames + i]);
            ASSERT_EQ(fraction_of(problem, rows[n]), fractions[n]);
            for (std::uint32_t c = 0; c < 6; ++c) {
                float own[6] = {};
                describe_channel(problem, n, c, own);
                for (std::size_t k = 0; k < 6; ++k)
                    ASSERT_EQ(own[k], features[(n * 6 + c) * 6 + k]);
            }
        }
    }
    EXPECT_EQ(at, samples.size());
}

TEST(BlocksOnADevice, AreReadOnceWhereTheyOverlap) {
    const block_grid grid{
        .total = 1000, .block_frames = 100, .apron = 5, .reach = 20, .channels = 2};
    const std::size_t numbers[] = {0, 1, 5, 9};

    const staging plan = stage(grid, numbers);

    ASSERT_EQ(plan.runs.size(), 3U);
    EXPECT_EQ(plan.runs[0].begin, 0U);
    EXPECT_EQ(plan.runs[0].end, 225U);
    EXPECT_EQ(plan.runs[1].at, 225U);
    EXPECT_EQ(plan.runs[1].begin, 475U);
    EXPECT_EQ(plan.runs[2].end, 1000U);
    EXPECT_EQ(plan.frames, 225U + 150U + 125U);
    EXPECT_EQ(plan.blocks[1].counts_at, 75U);
    EXPECT_EQ(plan.blocks[0].kept_at, 5U);
    EXPECT_EQ(plan.blocks[3].length, 150U);
    EXPECT_EQ(plan.blocks[3].present, 125U);
    EXPECT_EQ(plan.blocks[3].kept_to, 125U);
}

TEST(BlocksOnADevice, AreAsManyAsFitAndNoMoreThanThereAre) {
    const block_grid tetrode{
        .total = 1U << 30U, .block_frames = 8192, .apron = 27, .reach = 1000, .channels = 4};
    block_grid probe = tetrode;
    probe.channels = 384;
    block_grid huge = tetrode;
    huge.channels = 20000;
    block_grid short_one = tetrode;
    short_one.total = 10;
    block_grid empty = tetrode;
    empty.total = 0;
    EXPECT_EQ(blocks_together(tetrode), (1U << 23U) / (4 * tetrode.value_rows()));
    EXPECT_EQ(blocks_together(probe), 2U);
    EXPECT_EQ(blocks_together(huge), 1U);
    EXPECT_EQ(blocks_together(short_one), 1U);
    EXPECT_EQ(blocks_together(empty), 1U);
    EXPECT_EQ(short_one.value_rows(), 10U + 2 * 1027);
}

}  // namespace
}  // namespace spikeweave
