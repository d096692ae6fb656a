#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "device/cuda.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::device {
namespace {

std::string message_of(const std::function<void()>& failing) {
    try {
        failing();
    } catch (const device_error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST(DeviceBuffer, GivesBackWhatWasPutIn) {
    const scoped_device scope(0);
    const stream on;
    for (const std::size_t size : {0U, 1U, 1'000'003U}) {
        std::vector<std::uint32_t> values(size);
        std::iota(values.begin(), values.end(), 7U);
        EXPECT_EQ(buffer<std::uint32_t>(values, on).downloaded(), values);
    }
    buffer<std::uint32_t> filled(10, on);
    filled.fill(0xFF);
    EXPECT_EQ(filled.downloaded(), std::vector<std::uint32_t>(10, UINT32_MAX));
}

TEST(DeviceBuffer, SaysHowMuchMemoryWasNeededAndHowMuchThereIs) {
    const scoped_device scope(0);
    const stream on;
    constexpr std::size_t much = std::size_t{1} << 45;

    const std::string text = message_of([&] { buffer<unsigned char>(much, on); });

    EXPECT_NE(text.find(std::to_string(much) + " bytes more were needed"), std::string::npos)
        << text;
    EXPECT_NE(text.find("are free"), std::string::npos) << text;
    // The device works again afterwards.
    EXPECT_EQ(buffer<int>(std::vector{1, 2, 3}, on).downloaded(), (std::vector{1, 2, 3}));
}

TEST(ScopedDevice, NamesADeviceThatIsNotThere) {
    EXPECT_NE(message_of([] { const scoped_device scope(1'000); }).find("no GPU 1000"),
              std::string::npos);
    EXPECT_NE(message_of([] { const scoped_device scope(-1); }).find("no GPU -1"),
              std::string::npos);
}

TEST(Check, NamesCudasErrorAndTheCallSite) {
    const std::string text = message_of([] { check(cudaErrorInvalidValue); });

    EXPECT_NE(text.find("cudaErrorInvalidValue"), std::string::npos) << text;
    EXPECT_NE(text.find("device_gpu_test.cpp"), std::string::npos) << text;
}

TEST(Limits, AreThoseOfTheDevice) {
    const device_limits limits = limits_of(0);
    const device_info info = devices().front();

    EXPECT_EQ(limits.compute_major, info.compute_major);
    EXPECT_EQ(limits.multiprocessors, info.multiprocessors);
    EXPECT_EQ(limits.warp_size, 32);
    EXPECT_EQ(limits.total_bytes, info.total_bytes);
    EXPECT_LE(limits.free_bytes, limits.total_bytes);
    EXPECT_GT(limits.free_bytes, 0U);
    EXPECT_GE(limits.shared_bytes_per_block_at_most, limits.shared_bytes_per_block);
}

TEST(StopFlag, PassesARequestOn) {
    const scoped_device scope(0);
    const stream on;
    stop_flag quiet;
    quiet.wait(on, {});
    EXPECT_EQ(*quiet.flag(), 0);

    std::stop_source source;
    source.request_stop();
    stop_flag asked;
    EXPECT_THROW(asked.wait(on, source.get_token()), cancelled);
}

}  // namespace
}  // namespace spikeweave::device
