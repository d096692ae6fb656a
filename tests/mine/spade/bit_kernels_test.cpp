#include "mine/spade/first_bin/bit_kernels.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <vector>

namespace spikeweave::spade {
namespace {

// Makes windows by item, dense enough for full items and sparse enough for empty ones.
std::vector<std::vector<bool>> random_items(std::mt19937_64& random, std::size_t items,
                                            std::size_t windows) {
    std::vector<std::vector<bool>> all(items, std::vector<bool>(windows));
    for (auto& item : all) {
        const std::uint64_t share = random() % 11;
        for (std::size_t w = 0; w < windows; ++w) item[w] = random() % 10 < share;
    }
    return all;
}

class SpadeKernels : public ::testing::TestWithParam<bit_kernels> {};

TEST_P(SpadeKernels, FindCountsTheWindowsOfEachItem) {
    std::mt19937_64 random(1);
    for (int repeat = 0; repeat < 300; ++repeat) {
        const std::size_t items = 1 + random() % 40;
        const std::size_t windows = 1 + random() % 300;
        const std::size_t planes = (windows + 63) / 64;
        const auto held = random_items(random, items, windows);
        const auto selected = random_items(random, 1, windows).front();
        std::vector<std::uint64_t> words((items + 7) / 8 * 8 * planes, 0);
        std::vector<std::uint64_t> mask(planes, 0);
        for (std::size_t w = 0; w < windows; ++w) {
            const std::uint64_t bit = std::uint64_t{1} << (w % 64);
            if (selected[w]) mask[w / 64] |= bit;
            for (std::size_t i = 0; i < items; ++i)
                if (held[i][w]) words[word_place(i, w / 64, planes)] |= bit;
        }
        const std::size_t first = random() % (items + 1);
        const std::size_t last = first + random() % (items - first + 1);
        const auto least = static_cast<std::uint32_t>(random() % 60);

        std::vector<std::uint32_t> expected_numbers;
        std::vector<std::uint32_t> expected_counts;
        for (std::size_t i = first; i < last; ++i) {
            std::uint32_t count = 0;
            for (std::size_t w = 0; w < windows; ++w) count += held[i][w] && selected[w] ? 1 : 0;
            if (count < least) continue;
            expected_numbers.push_back(static_cast<std::uint32_t>(i));
            expected_counts.push_back(count);
        }
        std::vector<std::uint32_t> numbers(items + 8);
        std::vector<std::uint32_t> counts(items + 8);
        const std::size_t found = GetParam().find(words.data(), planes, mask.data(), first, last,
                                                  least, numbers.data(), counts.data());
        numbers.resize(found);
        counts.resize(found);
        ASSERT_EQ(numbers, expected_numbers);
        ASSERT_EQ(counts, expected_counts);
    }
}

TEST_P(SpadeKernels, NarrowKeepsWhatIsFrequentAndNamesWhatIsEverywhere) {
    std::mt19937_64 random(2);
    for (int repeat = 0; repeat < 2000; ++repeat) {
        const std::size_t n = random() % 30;
        const std::uint64_t mask = random() & random();
        const auto windows = static_cast<std::uint32_t>(std::popcount(mask));
        const auto least = static_cast<std::uint32_t>(random() % (windows + 2));
        std::vector<std::uint64_t> words(n);
        std::vector<std::uint32_t> ids(n);
        for (std::size_t i = 0; i < n; ++i) {
            words[i] = random() % 4 == 0 ? ~random() | mask : random();
            ids[i] = static_cast<std::uint32_t>(random());
        }
        std::vector<std::uint64_t> expected_words;
        std::vector<std::uint32_t> expected_ids;
        std::vector<std::uint32_t> expected_full;
        bool covered = false;
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint64_t held = words[i] & mask;
            covered = covered || held == mask;
            if (held == mask) {
                expected_full.push_back(ids[i]);
            } else if (static_cast<std::uint32_t>(std::popcount(held)) >= least) {
                expected_words.push_back(held);
                expected_ids.push_back(ids[i]);
            }
        }
        std::vector<std::uint64_t> kept_words(n + 8);
        std::vector<std::uint32_t> kept_ids(n + 8);
        std::vector<std::uint32_t> full_ids(n + 8);
        const narrowed less =
            GetParam().narrow(words.data(), ids.data(), n, mask, windows, least, kept_words.data(),
                              kept_ids.data(), full_ids.data());
        kept_words.resize(less.kept);
        kept_ids.resize(less.kept);
        full_ids.resize(less.full);
        ASSERT_EQ(kept_words, expected_words);
        ASSERT_EQ(kept_ids, expected_ids);
        ASSERT_EQ(full_ids, expected_full);
        ASSERT_EQ(GetParam().any_covers(words.data(), n, mask), covered);
    }
}

TEST_P(SpadeKernels, GatheredBitsKeepTheirOrder) {
    std::mt19937_64 random(3);
    for (int repeat = 0; repeat < 2000; ++repeat) {
        const std::uint64_t word = random();
        const std::uint64_t mask = repeat == 0 ? 0 : repeat == 1 ? ~std::uint64_t{0} : random();
        std::uint64_t expected = 0;
        unsigned place = 0;
        for (unsigned bit = 0; bit < 64; ++bit)
            if ((mask >> bit & 1U) != 0) expected |= (word >> bit & 1U) << place++;
        ASSERT_EQ(GetParam().gather_bits(word, mask), expected);
        ASSERT_EQ(bit_count(word), std::popcount(word));
    }
}

INSTANTIATE_TEST_SUITE_P(AllThatRunHere, SpadeKernels,
                         ::testing::ValuesIn(runnable_bit_kernels().begin(),
                                             runnable_bit_kernels().end()),
                         [](const auto& kernels) { return std::string(kernels.param.name); });

}  // namespace
}  // namespace spikeweave::spade
