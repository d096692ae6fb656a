#include "report/result_files.hpp"

#include <gtest/gtest.h>

#include "io/result_folder.hpp"
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

}  // namespace
}  // namespace spikeweave
