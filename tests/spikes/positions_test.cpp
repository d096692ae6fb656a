#include "spikeweave/spikes/positions.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/spikes/files.hpp"
#include "support/error_text.hpp"
#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

// The names of 8 x 8 electrodes without corners.
std::vector<std::string> electrodes(const std::string& before, const std::string& after) {
    std::vector<std::string> names;
    for (int column = 1; column <= 8; ++column)
        for (int row = 1; row <= 8; ++row)
            if ((column != 1 && column != 8) || (row != 1 && row != 8))
                names.push_back(before + std::to_string(10 * column + row) + after);
    return names;
}

TEST(Positions, OfElectrodesAreTheirColumnAndRow) {
    for (const char* const before : {"", "El_", "ch"})
        for (const char* const after : {"", "a"}) {
            const auto names = electrodes(before, after);
            const unit_places places = places_of_electrodes(names);
            ASSERT_EQ(places.size(), 60U) << before << after;
            const unit_place upper = places.at(names.front());  // 12
            const unit_place right = places.at(before + std::string("22") + after);
            const unit_place below = places.at(before + std::string("23") + after);
            EXPECT_EQ(right, (unit_place{upper.x_um + 200, upper.y_um}));
            EXPECT_EQ(below, (unit_place{right.x_um, right.y_um - 200}));
        }
}

TEST(Positions, OfLargerArraysHaveLettersForColumns) {
    std::vector<std::string> names;
    for (const char column : std::string("ABCDEFGHJKLMNOPR"))
        for (int row = 1; row <= 16; ++row) names.push_back(column + std::to_string(row));
    const unit_places places = places_of_electrodes(names);
    ASSERT_EQ(places.size(), 256U);
    EXPECT_EQ(places.at("J1").x_um - places.at("H1").x_um, 200);  // there is no column I
    EXPECT_EQ(places.at("R16").x_um - places.at("A1").x_um, 15 * 200);
    EXPECT_EQ(places.at("A1").y_um - places.at("A16").y_um, 15 * 200);
}

TEST(Positions, OfOtherNamesAreNotKnown) {
    auto names = electrodes("", "");
    EXPECT_EQ(places_of_electrodes(names).size(), 60U);
    names.emplace_back("9");
    EXPECT_TRUE(places_of_electrodes(names).empty());
    EXPECT_TRUE(places_of_electrodes(std::vector<std::string>{"12", "13", "24"}).empty());
    std::vector<std::string> numbers;
    for (int i = 0; i < 60; ++i) numbers.push_back("n" + std::to_string(i));
    EXPECT_TRUE(places_of_electrodes(numbers).empty());
}

TEST(Positions, OfChannelsFillAnArrayWithoutCorners) {
    std::vector<std::string> channels;
    for (int i = 0; i < 60; ++i) channels.push_back(std::to_string(i));
    const unit_places places = places_of_channels(channels);
    ASSERT_EQ(places.size(), 60U);
    std::set<std::pair<double, double>> found;
    for (const auto& [name, place] : places) found.emplace(place.x_um, place.y_um);
    std::set<std::pair<double, double>> array;
    for (const auto& [name, place] : places_of_electrodes(electrodes("", "")))
        array.emplace(place.x_um, place.y_um);
    EXPECT_EQ(found, array);
    EXPECT_EQ(places.at("0"), (unit_place{4 * 200, -7 * 200}));  // electrode 47
    channels.emplace_back("60");
    EXPECT_TRUE(places_of_channels(channels).empty());
}

class Layout : public testing::Test {
protected:
    temporary_folder folder;

    std::string refusal(const char* text) {
        const auto path = folder.file("layout.txt", text);
        return text_of([&] { static_cast<void>(read_layout(path)); });
    }
};

TEST_F(Layout, HasAUnitAndItsPositionOnEachLine) {
    const unit_places places =
        read_layout(folder.file("layout.txt", "# my array\n12 0 200.5\nb\t-3,4\n\n"));
    EXPECT_EQ(places, (unit_places{{"12", {0, 200.5}}, {"b", {-3, 4}}}));
}

TEST_F(Layout, NamesTheLineOfAnError) {
    EXPECT_SAYS(refusal("12 0 0\n13 0\n"), "line 2: found '13 0', expected a unit, x and y");
    EXPECT_SAYS(refusal("12 0 east\n"), "line 1: found '12 0 east'");
    EXPECT_SAYS(refusal("12 0 inf\n"), "line 1");
    EXPECT_SAYS(refusal("12 0 0\n12 1 1\n"), "line 2: found '12 1 1', expected each unit once");
    EXPECT_SAYS(refusal("# nothing\n"), "found no unit");
}

TEST_F(Layout, ReplacesThePositionsOfAFile) {
    const auto spikes = folder.file("spikes.tsv", "0.1\ta\n0.2\tb\n");
    EXPECT_TRUE(read_spikes(spikes).spikes.places().empty());
    const auto layout = folder.file("layout.txt", "a 1 2\nc 3 4\n");
    EXPECT_EQ(read_spikes(spikes, {.layout = layout}).spikes.places().at("a"), (unit_place{1, 2}));
    const auto other = folder.file("other.txt", "c 3 4\n");
    EXPECT_SAYS(text_of([&] { static_cast<void>(read_spikes(spikes, {.layout = other})); }),
                "has the position of no unit: it has c, …, and the units are a, …");
}

// Two templates of two samples on four channels of a square; cluster 7 is of the second one.
TEST(Positions, OfPhyAreThoseOfTheTemplates) {
    using io::npy_kind;
    const temporary_folder folder;
    folder.file("params.py", "sample_rate = 1000.\n");
    folder.file("spike_times.npy", npy_bytes<std::int64_t>(npy_kind::integer, {10, 20, 30, 40}));
    folder.file("spike_templates.npy", npy_bytes<std::int32_t>(npy_kind::integer, {0, 1, 1, 0}));
    folder.file("spike_clusters.npy", npy_bytes<std::int32_t>(npy_kind::integer, {3, 7, 7, 7}));
    folder.file("channel_positions.npy",
                npy_bytes<double>(npy_kind::real, {0, 0, 100, 0, 0, 100, 100, 100}, {4, 2}));
    const std::vector<float> templates{0, 1, 0, 0, 0, -1, 0, 0, 0, 0, 0, 2, 0, 0, -2, -2};
    folder.file("templates.npy", npy_bytes<float>(npy_kind::real, templates, {2, 2, 4}));
    const auto read = [&] { return read_spikes(folder.path()); };

    EXPECT_EQ(read().spikes.places(), (unit_places{{"3", {100, 0}}, {"7", {80, 100}}}));

    folder.file("templates_ind.npy",
                npy_bytes<std::int64_t>(npy_kind::integer, {0, 2, -1, 4, 3, 1, 2, 0}, {2, 4}));
    EXPECT_EQ(read().spikes.places(), (unit_places{{"3", {0, 100}}, {"7", {0, 20}}}));

    folder.file("templates.npy", npy_bytes<float>(npy_kind::real, {1, 2}, {2, 2, 4}));
    const spike_file damaged = read();
    EXPECT_TRUE(damaged.spikes.places().empty());
    ASSERT_EQ(damaged.warnings.size(), 1U);
    EXPECT_SAYS(damaged.warnings[0], "templates.npy");
}

}  // namespace
}  // namespace spikeweave
