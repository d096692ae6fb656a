#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/sort.hpp"
#include "spikeweave/sort/phy.hpp"
#include "support/spike_clouds.hpp"
#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

std::map<std::string, std::string> files_of(const std::filesystem::path& folder) {
    std::map<std::string, std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        out[entry.path().filename().string()] = read_bytes(entry.path());
    return out;
}

TEST(WritePhy, GivesTheFolderOfTheResultsParts) {
    const spike_cloud cloud = make_cloud({.spikes = 200, .units = 3, .channels = 5, .seed = 8});
    sort_result result;
    result.features = cloud.features;
    result.features_per_channel = 3;
    result.sorted = {.labels = cloud.truth, .unit_count = 3, .sample_rate = 25'000};
    for (std::size_t n = 0; n < result.sorted.labels.size(); ++n)
        result.sorted.samples.push_back(static_cast<std::int64_t>(n * 7));
    result.units.resize(3);
    result.units[1].quality.l_ratio = 0.25;
    const temporary_folder folder;

    write_phy(folder.path() / "whole", result);
    const phy_content parts{
        .features = cloud.features, .sorted = result.sorted, .units = result.units};
    write_phy(folder.path() / "parts", parts);

    EXPECT_EQ(files_of(folder.path() / "whole"), files_of(folder.path() / "parts"));
    EXPECT_GT(files_of(folder.path() / "whole").size(), 5U);
}

TEST(WritePhy, NeedsTimes) {
    const temporary_folder folder;
    EXPECT_THROW(write_phy(folder.path() / "phy", sort_result{}), invalid_argument);
}

}  // namespace
}  // namespace spikeweave
