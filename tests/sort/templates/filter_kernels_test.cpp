#include "sort/templates/filter_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "sort/templates/filter_bank.hpp"
#include "sort/templates/low_rank.hpp"

namespace spikeweave::templates {
namespace {

std::vector<std::int16_t> numbers(std::mt19937_64& random, std::size_t count, int largest) {
    std::vector<std::int16_t> out(count);
    for (std::int16_t& each : out)
        each = static_cast<std::int16_t>(
            static_cast<int>(random() % static_cast<unsigned>(2 * largest + 1)) - largest);
    return out;
}

TEST(FilterKernels, ProjectAsTheDefinition) {
    std::mt19937_64 random(5);
    for (const filter_kernels& kernels : runnable_filter_kernels())
        for (const std::size_t frames : {1, 15, 16, 17, 30, 64, 101})
            for (std::size_t channels = 1; channels <= 5; ++channels)
                for (std::size_t ranks = 1; ranks <= most_ranks; ++ranks) {
                    const auto values = numbers(random, channels * frames, largest_step);
                    const auto weights = numbers(random, ranks * channels, 1 << filter_bits);
                    std::vector<const std::int16_t*> traces;
                    for (std::size_t c = 0; c < channels; ++c)
                        traces.push_back(values.data() + c * frames);
                    std::vector<std::int16_t> out(ranks * frames);
                    std::vector<std::int16_t*> by_rank;
                    for (std::size_t r = 0; r < ranks; ++r)
                        by_rank.push_back(out.data() + r * frames);
                    kernels.project(traces, weights, frames, by_rank);
                    for (std::size_t r = 0; r < ranks; ++r)
                        for (std::size_t f = 0; f < frames; ++f) {
                            std::int64_t sum = 1 << (filter_bits - 1);
                            for (std::size_t c = 0; c < channels; ++c)
                                sum += std::int64_t{weights[r * channels + c]} * traces[c][f];
                            const std::int64_t expected = std::clamp<std::int64_t>(
                                sum >> filter_bits, -largest_projection, largest_projection);
                            ASSERT_EQ(by_rank[r][f], expected)
                                << kernels.name << ", frame " << f << " of " << frames << ", rank "
                                << r << " of " << ranks << ", " << channels << " channels";
                        }
                }
}

TEST(FilterKernels, CorrelateAsTheDefinition) {
    std::mt19937_64 random(6);
    for (const filter_kernels& kernels : runnable_filter_kernels())
        for (const std::size_t taps : {1, 2, 3, 30, 91})
            for (const std::size_t count : {1, 31, 32, 33, 100}) {
                const auto values = numbers(random, count + taps - 1, largest_projection);
                const auto weights = numbers(random, taps, 300);
                std::vector<std::int32_t> sums(count, 7);
                kernels.correlate(values, weights, sums);
                for (std::size_t f = 0; f < count; ++f) {
                    std::int64_t expected = 7;
                    for (std::size_t k = 0; k < taps; ++k)
                        expected += std::int64_t{weights[k]} * values[f + k];
                    ASSERT_EQ(sums[f], expected) << kernels.name << ", frame " << f << " of "
                                                 << count << ", " << taps << " weights";
                }
            }
}

TEST(ScoreStream, HasTheScoresOfAWholeBlockInPieces) {
    constexpr std::size_t channels = 6;
    constexpr std::size_t length = 61;
    constexpr std::size_t frames = 700;
    std::mt19937_64 random(7);
    std::vector<matched_filter> filters;
    for (std::size_t ranks = 0; ranks <= most_ranks; ++ranks) {
        matched_filter filter{.channels = {1, 3, 4}, .ranks = ranks, .frames = length};
        filter.spatial = numbers(random, ranks * 3, 1 << filter_bits);
        filter.temporal = numbers(random, ranks * length, 300);
        filters.push_back(std::move(filter));
    }
    const integer_block whole{.channels = channels,
                              .frames = frames,
                              .values = numbers(random, channels * frames, largest_step)};
    const score_table expected = filter_bank_of(filters, 0, {})->scores_of(whole);
    const auto stream = score_stream_of(filters, length, {});
    for (std::size_t at = 0; at < frames;) {
        integer_block piece{.channels = channels,
                            .frames = std::min<std::size_t>(frames - at, 1 + random() % 90)};
        for (std::size_t c = 0; c < channels; ++c)
            for (std::size_t f = 0; f < piece.frames; ++f)
                piece.values.push_back(whole.on(c)[at + f]);
        const score_table found = stream->next(piece, {.threads = 2});
        ASSERT_EQ(found.frames, piece.frames);
        for (std::size_t u = 0; u < filters.size(); ++u)
            for (std::size_t f = 0; f < piece.frames; ++f)
                if (at + f + 1 >= length) {
                    ASSERT_EQ(found.of(u)[f], expected.of(u)[at + f + 1 - length])
                        << "filter " << u << ", frame " << at + f;
                }
        at += piece.frames;
    }
}

}  // namespace
}  // namespace spikeweave::templates
