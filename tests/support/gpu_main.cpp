#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <iostream>

#include "spikeweave/core/device.hpp"
#include "support/strategy_cases.hpp"

// One device, and the same device twice, which tests the split among devices with a single one.
std::vector<strategy_case> strategy_cases() {
    std::vector<strategy_case> all;
    for (const spikeweave::episode_strategy strategy :
         spikeweave::available_episode_strategies(spikeweave::device_kind::cuda)) {
        all.push_back({strategy, {0}});
        all.push_back({strategy, {0, 0}});
    }
    return all;
}

// Without a device, exits with 77, which CTest shows as skipped, or fails if
// SPIKEWEAVE_REQUIRE_GPU is set, so that a run on a machine with a GPU cannot pass by skipping.
int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    if (::testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
    const std::vector<spikeweave::device_info> devices = spikeweave::devices();
    if (devices.empty()) {
        const char* const required = std::getenv("SPIKEWEAVE_REQUIRE_GPU");
        const bool must = required != nullptr && std::strcmp(required, "1") == 0;
        std::cerr << (must ? "FAILED" : "skipped") << ": "
                  << spikeweave::device_unavailable_reason() << "\n";
        return must ? 1 : 77;
    }
    std::cout << "on " << devices.front().name << ", driver " << devices.front().driver << "\n";
    // A launch takes longer than a tiny stream does on the CPU, so fewer cases are drawn; the CPU's
    // run of the same test draws all.
    setenv("SPIKEWEAVE_PROPERTY_SHARE", "0.03", 0);
    return RUN_ALL_TESTS();
}
