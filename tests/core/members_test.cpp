#include "spikeweave/core/members.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace spikeweave {
namespace {

struct measured {
    int count = 0;
    double mean = 0;
    double kept_for_itself = 0;
};

struct summed {
    int count = 0;
    double mean = 0;

    double total() const { return count * mean; }
};

struct not_described {};

}  // namespace

template <>
struct members_of<measured> {
    static void list(const auto& to) {
        to("n", &measured::count, "how many there are");
        to("mean", &measured::mean);
    }
};
template <>
struct members_of<summed> {
    static void list(const auto& to) {
        to("total", &summed::total);
        to("half of it", [](const summed& one) { return one.total() / 2; });
    }
};

namespace {

static_assert(is_described<measured>);
static_assert(!is_described<not_described> && !is_described<int>);

TEST(Members, AreVisitedInOrderUnderTheirNames) {
    const measured value{.count = 3, .mean = 0.5, .kept_for_itself = 7};
    std::vector<std::string> names;
    std::vector<double> values;
    each_member(value, [&](const char* name, const auto& member) {
        names.emplace_back(name);
        values.push_back(static_cast<double>(member));
    });
    EXPECT_EQ(names, (std::vector<std::string>{"n", "mean"}));
    EXPECT_EQ(values, (std::vector<double>{3, 0.5}));
}

TEST(Members, CanBeSet) {
    measured value;
    each_member(value, [](const char* /*name*/, auto& member) { member = 2; });
    EXPECT_EQ(value.count, 2);
    EXPECT_EQ(value.mean, 2);
    EXPECT_EQ(value.kept_for_itself, 0);
}

TEST(Members, MayBeFunctions) {
    const summed value{.count = 3, .mean = 0.5};
    double total = 0;
    each_member(value, [&](const char* /*name*/, const auto& member) { total += member; });
    EXPECT_EQ(total, 2.25);
}

}  // namespace
}  // namespace spikeweave
