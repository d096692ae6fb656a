#include "report/unit_places.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "report/sort/details.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using report::json;

// Two units on three channels, the second one without a spike.
report::sorting_details two_units() {
    report::sorting_details details;
    details.unit_count = 2;
    details.x_um = {0, 10, 20};
    details.y_um = {100, 100, 160};
    details.shanks = {0, 0, 0};
    details.channels = {1, 2, 0, 1};
    details.channels_per_unit = 2;
    details.frames = 2;
    // The first unit is 6 high on channel 1 and 3 on channel 2.
    details.mean = {-5, -1, 1, 2, 0, 0, 0, 0};
    details.deviation.resize(8);
    details.averaged = {9, 0};
    return details;
}

class UnitPlaces : public testing::Test {
protected:
    void write(const report::sorting_details& details) {
        place.file("sorting.npz", "");
        report::write_details(place.path() / "waveforms.npz", details);
    }

    json places(const char* file = "spikes.npz") {
        const std::vector<std::string> names{"2", "1", "3", "one", "1 "};
        spike_sequence_builder builder;
        for (const std::string& name : names) builder.unit(name);
        return report::columns_of(report::places_of(builder.finish(), place.path() / file), names);
    }

    temporary_folder place;
};

TEST_F(UnitPlaces, AreMeansOfTheChannelsWeightedByTheSquaresOfHeights) {
    write(two_units());

    const json found = places();

    const double x = (36 * 10.0 + 9 * 20.0) / 45;
    const double y = (36 * 100.0 + 9 * 160.0) / 45;
    EXPECT_EQ(found.at("x_um"), (json{nullptr, x, nullptr, nullptr, nullptr}));
    EXPECT_EQ(found.at("y_um"), (json{nullptr, y, nullptr, nullptr, nullptr}));
}

TEST_F(UnitPlaces, AreKnownOfSpikesOfASortingOnly) {
    EXPECT_TRUE(places().is_null());
    write(two_units());
    EXPECT_TRUE(places("other.npz").is_null());
    std::filesystem::remove(place.path() / "sorting.npz");
    EXPECT_TRUE(places().is_null());
}

TEST_F(UnitPlaces, AreNotKnownOfDamagedWaveforms) {
    report::sorting_details details = two_units();
    details.channels[0] = 3;  // there is no such channel
    write(details);
    EXPECT_TRUE(places().is_null());
    std::ofstream(place.path() / "waveforms.npz") << "no archive";
    EXPECT_TRUE(places().is_null());
}

TEST_F(UnitPlaces, AreNotKnownWithoutPositionsOfChannels) {
    report::sorting_details details = two_units();
    details.x_um = details.y_um = {};
    details.shanks = {};
    write(details);
    EXPECT_TRUE(places().is_null());
}

}  // namespace
}  // namespace spikeweave
