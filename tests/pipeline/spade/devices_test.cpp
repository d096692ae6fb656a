#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "pipeline/spade/search_and_test.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"
#include "support/threads_as_ranks.hpp"

namespace spikeweave {
namespace {

// Beyond any machine's, so that the tests are the same where there is a GPU.
constexpr int no_device = 1'000'000;

spade_options spade_on(std::vector<int> devices, std::uint32_t surrogates) {
    spade_options options;
    options.run.devices = std::move(devices);
    options.surrogates.surrogates = surrogates;
    return options;
}

void on_two_ranks(const std::function<void(const execution&)>& work) {
    threads_as_ranks::run(2, [&](int, std::shared_ptr<communicator> ranks) {
        work({.threads = 1, .ranks = std::move(ranks)});
    });
}

TEST(SpadeDevices, SearchTheDataOnTheFirst) {
    const spade_options options = spade_on({3, 5}, 0);
    const execution run{.threads = 2};

    const execution how = pipeline::searching_data(options, run, {3, 5});

    EXPECT_EQ(how.devices, std::vector<int>{3});
    EXPECT_EQ(how.threads, 2);
    EXPECT_TRUE(pipeline::searching_data(options, run, {}).devices.empty());
}

TEST(SpadeDevices, AreNotForTheSearchThatRanksShare) {
    on_two_ranks([](const execution& run) {
        EXPECT_TRUE(pipeline::searching_data(spade_on({3}, 100), run, {3}).devices.empty());
    });
}

TEST(SpadeDevices, AreNotForFpGrowth) {
    spade_options options = spade_on({3}, 100);
    options.strategy = spade_strategy::fp_growth;
    EXPECT_TRUE(pipeline::searching_data(options, {}, {3}).devices.empty());
}

TEST(SpadeDevices, AreNoneIfTheCpuIsChosen) {
    EXPECT_TRUE(pipeline::devices_of(spade_on({}, 0), {}).empty());
    EXPECT_TRUE(pipeline::devices_of(spade_on({}, 1000), {}).empty());
}

TEST(SpadeDevices, AreRefusedBeforeTheSearchIfTheyDoNotExist) {
    for (const std::uint32_t surrogates : {0U, 100U})
        EXPECT_THROW(pipeline::devices_of(spade_on({no_device}, surrogates), {}), device_error);
}

TEST(SpadeDevices, AreRefusedOnRanksWithoutSurrogates) {
    on_two_ranks([](const execution& run) {
        EXPECT_THROW(pipeline::devices_of(spade_on({no_device}, 0), run), invalid_argument);
        EXPECT_TRUE(pipeline::devices_of(spade_on({}, 0), run).empty());
    });
}

}  // namespace
}  // namespace spikeweave
