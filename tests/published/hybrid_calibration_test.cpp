#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "mine/episodes/devices/plan.hpp"
#include "published/hybrid/calibration_file.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/version.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/published/hybrid.hpp"
#include "support/temporary_folder.hpp"

// Tests how hybrid chooses, how its calibration is stored, and what the published strategies plan
// on the host.
namespace spikeweave {
namespace {

hybrid_calibration some_table() {
    return {"NVIDIA X/1 (rev. 2)", "580.95", std::string(version()), {{2, 100}, {3, 50}, {4, 0}}};
}

device_info some_device() {
    device_info one;
    one.name = some_table().device_name;
    one.driver = some_table().driver;
    return one;
}

TEST(HybridChoice, GivesAThreadToEachFromTheCrossoverOn) {
    const hybrid_calibration by = some_table();
    EXPECT_FALSE(prefers_thread_per_episode(by, 2, 99));
    EXPECT_TRUE(prefers_thread_per_episode(by, 2, 100));
    EXPECT_FALSE(prefers_thread_per_episode(by, 3, 49));
    EXPECT_TRUE(prefers_thread_per_episode(by, 3, 50));
    EXPECT_TRUE(prefers_thread_per_episode(by, 4, 0));
}

TEST(HybridChoice, JudgesLargerEpisodesLikeTheLargestMeasured) {
    hybrid_calibration by = some_table();
    by.crossovers.pop_back();
    EXPECT_FALSE(prefers_thread_per_episode(by, 9, 49));
    EXPECT_TRUE(prefers_thread_per_episode(by, 9, 50));
}

TEST(HybridChoice, NeedsATable) {
    EXPECT_THROW(prefers_thread_per_episode({}, 2, 1), invalid_argument);
}

TEST(HybridChoice, HasATableForDevicesThatWereNotMeasured) {
    const hybrid_calibration& by = episodes::built_in_calibration();
    for (std::size_t size = 2; size <= 8; ++size) {
        EXPECT_FALSE(prefers_thread_per_episode(by, size, 1)) << size;
        EXPECT_TRUE(prefers_thread_per_episode(by, size, 10'000'000)) << size;
    }
}

TEST(CalibrationFile, IsReadAsItWasWritten) {
    const std::string text = episodes::calibration_text(some_table());
    EXPECT_EQ(episodes::calibration_from(text, "f"), some_table());
}

TEST(CalibrationFile, NamesTheLineThatCannotBe) {
    const std::string good = episodes::calibration_text(some_table());
    const auto message_of = [](const std::string& text) -> std::string {
        try {
            episodes::calibration_from(text, "f.tsv");
        } catch (const io_error& error) {
            return error.what();
        }
        return "read";
    };
    EXPECT_NE(message_of("").find("line 1"), std::string::npos);
    for (const auto& [from, to, line] :
         {std::array{"# spikeweave", "# other", "line 1"},
          std::array{"# driver", "# drover", "line 3"}, std::array{"size\t", "seize\t", "line 5"},
          std::array{"3\t50", "3\tfifty", "line 7"}, std::array{"3\t50", "3\t-1", "line 7"},
          std::array{"3\t50", "5\t50", "line 7"}, std::array{"3\t50\n", "3\n", "line 7"}}) {
        std::string bad = good;
        bad.replace(bad.find(from), std::string(from).size(), to);
        EXPECT_NE(message_of(bad).find(line), std::string::npos) << to << ": " << message_of(bad);
        EXPECT_NE(message_of(bad).find("f.tsv"), std::string::npos);
    }
    // Every truncation is detected except one after a whole line of the table.
    for (std::size_t size = 0; size < good.size(); ++size) {
        const std::string cut = good.substr(0, size);
        const bool whole = size >= good.find("2\t100\n") + 6 && cut.back() == '\n';
        EXPECT_EQ(message_of(cut) == "read", whole) << cut;
    }
}

class KeptCalibration : public ::testing::Test {
protected:
    void SetUp() override { setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1); }
    void TearDown() override { unsetenv("XDG_CACHE_HOME"); }
    void keep(const std::string& text) {
        const auto path = hybrid_calibration_file(some_device());
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << text;
    }
    temporary_folder folder_;
};

TEST_F(KeptCalibration, IsBelowTheCacheFolderUnderAPlainName) {
    const auto path = hybrid_calibration_file(some_device());
    EXPECT_EQ(path.parent_path(), folder_.path() / "spikeweave");
    EXPECT_TRUE(path.filename().string().starts_with("hybrid_NVIDIA-X-1--rev.-2-_580.95_"));
}

TEST_F(KeptCalibration, IsThereOnceItWasKept) {
    EXPECT_EQ(load_hybrid_calibration(some_device()), std::nullopt);
    keep(episodes::calibration_text(some_table()));
    EXPECT_EQ(load_hybrid_calibration(some_device()), some_table());
}

TEST_F(KeptCalibration, OfAnotherDeviceOrDriverOrVersionIsNone) {
    for (int changed = 0; changed < 3; ++changed) {
        hybrid_calibration other = some_table();
        (changed == 0 ? other.device_name : changed == 1 ? other.driver : other.version) += "a";
        keep(episodes::calibration_text(other));
        EXPECT_EQ(load_hybrid_calibration(some_device()), std::nullopt) << changed;
    }
}

TEST_F(KeptCalibration, IsNoneWithoutACacheFolder) {
    const char* const home = std::getenv("HOME");
    const std::string before = home == nullptr ? "" : home;
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    EXPECT_EQ(load_hybrid_calibration(some_device()), std::nullopt);
    EXPECT_THROW(hybrid_calibration_file(some_device()), io_error);
    if (home != nullptr) setenv("HOME", before.c_str(), 1);
}

TEST_F(KeptCalibration, ThatIsBrokenIsAnError) {
    keep("nonsense\n");
    EXPECT_THROW(load_hybrid_calibration(some_device()), io_error);
}

TEST(Compaction, HasNames) {
    for (const compaction_method how :
         {compaction_method::automatic, compaction_method::atomic, compaction_method::select,
          compaction_method::count_scan_write})
        EXPECT_EQ(value_named<compaction_method>(to_string(how)), how);
    EXPECT_THROW(value_named<compaction_method>("cudpp"), invalid_argument);
}

TEST(Compaction, IsRefusedWhereNothingIsCompacted) {
    const spike_sequence spikes({1, 2}, {unit_id{0}, unit_id{1}}, {"a", "b"},
                                {duration{0}, duration{9}});
    const std::vector<episode> what{{{unit_id{0}, unit_id{1}}, {{duration{0}, duration{5}}}}};
    for (const episode_strategy strategy :
         {episode_strategy::automatic, episode_strategy::occurrences}) {
        EXPECT_THROW(
            count_episodes(spikes, what,
                           {.strategy = strategy, .compaction = compaction_method::select}),
            invalid_argument);
        EXPECT_THROW(mine_episodes(spikes, {.delays = {{duration{0}, duration{5}}},
                                            .strategy = strategy,
                                            .compaction = compaction_method::select}),
                     invalid_argument);
    }
}

device::device_limits some_limits() {
    device::device_limits limits;
    limits.multiprocessors = 132;
    limits.threads_per_multiprocessor = 2048;
    limits.free_bytes = std::uint64_t{1} << 37;
    return limits;
}

TEST(PlanSegments, FillsTheDeviceWithWholeWarpsForEachEpisode) {
    EXPECT_EQ(episodes::segments_for(1, some_limits()), 132U * 1024U);
    EXPECT_EQ(episodes::segments_for(132, some_limits()), 1024U);
    EXPECT_EQ(episodes::segments_for(1000, some_limits()), 160U);
    EXPECT_EQ(episodes::segments_for(1'000'000, some_limits()), 32U);
}

TEST(PlanOccurrences, LeavesRoomForAtLeastOneAndIndicesOf32Bits) {
    device::device_limits limits = some_limits();
    EXPECT_LE(episodes::occurrence_capacity_of(limits).most_occurrences, std::uint64_t{1} << 30);
    limits.free_bytes = 3 * 64 * 1000;
    EXPECT_EQ(episodes::occurrence_capacity_of(limits).most_occurrences, 1000U);
    limits.free_bytes = 0;
    EXPECT_EQ(episodes::occurrence_capacity_of(limits).most_occurrences, 1U);
}

}  // namespace
}  // namespace spikeweave
