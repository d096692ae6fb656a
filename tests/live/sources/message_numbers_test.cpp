#include "live/sources/message_numbers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "support/run_length.hpp"

namespace spikeweave::live {
namespace {

std::vector<message_place> places(message_numbers& numbers,
                                  const std::vector<std::uint64_t>& received) {
    std::vector<message_place> all;
    for (const std::uint64_t number : received) all.push_back(numbers.observe(number));
    return all;
}

constexpr auto next = message_place::next;
constexpr auto after_gap = message_place::after_gap;
constexpr auto belated = message_place::belated;
constexpr auto repeated = message_place::repeated;
constexpr auto restarted = message_place::restarted;
constexpr auto impossible = message_place::impossible;

TEST(MessageNumbers, MayBeginAnywhere) {
    message_numbers numbers;

    EXPECT_EQ(places(numbers, {17, 18, 19}), (std::vector{next, next, next}));
    EXPECT_EQ(numbers.counts(), (message_counts{.received = 3}));
}

TEST(MessageNumbers, TellOfLosses) {
    message_numbers numbers;

    EXPECT_EQ(places(numbers, {0, 3, 4, 14}), (std::vector{next, after_gap, next, after_gap}));
    EXPECT_EQ(numbers.counts(), (message_counts{.received = 4, .missing = 11}));
}

TEST(MessageNumbers, TellOfMessagesOutOfOrderAndTwice) {
    message_numbers numbers;

    EXPECT_EQ(places(numbers, {0, 2, 1, 1, 2, 3}),
              (std::vector{next, after_gap, belated, repeated, repeated, next}));
    EXPECT_EQ(numbers.counts(),
              (message_counts{.received = 4, .missing = 0, .belated = 1, .repeated = 2}));
}

TEST(MessageNumbers, TakeMessagesThatWereSentBeforeTheFirst) {
    message_numbers numbers;

    EXPECT_EQ(places(numbers, {4, 2, 2, 3, 5}),
              (std::vector{next, belated, repeated, belated, next}));
    EXPECT_EQ(numbers.counts(), (message_counts{.received = 4, .belated = 2, .repeated = 1}));
}

TEST(MessageNumbers, DoNotBelieveALeapOfOneMessage) {
    for (const std::uint64_t number :
         {UINT64_MAX, std::uint64_t{1} << 63, std::uint64_t{1} << 40}) {
        message_numbers numbers;
        EXPECT_EQ(places(numbers, {0, 1, number, 2, 4}),
                  (std::vector{next, next, impossible, next, after_gap}));
        EXPECT_EQ(numbers.counts(), (message_counts{.received = 4, .missing = 1}));
    }
}

TEST(MessageNumbers, BelieveALeapThatTheNextMessageConfirms) {
    constexpr std::uint64_t far = std::uint64_t{1} << 40;
    message_numbers numbers;
    EXPECT_EQ(places(numbers, {0, far, far + 1, far + 2}),
              (std::vector{next, impossible, restarted, next}));
    EXPECT_EQ(numbers.counts(), (message_counts{.received = 3, .restarts = 1}));
}

TEST(MessageNumbers, TellOfRestarts) {
    message_numbers numbers;

    EXPECT_EQ(places(numbers, {100, 101, 0, 1, 3}),
              (std::vector{next, next, restarted, next, after_gap}));
    EXPECT_EQ(numbers.counts(), (message_counts{.received = 5, .missing = 1, .restarts = 1}));
}

// Messages are lost, doubled and exchanged with the next one at random: the counts are those of
// what was done.
TEST(MessageNumbersProperty, CountWhatWasDoneToTheMessages) {
    std::mt19937_64 random(3);
    for (std::size_t i = 0; i < property_cases(2'000); ++i) {
        std::vector<std::uint64_t> received;
        message_counts done;
        constexpr std::uint64_t sent = 100;
        for (std::uint64_t number = 0; number < sent; ++number) {
            const bool may_be_lost = number > 0 && number + 1 < sent;
            switch (random() % 6) {
                case 0:
                    if (may_be_lost) {
                        ++done.missing;
                        continue;
                    }
                    break;
                case 1:
                    received.push_back(number);
                    ++done.repeated;
                    break;
                case 2:
                    if (number + 1 < sent) {
                        received.push_back(number + 1);
                        received.push_back(number);
                        ++number;
                        ++done.belated;
                        continue;
                    }
                    break;
                default:
                    break;
            }
            received.push_back(number);
        }
        done.received = sent - done.missing;
        message_numbers numbers;

        places(numbers, received);

        ASSERT_EQ(numbers.counts(), done) << "case " << i;
    }
}

}  // namespace
}  // namespace spikeweave::live
