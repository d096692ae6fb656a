// Mines a file of transactions by one rule and prints the patterns in a form into which results of
// other programs can be converted: lines "ITEMS : COUNT" with ascending items, sorted as numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <string>
#include <vector>

#include "spikeweave/mine/spade.hpp"

namespace {

using namespace spikeweave;

std::uint32_t number(const char* text) {
    return static_cast<std::uint32_t>(std::stoul(text));
}

void print(const pattern_table& table) {
    std::vector<std::vector<pattern_item>> patterns;
    patterns.reserve(table.size());
    for (std::size_t i = 0; i < table.size(); ++i) {
        const auto items = table.pattern(i);
        patterns.emplace_back(items.begin(), items.end());
        std::sort(patterns.back().begin(), patterns.back().end());
    }
    std::vector<std::size_t> order(table.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return patterns[a] < patterns[b]; });
    std::string line;
    for (const std::size_t i : order) {
        line.clear();
        for (const pattern_item item : patterns[i])
            fmt::format_to(std::back_inserter(line), "{} ", item);
        fmt::format_to(std::back_inserter(line), ": {}\n", table.counts[i]);
        std::fwrite(line.data(), 1, line.size(), stdout);
    }
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 7) {
        std::fputs("usage: spade_dump FILE WINDOW_BINS MIN_OCC MIN_SPIKES MIN_NEU STRATEGY\n",
                   stderr);
        return 2;
    }
    const spade_windows windows = read_transactions(argv[1], number(argv[2]));
    const pattern_mining_options options{.rules = {{.min_occ = number(argv[3]),
                                                    .min_spikes = number(argv[4]),
                                                    .min_neu = number(argv[5])}},
                                         .with_occurrences = false,
                                         .strategy = value_named<spade_strategy>(argv[6])};
    print(mine_patterns(windows, options).table);
    return EXIT_SUCCESS;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
}
