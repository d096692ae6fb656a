#include "spikeweave/spikes/unit_groups.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/files.hpp"
#include "spikeweave/spikes/units_left_out.hpp"
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

TEST(WithoutUnits, LeavesThemOutOfTheirGroups) {
    const unit_groups groups{{"a", "left"}, {"b", "left"}, {"c", "right"}, {"d", "up"}};

    const remaining_groups some = without_units(groups, std::vector<std::string>{"a", "c", "x"});

    EXPECT_EQ(some.groups, (unit_groups{{"b", "left"}, {"d", "up"}}));
    EXPECT_EQ(some.empty, std::vector<std::string>{"right"});
    EXPECT_EQ(some.warnings,
              (std::vector<std::string>{"The group left is without unit a, which was left out.",
                                        "There is no group right: its unit was left out."}));
    EXPECT_EQ(without_units(groups, {}).groups, groups);
    EXPECT_TRUE(without_units(groups, std::vector<std::string>{"x"}).warnings.empty());

    unit_groups wells;
    std::vector<std::string> fast;
    for (const std::string name : {"1", "2", "3", "4", "5", "6", "7"}) {
        wells.emplace("u" + name, "w" + name);
        wells.emplace("v" + name, "w" + name);
        fast.push_back("u" + name);
    }
    EXPECT_EQ(without_units(wells, fast).warnings.size(), 6U);
    EXPECT_EQ(without_units(wells, fast).warnings.back(), "2 more groups lack units, too.");
}

// Unit a fires at 10 Hz, b and c at 1 Hz and at other times.
std::filesystem::path file_of_a_fast_unit(const temporary_folder& folder) {
    std::string lines;
    for (int i = 0; i < 100; ++i) lines += fmt::format("{}\ta\n", 0.1 * i);
    for (int i = 0; i < 10; ++i) lines += fmt::format("{}\tb\n{}\tc\n", i + 0.05, i + 0.45);
    return folder.file("spikes.tsv", lines);
}

TEST(ReadSpikes, GroupsWhatWasNotLeftOut) {
    const temporary_folder folder;
    const auto path = file_of_a_fast_unit(folder);
    spike_read_options how{.cleaning = {.max_rate = 5}};
    const auto with_groups = [&](const std::string& lines) {
        how.groups = folder.file("groups.tsv", lines);
        return read_spikes(path, how);
    };

    const spike_file file = with_groups("a,left\nb,left\n");

    EXPECT_EQ(file.spikes.unit_names(), (std::vector<std::string>{"c", "left"}));
    EXPECT_EQ(file.groups, 1U);
    EXPECT_EQ(file.warnings.back(), "The group left is without unit a, which was left out.");
    EXPECT_EQ(with_groups("a,fast\nb,left\n").empty_groups, std::vector<std::string>{"fast"});
    // A group may have the name of a unit that was left out.
    EXPECT_EQ(with_groups("b,a\n").spikes.unit_names(), (std::vector<std::string>{"a", "c"}));
    EXPECT_SAYS(text_of([&] { with_groups("a,left\nx,left\n"); }), "no unit is named 'x'");
}

TEST(ChooseUnits, SaysWhyUnitsWereLeftOut) {
    const temporary_folder folder;
    const auto path = file_of_a_fast_unit(folder);
    const spike_file file = read_spikes(path, {.cleaning = {.max_rate = 5}});
    const auto choose = [&](const std::vector<std::string>& names) {
        return choose_units(file, names);
    };

    EXPECT_EQ(units_left_out(file),
              (reasons_left_out{{"a", "it fires at 10.1 Hz, above `max_rate`"}}));
    EXPECT_EQ(choose({"c"}).spikes, select_units(file.spikes, std::vector<std::string>{"c"}));
    EXPECT_TRUE(choose({"c"}).warnings.empty());
    EXPECT_EQ(choose({"c", "a"}).spikes, choose({"c"}).spikes);
    EXPECT_EQ(choose({"c", "a"}).warnings,
              std::vector<std::string>{"Of `only_units`, these were left out: a (it fires at 10.1 "
                                       "Hz, above `max_rate`)."});
    EXPECT_SAYS(text_of([&] { choose({"a"}); }), "`only_units`: each of these units was left out");
    EXPECT_SAYS(text_of([&] { choose({"a", "x"}); }), "no unit is named 'x'");
    EXPECT_NO_THROW(check_not_left_out(units_left_out(file), std::vector<std::string>{"b", "x"}));
    EXPECT_SAYS(text_of([&] {
                    check_not_left_out(units_left_out(file), std::vector<std::string>{"b", "a"});
                }),
                "the unit a is needed, and was left out: it fires at 10.1 Hz, above `max_rate`");

    const spike_file grouped = read_spikes(
        path, {.cleaning = {.max_rate = 5}, .groups = folder.file("groups.tsv", "a,fast\n")});
    EXPECT_EQ(choose_units(grouped, std::vector<std::string>{"b", "fast"}).warnings,
              std::vector<std::string>{"Of `only_units`, these were left out: fast (all units of "
                                       "this group were left out)."});
}

TEST(UnitsLeftOut, NamesTheOptionThatDidIt) {
    spike_file file;
    file.dropped = {{.name = "d", .repeated = "e"}};
    file.left_out.noisy = {{.name = "n", .value = 2.25}};
    EXPECT_EQ(units_left_out(file),
              (reasons_left_out{{"d", "it repeats unit e, as `drop_duplicates_of_units` found"},
                                {"n", "its signal-to-noise ratio is 2.25, below `min_snr`"}}));
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
