#include "spikeweave/core/memory.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "support/error_text.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

bool is_asked_within(const std::stop_token& stop, std::chrono::milliseconds most) {
    const auto until = std::chrono::steady_clock::now() + most;
    while (!stop.stop_requested() && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(1ms);
    return stop.stop_requested();
}

TEST(Memory, OfThisProcessGrowsWithWhatItTakes) {
    constexpr std::size_t bytes = 100'000'000;
    const std::uint64_t before = resident_memory_bytes();
    EXPECT_GT(before, 1'000'000U);
    const std::vector<char> taken(bytes, 'x');
    EXPECT_GT(resident_memory_bytes(), before + bytes * 9 / 10);
    EXPECT_GT(available_memory_bytes(), bytes);
    EXPECT_EQ(format_memory(taken.size()), "100.0 MB");
}

TEST(MemoryGuard, AsksToStopWhenTheBoundIsPassed) {
    const memory_guard memory(resident_memory_bytes() + 60'000'000, {},
                              {.bound = "--most", .advice = "take less"});
    EXPECT_FALSE(is_asked_within(memory.stop(), 50ms));
    EXPECT_NO_THROW(memory.check());
    EXPECT_NO_THROW(memory.expect(1'000'000));
    EXPECT_NE(text_of([&] { memory.expect(90'000'000); }).find("are needed, more than --most"),
              std::string::npos);
    {
        const std::vector<char> taken(90'000'000, 'x');
        EXPECT_TRUE(is_asked_within(memory.stop(), 10s));
    }
    // The excess is remembered after the memory was freed.
    const std::string text = text_of([&] { memory.check(); });
    EXPECT_NE(text.find("are in use, more than --most"), std::string::npos) << text;
    EXPECT_NE(text.find("(take less)"), std::string::npos) << text;
}

TEST(MemoryGuard, LeavesAPartOfWhatIsFreeWhereNobodyChose) {
    const memory_guard memory;
    EXPECT_GT(memory.most(), resident_memory_bytes());
    EXPECT_LT(memory.most(), resident_memory_bytes() + available_memory_bytes());
    EXPECT_NE(memory.too_much().find("four fifths of the memory that was free"), std::string::npos);
    EXPECT_FALSE(memory.stop().stop_requested());
}

TEST(MemoryGuard, AsksToStopWhenItIsAsked) {
    std::stop_source source;
    const memory_guard memory(0, source.get_token());
    source.request_stop();
    EXPECT_TRUE(memory.stop().stop_requested());
    EXPECT_NO_THROW(memory.check());
}

}  // namespace
}  // namespace spikeweave
