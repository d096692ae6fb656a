#include "spikeweave/report/page.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "report/page_spikes.hpp"
#include "report/page_tables.hpp"
#include "spikeweave/core/error.hpp"
#include "support/count_of.hpp"

namespace spikeweave {
namespace {

std::vector<std::uint8_t> page_bytes(std::string_view text) {
    return {text.begin(), text.end()};
}

TEST(Page, HasDataThatEndNoScript) {
    const std::string page = page_of(
        "{\"name\": \"</script>&\xE2\x80\xA8\xE2\x80\xA9\xEF\xBF\xBE\xEF\xBF\xBF "
        "é→\xEF\xBF\xBD\"}");

    EXPECT_NE(page.find("{\"name\": \"\\u003c/script\\u003e\\u0026\\u2028\\u2029\\ufffe\\uffff "
                        "é→\xEF\xBF\xBD\"}</script>"),
              std::string::npos);
    EXPECT_EQ(count_of("</script>", page), 2U);
}

TEST(Page, IsOneFileWithoutOthers) {
    const std::string page = page_of("{}");

    EXPECT_EQ(page.substr(0, 15), "<!doctype html>");
    EXPECT_EQ(page.substr(page.size() - 8), "</html>\n");
    EXPECT_EQ(count_of("default-src 'none'; script-src 'sha256-", page), 1U);
    for (const char* const outside : {"src=", "@import", "import {", "{{", "https:"})
        EXPECT_EQ(count_of(outside, page), 0U) << outside;
}

TEST(PageSpikes, AreInBase64) {
    for (const auto& [text, coded] : std::vector<std::pair<std::string, std::string>>{
             {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"\xFF\xFE\xFD", "//79"}})
        EXPECT_EQ(report::base64(page_bytes(text)), coded);
}

TEST(PageSpikes, AreStepsFromTheBeginOfTheRecording) {
    const auto at = [](std::int64_t us) { return duration{us}; };
    const spike_sequence spikes({-5, -5, 295, 20'295},
                                {unit_id{1}, unit_id{0}, unit_id{1}, unit_id{0}}, {"a", "b"},
                                {at(-10), at(30'000)});

    const report::json coded = report::page_spikes(spikes);

    EXPECT_EQ(coded.at("number"), 4);
    EXPECT_EQ(coded.at("begin_us"), -10);
    EXPECT_EQ(coded.at("end_us"), 30'000);
    // 5, 0, 300 = 2 * 128 + 44, 20,000 = 1 * 128 * 128 + 28 * 128 + 32
    EXPECT_EQ(coded.at("steps_us"),
              report::base64(std::vector<std::uint8_t>{5, 0, 172, 2, 160, 156, 1}));
    EXPECT_EQ(coded.at("units"), report::base64(std::vector<std::uint8_t>{1, 0, 1, 0}));
}

report::page_table table_of_text(const std::string& text) {
    return report::page_table("some.tsv", std::make_unique<std::istringstream>(text));
}

TEST(PageTables, HaveColumnsOfWhatTheirCellsAre) {
    auto rows = table_of_text("n\tx\tflag\tword\n1\t0.5\tyes\tso\n-\t1e-300\tno\t\n");

    const report::json columns = report::table_columns(rows);

    EXPECT_EQ(columns.dump(),
              R"({"n":[1,null],"x":[0.5,1e-300],"flag":[true,false],"word":["so",null]})");
}

TEST(PageTables, HaveTheirFirstRowsAndTheNumberOfAll) {
    std::string text = "n\tunits\tword\n";
    for (std::size_t i = 0; i < report::most_rows_of_a_page + 3; ++i)
        text += std::to_string(i) + "\ta b\t-\n";
    auto rows = table_of_text(text);

    const std::vector<std::string_view> plain{"n", "word"};
    const report::json columns = report::first_rows(
        rows, plain, {"sizes"},
        [&](report::json& all) { all["sizes"].push_back(rows["units"].size()); }, {});

    EXPECT_EQ(columns.size(), 4U);
    EXPECT_EQ(columns.at("total"), report::most_rows_of_a_page + 3);
    for (const char* const name : {"n", "word", "sizes"})
        EXPECT_EQ(columns.at(name).size(), report::most_rows_of_a_page);
    EXPECT_EQ(columns.at("n").back(), report::most_rows_of_a_page - 1);
    EXPECT_EQ(columns.at("word").front(), nullptr);
    EXPECT_EQ(columns.at("sizes").front(), 3);

    auto none = table_of_text("n\tx\n");
    EXPECT_EQ(report::first_rows(none, {}).dump(), R"({"total":0,"n":[],"x":[]})");
}

TEST(PageTables, SayWhichLineIsDamaged) {
    auto rows = table_of_text("n\tx\n1\t2\n3\n");
    ASSERT_TRUE(rows.next());
    try {
        rows.next();
        FAIL() << "a line without a field was read";
    } catch (const io_error& error) {
        EXPECT_NE(std::string(error.what()).find("'some.tsv', line 3"), std::string::npos);
    }
    EXPECT_THROW(rows["y"], io_error);
}

TEST(PageTables, FindUnitsOfWhichNamesHoldWhatJoinsThem) {
    auto rows = table_of_text("units\na,b,a\n");
    ASSERT_TRUE(rows.next());
    const report::unit_numbers known({"a", "b", "a,b"});

    EXPECT_EQ(known.units(rows, "a,b,a", ",", 2), (std::vector<std::uint32_t>{2, 0}));
    EXPECT_EQ(known.units(rows, "a,b,a", ",", 3), (std::vector<std::uint32_t>{0, 1, 0}));
    EXPECT_THROW(known.units(rows, "a,b,a", ",", 4), io_error);
    EXPECT_THROW(known.units(rows, "a,c", ",", 2), io_error);
}

}  // namespace
}  // namespace spikeweave
