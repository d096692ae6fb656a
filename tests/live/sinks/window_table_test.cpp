#include "live/sinks/window_table.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace spikeweave::live {
namespace {

TEST(WindowTable, WritesALineForEachEpisodeOfAWindow) {
    std::string text;
    window_table table([&](std::string_view lines) { text += lines; });
    table.take(units_added{std::vector<std::string>{"a", "b 1"}});
    const episode pair{{unit_id{0}, unit_id{1}}, {{duration{4'000}, duration{6'000}}}};

    table.take(
        mined_window{{{.number = 2, .begin = duration{2'000'000}, .end = duration{3'000'000}},
                      9,
                      {.episodes = {{{{unit_id{1}}, {}}, 5}, {pair, 4}}}},
                     false});
    table.take(epoch_ended{});
    table.take(mined_window{{{.end = duration{1}}, 9, {.episodes = {{pair, 4}}}}, true, 0, 1});

    EXPECT_EQ(text,
              "epoch\twindow\tbegin_s\tend_s\thas_gap\tsize\tepisode\tcount\n"
              "0\t2\t2.000000\t3.000000\tno\t1\t\"b 1\"\t5\n"
              "0\t2\t2.000000\t3.000000\tno\t2\ta 4-6ms \"b 1\"\t4\n"
              "1\t0\t0.000000\t0.000001\tyes\t2\ta 4-6ms \"b 1\"\t4\n");
}

// Units of a stream are numbered as they appear.
TEST(WindowTable, OrdersEpisodesByTheNamesOfTheirUnits) {
    std::string text;
    window_table table([&](std::string_view lines) { text += lines; });
    table.take(units_added{std::vector<std::string>{"n10"}});
    table.take(units_added{std::vector<std::string>{"n9", "n1"}});
    const auto pair_of = [](std::uint32_t first, std::uint32_t second, std::int64_t low) {
        return episode{{unit_id{first}, unit_id{second}}, {{duration{low}, duration{9'000}}}};
    };

    table.take(mined_window{{{.end = duration{1'000'000}},
                             9,
                             {.episodes = {{{{unit_id{0}}, {}}, 1},
                                           {{{unit_id{1}}, {}}, 2},
                                           {pair_of(0, 1, 0), 3},
                                           {pair_of(2, 0, 1'000), 4},
                                           {pair_of(2, 0, 2'000), 5},
                                           {pair_of(2, 1, 0), 6}}}},
                            false});

    std::string episodes;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        episodes += line.substr(line.rfind('\t', line.rfind('\t') - 1) + 1) + ";";
    EXPECT_EQ(episodes,
              "episode\tcount;n9\t2;n10\t1;n1 0-9ms n9\t6;n1 1-9ms n10\t4;n1 2-9ms n10\t5;"
              "n10 0-9ms n9\t3;");
}

}  // namespace
}  // namespace spikeweave::live
