#include "mine/episodes/devices/side_by_side.hpp"

#include <gtest/gtest.h>

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

spike_sequence pair_of(std::vector<std::int64_t> times, std::vector<unit_id> units) {
    return {std::move(times), std::move(units), {"a", "b"}, {-100us, 100us}};
}

TEST(SequencesSideBySide, AreOneAfterAnotherWithUnitsOfTheirOwn) {
    constexpr unit_id a{0};
    constexpr unit_id b{1};
    const std::vector<spike_sequence> sequences{pair_of({-5, 8, 8}, {b, a, b}), pair_of({}, {}),
                                                pair_of({-7, 2}, {a, a})};
    const episodes::sequences_side_by_side all(sequences, {});
    EXPECT_EQ(all.times_us, (std::vector<std::int64_t>{-5, 8, 8, -7, 2}));
    EXPECT_EQ(all.unit_of,
              (std::vector<unit_id>{unit_id{1}, unit_id{0}, unit_id{1}, unit_id{4}, unit_id{4}}));
    EXPECT_EQ(all.units, 6U);
    EXPECT_EQ(all.origin_us, -7);
    EXPECT_EQ(all.length_us, 15U);
}

TEST(SequencesSideBySide, MayHaveNoSpikes) {
    const std::vector<spike_sequence> none{pair_of({}, {}), pair_of({}, {})};
    const episodes::sequences_side_by_side all(none, {});
    EXPECT_TRUE(all.times_us.empty());
    EXPECT_EQ(all.units, 4U);
    EXPECT_EQ(all.length_us, 0U);
}

}  // namespace
}  // namespace spikeweave
