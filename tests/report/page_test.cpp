#include "spikeweave/report/page.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "report/page_spikes.hpp"
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

}  // namespace
}  // namespace spikeweave
