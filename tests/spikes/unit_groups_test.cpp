#include "spikeweave/spikes/unit_groups.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/files.hpp"
#include "support/error_text.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"
#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;
using timed_names = std::vector<std::pair<std::int64_t, std::string>>;

// By name, in order of time and name.
timed_names sorted_names(const spike_sequence& spikes) {
    timed_names out;
    for (std::size_t i = 0; i < spikes.size(); ++i)
        out.push_back({spikes.times_us()[i], spikes.name(spikes.units()[i])});
    std::ranges::sort(out);
    return out;
}

TEST(GroupUnits, CountsSpikesOfAGroupAsTheRuleSays) {
    for (std::uint64_t seed = 0; seed < property_cases(300); ++seed) {
        random_streams random(seed);
        const spike_sequence spikes = random.spikes(60, 5);
        const unit_groups groups{{"a", "left"}, {"c", "left"}, {"d", "right"}};
        const duration window{static_cast<std::int64_t>(random.below(4))};

        const grouped_spikes grouped = group_units(spikes, groups, window);

        timed_names expected;
        std::map<std::string, std::int64_t> last;
        for (std::size_t i = 0; i < spikes.size(); ++i) {
            const std::string& unit = spikes.name(spikes.units()[i]);
            const std::int64_t time = spikes.times_us()[i];
            const auto found = groups.find(unit);
            if (found == groups.end()) {
                expected.push_back({time, unit});
                continue;
            }
            const auto before = last.find(found->second);
            if (before != last.end() && time - before->second <= window.count()) continue;
            last[found->second] = time;
            expected.push_back({time, found->second});
        }
        std::ranges::sort(expected);
        EXPECT_EQ(sorted_names(grouped.spikes), expected) << seed;
        EXPECT_EQ(grouped.merged, spikes.size() - expected.size());
        EXPECT_EQ(grouped.groups, 2U);
        EXPECT_EQ(grouped.spikes.span(), spikes.span());
        EXPECT_EQ(grouped.spikes.unit_names(),
                  (std::vector<std::string>{"b", "e", "left", "right"}));
    }
}

TEST(GroupUnits, RefusesWhatIsNoGroup) {
    random_streams random(0);
    const spike_sequence spikes = random.spikes(10, 3);
    EXPECT_SAYS(text_of([&] { group_units(spikes, {{"x", "left"}}); }), "no unit is named 'x'");
    EXPECT_SAYS(text_of([&] {
                    group_units(spikes, {{"a", "b"}});
                }),
                "a group is called b, as is a unit that is in no group");
    EXPECT_SAYS(text_of([&] { group_units(spikes, {{"a", "left"}}, -1ms); }), "at least 0");
    EXPECT_EQ(group_units(spikes, {{"a", "a"}}).spikes, spikes);
}

TEST(ReadUnitGroups, TakesTabsCommasHeadersAndComments) {
    const temporary_folder folder;
    const auto path = folder.path() / "groups.tsv";
    folder.file("groups.tsv", "unit\tgroup\n# the left half\nn 1\tleft side\r\n\nn2, right\n");
    EXPECT_EQ(read_unit_groups(path), (unit_groups{{"n 1", "left side"}, {"n2", "right"}}));

    const auto says = [&](const std::string& text) {
        folder.file("groups.tsv", text);
        return text_of([&] { read_unit_groups(path); });
    };
    EXPECT_SAYS(says("n1 left\n"), "line 1: found 'n1 left', expected a unit and its group");
    EXPECT_SAYS(says("n1,left\nn1,right\n"), "line 2: found 'n1,right', expected each unit once");
    EXPECT_SAYS(says("n1,left,right\n"), "expected a unit and its group");
    EXPECT_SAYS(says("n1,\n"), "expected a unit and its group");
    EXPECT_SAYS(says("# nothing\n"), "found no unit");
}

}  // namespace
}  // namespace spikeweave
