#include "report/result_files.hpp"

#include <gtest/gtest.h>

#include "io/result_folder.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/report/run_record.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

// With `--overwrite`, results that were written when these pictures were part of them are replaced.
TEST(ResultFiles, IncludeThePicturesOfOlderResults) {
    const temporary_folder place;
    const auto holds = [&](const std::string& folder, std::initializer_list<const char*> names) {
        for (const char* name : names) place.file(folder + "/" + name, "old");
        return place.path() / folder;
    };

    EXPECT_NO_THROW(
        io::check_replaceable(holds("spade", {"run.json", "patterns.svg", "spectrum.svg"}),
                              report::files_of(result_kind::spade)));
    EXPECT_NO_THROW(io::check_replaceable(holds("sort", {"run.json", "motion.svg"}),
                                          report::files_of(result_kind::sort)));
    EXPECT_NO_THROW(io::check_replaceable(holds("compare", {"run.json", "differences.svg"}),
                                          report::files_of(result_kind::episode_differences)));
}

TEST(DescribeInput, GivesThePublishedDigests) {
    const temporary_folder place;

    const input_record empty = describe_input(place.file("empty", ""));
    const input_record some = describe_input(place.file("some", "abc"));

    EXPECT_EQ(empty.digest_algorithm, "xxh3-128");
    EXPECT_EQ(empty.digest, "99aa06d3014798d86001c324468d497f");
    EXPECT_EQ(empty.bytes, 0U);
    EXPECT_EQ(some.digest, "06b05ab6733a618578af5f94892f3950");
    EXPECT_EQ(some.bytes, 3U);
    EXPECT_THROW(describe_input(place.path() / "none"), io_error);
}

TEST(DescribeInput, TakesTheFilesOfAFolderThatHoldSpikes) {
    const temporary_folder place;
    place.file("phy/a.npy", "1");
    place.file("phy/b.npy", "2");
    const input_record before = describe_input(place.path() / "phy");
    place.file("phy/recording.dat", "raw");

    EXPECT_EQ(describe_input(place.path() / "phy").digest, before.digest);
    EXPECT_EQ(before.bytes, 2U);
    place.file("phy/a.npy", "2");
    place.file("phy/b.npy", "1");
    EXPECT_NE(describe_input(place.path() / "phy").digest, before.digest);
}

}  // namespace
}  // namespace spikeweave
