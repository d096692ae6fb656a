#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "report/episodes/small_report.hpp"
#include "report/episodes/view.hpp"
#include "support/count_of.hpp"

namespace spikeweave {
namespace {

void expect_well_formed(const std::string& xml) {
    std::vector<std::string> open;
    for (std::size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
        const std::size_t end = xml.find('>', at);
        ASSERT_NE(end, std::string::npos);
        const std::string tag = xml.substr(at + 1, end - at - 1);
        ASSERT_EQ(tag.find('<'), std::string::npos) << tag;
        ASSERT_EQ(std::count(tag.begin(), tag.end(), '"') % 2, 0) << tag;
        const std::string name = tag.substr(0, tag.find_first_of(" \n/", 1));
        if (tag.front() == '?' || tag.back() == '/') continue;
        if (tag.front() == '/') {
            ASSERT_FALSE(open.empty()) << tag;
            ASSERT_EQ(tag.substr(1), open.back());
            open.pop_back();
        } else {
            open.push_back(name);
        }
    }
    EXPECT_TRUE(open.empty());
    for (std::size_t at = xml.find('&'); at != std::string::npos; at = xml.find('&', at + 1)) {
        const std::string entity = xml.substr(at, xml.find(';', at) - at + 1);
        EXPECT_TRUE((std::set<std::string>{"&amp;", "&lt;", "&gt;", "&quot;"}).contains(entity))
            << entity;
    }
}

TEST(EpisodeReport, WritesWellFormedXml) {
    episode_report report = small_episode_report();
    episode_report without_chains = small_episode_report();
    without_chains.circuit.chains.clear();
    episode_report empty{.spikes = {}};

    for (const episode_report* one : {&report, &without_chains, &empty}) {
        expect_well_formed(report::circuit_graphml(report::episode_view(*one)));
        expect_well_formed(report::circuit_svg(report::episode_view(*one)));
    }
}

TEST(EpisodeReport, DrawsChainsAndTheEdgesOutsideThem) {
    episode_report report = small_episode_report();
    const std::string chain = report::circuit_svg(report::episode_view(report));
    report.circuit.chains.clear();
    const std::string loose = report::circuit_svg(report::episode_view(report));

    EXPECT_EQ(count_of("<circle ", chain), 3U);
    EXPECT_EQ(count_of("class=\"arrow\"", chain), 2U);
    EXPECT_NE(chain.find(">0.81<"), std::string::npos);
    EXPECT_NE(chain.find("1 more pair is not direct: circuit.tsv"), std::string::npos);
    EXPECT_EQ(count_of("<circle ", loose), 3U);
    EXPECT_EQ(count_of("class=\"arrow\"", loose), 2U);
    // The interval that was counted, not the wider one after joining; once, since it is that of
    // all.
    EXPECT_EQ(count_of(">every delay is 4-6ms<", loose), 1U);
    EXPECT_EQ(count_of("class=\"on-arrow\"", loose), 0U);
}

TEST(EpisodeReport, DrawsEveryUnitOnceWhereChainsShareUnits) {
    episode_report report = small_episode_report();
    // Edges in the opposite direction, to the same unit, and beside the chain.
    report.circuit.edges.push_back(edge(b, a, near, edge_kind::direct));
    report.circuit.edges.push_back(edge(a, a, {8ms, 12ms}, edge_kind::direct));

    const std::string svg = report::circuit_svg(report::episode_view(report));

    EXPECT_EQ(count_of("<circle ", svg), 3U);
    EXPECT_EQ(count_of("class=\"arrow\"", svg), 4U);
    EXPECT_EQ(count_of("class=\"on-arrow\"", svg), 4U);
    EXPECT_NE(svg.find("a → b → &lt;c&amp;&quot;d&quot;&gt; · 2 times, 1·10⁻⁵ expected by chance"),
              std::string::npos);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    expect_well_formed(svg);
}

TEST(EpisodeReport, DrawsArrowsWithTheSameEndsBesideEachOther) {
    episode_report report = small_episode_report();
    report.circuit.chains.clear();
    for (const delay_interval& delay : {near, delay_interval{8ms, 12ms}}) {
        report.circuit.edges.push_back(edge(b, a, delay, edge_kind::direct));
        report.circuit.edges.push_back(edge(a, a, delay, edge_kind::direct));
    }

    const std::string svg = report::circuit_svg(report::episode_view(report));

    std::set<std::string> lines;
    const std::regex arrow("class=\"arrow\"[^>]* d=\"([^\"]+)\"");
    for (std::sregex_iterator found(svg.begin(), svg.end(), arrow), end; found != end; ++found)
        lines.insert((*found)[1]);
    EXPECT_EQ(lines.size(), count_of("class=\"arrow\"", svg));
    EXPECT_GE(lines.size(), 5U);
}

TEST(EpisodeReport, DrawsUnitsWhereTheirElectrodesAre) {
    episode_report report = small_episode_report();
    report.circuit.chains.clear();
    const auto& names = report.spikes.unit_names();
    const auto drawn = [&](const unit_place& last) {
        report.spikes.set_places({{names[0], {0, 0}}, {names[1], {0, -200}}, {names[2], last}});
        return report::circuit_svg(report::episode_view(report));
    };
    const std::string on_array = drawn({200, -200});
    // 84 apart: the second unit below the first one, the third one to the right of the second.
    for (const char* const centre :
         {R"(cx="79.0" cy="155.0")", R"(cx="79.0" cy="239.0")", R"(cx="163.0" cy="239.0")"})
        EXPECT_EQ(count_of(centre, on_array), 1U) << centre << on_array;
    expect_well_formed(on_array);
    report.spikes.set_places({});
    const std::string on_circle = report::circuit_svg(report::episode_view(report));
    EXPECT_EQ(drawn({0, -400}), on_circle);   // a line, on which edges would lie on each other
    EXPECT_EQ(drawn({0, -200}), on_circle);   // two units of one electrode
    EXPECT_EQ(drawn({200, 1e7}), on_circle);  // too far apart for a picture
}

TEST(EpisodeReport, PutsDelaysBesideArrowsAndEachOther) {
    // Eight units on a circle, each with an arrow to the opposite one, all through the middle.
    episode_report report{.spikes = {}};
    std::vector<std::string> names;
    for (std::uint32_t u = 0; u < 8; ++u) {
        names.push_back("u" + std::to_string(u));
        report.circuit.edges.push_back(
            edge(unit_id{u}, unit_id{(u + 4) % 8}, {u * 1ms, (u + 1) * 1ms}, edge_kind::direct));
    }
    report.spikes = {{}, {}, names, {0s, 1s}};

    const std::string svg = report::circuit_svg(report::episode_view(report));

    std::vector<std::pair<double, double>> at;
    const std::regex label("class=\"on-arrow\" x=\"([^\"]+)\" y=\"([^\"]+)\"");
    for (std::sregex_iterator found(svg.begin(), svg.end(), label), end; found != end; ++found)
        at.emplace_back(std::stod((*found)[1]), std::stod((*found)[2]));
    ASSERT_EQ(at.size(), 8U);
    for (std::size_t i = 0; i < at.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            EXPECT_TRUE(std::abs(at[i].first - at[j].first) >= 25 ||
                        std::abs(at[i].second - at[j].second) >= 10)
                << i << " and " << j;
}

TEST(EpisodeReport, DrawsTheStrongestOfManyEdges) {
    episode_report report{.spikes = {}};
    std::vector<std::string> names;
    for (std::uint32_t u = 0; u < 20; ++u) names.push_back("u" + std::to_string(u));
    for (std::uint32_t from = 0; from < 20; ++from)
        for (std::uint32_t to = 0; to < 10; ++to)
            if (from != to)
                report.circuit.edges.push_back(
                    edge(unit_id{from}, unit_id{to}, near, edge_kind::direct, 1 + from / 20.0));
    report.spikes = {{}, {}, names, {0s, 1s}};

    const std::string svg = report::circuit_svg(report::episode_view(report));

    EXPECT_EQ(report.circuit.edges.size(), 190U);
    EXPECT_EQ(count_of("class=\"arrow\"", svg), 150U);
    EXPECT_EQ(count_of("class=\"on-arrow\"", svg), 0U);
    EXPECT_NE(svg.find("and 40 more: circuit.tsv"), std::string::npos);
    EXPECT_NE(svg.find(">u0</text>"), std::string::npos);
}

TEST(EpisodeReport, DrawsInhibitionWithABarAsWideAsItIsStrong) {
    episode_report report = small_episode_report();
    report.circuit.chains.clear();
    add_inhibition(report);

    const std::string svg = report::circuit_svg(report::episode_view(report));

    EXPECT_EQ(count_of("class=\"arrow\"", svg), 2U);
    // An eighth of what chance gives has the full width.
    EXPECT_EQ(count_of("class=\"arrow inhibits\" stroke-width=\"3\"", svg), 1U);
    EXPECT_NE(svg.find(".inhibits { stroke: #b3261e; marker-end: url(#bar); }"), std::string::npos);
    expect_well_formed(svg);
}

TEST(EpisodeReport, DrawsAUnitOfBothSignsDashed) {
    const std::string dashed = "<g class=\"both-signs\"><title>a</title>";
    episode_report report = small_episode_report();
    report.circuit.chains.clear();
    add_inhibition(report);
    const std::string one_sign = report::circuit_svg(report::episode_view(report));
    report.circuit.edges.back().from = a;  // which excites b
    report.circuit.edges.back().to = c;
    const std::string svg = report::circuit_svg(report::episode_view(report));

    EXPECT_EQ(count_of("both-signs\"", one_sign), 0U);
    EXPECT_EQ(count_of("dashed: ", one_sign), 0U);
    EXPECT_EQ(count_of("class=\"both-signs\"", svg), 1U);
    EXPECT_EQ(count_of(dashed, svg), 1U);
    EXPECT_EQ(count_of("dashed: ", svg), 1U);
    expect_well_formed(svg);
    const auto run = nlohmann::json::parse(to_json(report)).at("run");
    EXPECT_EQ(run.at("circuit").at("units_of_both_signs"), nlohmann::json({"a"}));
}

TEST(EpisodeReport, WrapsALongChain) {
    episode_report report{.spikes = {}};
    std::vector<std::string> names;
    episode long_one;
    for (std::uint32_t u = 0; u < 25; ++u) {
        names.push_back("unit " + std::to_string(u));
        long_one.units.push_back(unit_id{u});
        if (u > 0) long_one.delays.push_back(near);
    }
    report.spikes = {{}, {}, names, {0s, 1s}};
    report.table.episodes = {{long_one, 3}};
    report.assessed = {{0, 0, 0, 1}};
    report.circuit.chains = {0};

    const std::string svg = report::circuit_svg(report::episode_view(report));

    EXPECT_EQ(count_of("class=\"arrow\"", svg), 24U);
    EXPECT_EQ(count_of("<circle ", svg), 27U);  // two circles are at an end and a beginning
    // Eleven circles have this width: two margins, two radii and ten steps.
    EXPECT_NE(svg.find("viewBox=\"0 0 1218 "), std::string::npos) << svg.substr(0, 120);
}

}  // namespace
}  // namespace spikeweave
