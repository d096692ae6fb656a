#include "spikeweave/report/page.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/document.hpp"
#include "report/page_spikes.hpp"
#include "spikeweave/core/error.hpp"
#include "support/count_of.hpp"
#include "support/error_text.hpp"
#include "support/temporary_folder.hpp"

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

struct shown_row {
    std::uint64_t n = 0;
    double x = 0;
};

report::result_table numbers(const std::vector<shown_row>& rows) {
    const auto row_of = [](const shown_row& one) {
        return report::row{{"n", one.n}, {"x", one.x}, {"unit", unit_id{1}}};
    };
    return {"numbers", rows.size(), [=, &rows](std::size_t i) { return row_of(rows[i]); },
            row_of({})};
}

TEST(Documents, HaveTheTablesAsColumns) {
    const std::vector<shown_row> rows{{1, 0.123456789}, {2, std::nan("")}};
    const report::document document{
        .kind = "some", .run = {{"seed", 7}}, .unit_names = {"a", "b"}, .tables = {numbers(rows)}};

    const report::json whole = report::json::parse(report::whole_text(document));

    EXPECT_EQ(whole.at("kind"), "some");
    EXPECT_EQ(whole.at("unit_names"), (report::json{"a", "b"}));
    EXPECT_EQ(whole.at("numbers").dump(),
              R"({"total":2,"n":[1,2],"x":[0.123456789,null],"unit":[1,1]})");
    EXPECT_EQ(report::tsv_of(document.tables[0], document.unit_names),
              "n\tx\tunit\n1\t0.123457\tb\n2\tnan\tb\n");
    EXPECT_EQ(report::rows_of(document.tables[0], document.unit_names).at(0).dump(),
              R"({"n":1,"x":0.123456789,"unit":"b"})");
}

TEST(Documents, OfPagesHaveTheFirstRowsAndTheNumberOfAll) {
    std::vector<shown_row> rows(report::most_rows_of_a_page + 3);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = {i, 0.123456789};
    const report::document document{.kind = "some", .tables = {numbers(rows)}};

    const std::string page = report::page_text(document);

    const report::json columns = report::json::parse(page).at("numbers");
    EXPECT_EQ(columns.at("total"), report::most_rows_of_a_page + 3);
    EXPECT_EQ(columns.at("n").size(), report::most_rows_of_a_page);
    EXPECT_EQ(columns.at("n").back(), report::most_rows_of_a_page - 1);
    EXPECT_EQ(columns.at("x").back(), 0.123457);
    EXPECT_EQ(report::page_text(report::json::parse(report::whole_text(document))), page);
}

TEST(Documents, AreRefusedIfTheyAreDamaged) {
    const temporary_folder place;
    const auto error_with = [&](const std::string& text) {
        place.file("result.json", text);
        return text_of([&] { report::read_document(place.path()); });
    };

    EXPECT_NE(text_of([&] { report::read_document(place.path()); }).find("no result.json"),
              std::string::npos);
    for (const char* const text : {"", "{", "[]", R"({"format": "another"})"})
        EXPECT_NE(error_with(text).find("damaged"), std::string::npos) << text;
    EXPECT_NE(
        error_with(R"({"format": "spikeweave result", "version": 1})").find("another version"),
        std::string::npos);
}

}  // namespace
}  // namespace spikeweave
