#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/report/table.hpp"

namespace spikeweave {
namespace {

std::string heading_of(const std::string& command, const std::string& file) {
    for (const table_description& table : describe_tables())
        if (table.command == command && table.file == file) {
            std::string names;
            for (const column_description& one : table.columns)
                names += (names.empty() ? "" : "\t") + one.name;
            return names;
        }
    ADD_FAILURE() << command << " has no " << file;
    return {};
}

TEST(DescribedTables, ExplainTheirColumnsAndNameThemOnce) {
    std::set<std::pair<std::string, std::string>> files;
    for (const table_description& table : describe_tables()) {
        EXPECT_TRUE(files.emplace(table.command, table.file).second) << table.file;
        ASSERT_FALSE(table.columns.empty()) << table.file;
        EXPECT_FALSE(table.columns.front().help.empty()) << table.file;
        std::set<std::string> names;
        for (const column_description& one : table.columns) {
            EXPECT_TRUE(names.insert(one.name).second) << table.file << ' ' << one.name;
            EXPECT_THAT(one.help, testing::Not(testing::EndsWith(".")));
        }
    }
    EXPECT_TRUE(files.contains({"episodes", "circuit.tsv"}));
    EXPECT_TRUE(files.contains({"compare", "differences.tsv"}));
}

TEST(DescribedTables, HaveTheColumnsThatOnlySomeOptionsAdd) {
    EXPECT_THAT(heading_of("episodes", "episodes.tsv"),
                testing::AllOf(testing::StartsWith("episode\tsize\tunits\tdelays\tcount\texpected"),
                               testing::HasSubstr("\tsurrogate_p\tsurrogate_q\t"),
                               testing::EndsWith("\tsearch_p\tsearch_q")));
}

TEST(DescribedTables, AnEstimateHasOneExplanationForItsThreeColumns) {
    std::vector<std::string> explained;
    for (const table_description& table : describe_tables())
        for (const column_description& one : table.columns)
            if (table.file == "circuit.tsv" && one.name.starts_with("gain"))
                explained.push_back(one.name + (one.help.empty() ? "" : " explained"));
    EXPECT_THAT(explained, testing::ElementsAre("gain explained", "gain_low", "gain_high"));
}

}  // namespace
}  // namespace spikeweave
