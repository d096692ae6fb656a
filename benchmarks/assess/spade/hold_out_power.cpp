// Prints how often SPADE finds a planted pattern, and how often one where there is none, by the
// test of signatures in the whole recording and by `hold_out`; docs/algorithms/spade.md has the
// tables.
//
//   hold_out_power RECORDINGS SURROGATES THREADS [NULL|all [OCCURRENCES|all]]
//
// Each recording is 20 s of a null of `null_recordings`, to which a pattern of four units, 10 ms
// from one to the next, is added OCCURRENCES times, or nothing if that is 0. Patterns of three
// spikes or more that occur four times or more in windows of 40 ms are searched, tested at alpha
// 0.05 and reduced with 2,2,2; all else is default. A pattern that remains is false if it has a
// spike that is not of the planted one, which is found if it remains as it was planted.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "episodes/null_recordings.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/spade.hpp"

namespace {

using namespace spikeweave;
using namespace std::chrono_literals;

using null_recordings::usual_nulls;

constexpr std::int64_t length_s = 20;
constexpr std::uint32_t planted_units = 4;
constexpr duration step = 10ms;

constexpr std::array<std::uint32_t, 4> usual_occurrences{0, 6, 8, 12};

// Adds a pattern of the first units, with its spikes in the middle of bins.
spike_sequence with_pattern(const spike_sequence& null, std::uint32_t occurrences,
                            std::uint32_t seed) {
    std::vector<std::pair<std::int64_t, unit_id>> all;
    all.reserve(null.size() + occurrences * planted_units);
    for (std::size_t i = 0; i < null.size(); ++i)
        all.emplace_back(null.times_us()[i], null.units()[i]);
    std::mt19937_64 random(seed);
    constexpr std::int64_t bin_us = 5'000;
    std::uniform_int_distribution<std::int64_t> begin(0, length_s * 1'000'000 / bin_us - 10);
    for (std::uint32_t i = 0; i < occurrences; ++i) {
        const std::int64_t at = begin(random) * bin_us + bin_us / 2;
        for (std::uint32_t u = 0; u < planted_units; ++u)
            all.emplace_back(at + u * duration{step}.count(), unit_id{u});
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return sequence_of(std::move(all), null.unit_names(), null.span());
}

struct found {
    bool planted = false;
    bool has_false = false;

    void add(const pattern_table& table, std::size_t i, duration bin, bool any_planted) {
        const auto items = table.pattern(i);
        const bool is_part =
            any_planted && std::ranges::all_of(items, [&](pattern_item item) {
                const std::size_t unit = to_index(table.unit(item));
                const std::size_t first = to_index(table.unit(items.front()));
                return unit >= first && unit < planted_units &&
                       table.lag(item) * bin == static_cast<std::int64_t>(unit - first) * step;
            });
        planted = planted || (is_part && items.size() == planted_units);
        has_false = has_false || !is_part;
    }
};

spade_options asked_for(std::uint32_t surrogates, std::uint32_t seed) {
    spade_options out{.window = 8, .min_occ = 4U, .min_spikes = 3, .alpha = 0.05};
    out.surrogates.surrogates = surrogates;
    out.surrogates.seed = seed;
    out.reduce = {2, 2, 2};
    out.run = {.threads = 1, .devices = std::vector<int>{}};
    return out;
}

std::array<found, 2> look(const spike_sequence& spikes, spade_options options, bool any_planted) {
    std::array<found, 2> out;
    const spade_result whole = run_spade(spikes, options);
    for (std::size_t i = 0; i < whole.table.size(); ++i)
        out[0].add(whole.table, i, options.bin, any_planted);
    options.hold_out = 0.5;
    const spade_result held_out = run_spade(spikes, options);
    for (std::size_t i = 0; i < held_out.table.size(); ++i)
        if (held_out.replication->tests[i]->q < options.alpha)
            out[1].add(held_out.table, i, options.bin, any_planted);
    return out;
}

void measure(std::string_view name, std::uint32_t occurrences, std::size_t recordings,
             std::uint32_t surrogates, int threads) {
    std::vector<std::array<found, 2>> all(recordings);
    parallel::parallel_for(recordings, {.threads = threads}, "measuring", [&](std::size_t i) {
        const auto seed = static_cast<std::uint32_t>(i);
        all[i] = look(with_pattern(null_recordings::make(name, length_s, seed), occurrences, seed),
                      asked_for(surrogates, seed), occurrences > 0);
    });
    fmt::print("{}\t{}\t{}", name, recordings, occurrences);
    for (std::size_t test = 0; test < all[0].size(); ++test) {
        const auto with = [&](bool found::*what) {
            return std::ranges::count_if(all, [&](const auto& one) { return one[test].*what; });
        };
        fmt::print("\t{}\t{}", with(&found::planted), with(&found::has_false));
    }
    fmt::print("\n");
    std::fflush(stdout);
}

int run(const std::vector<std::string>& arguments) {
    if (arguments.size() < 3)
        throw invalid_argument(
            "expected RECORDINGS SURROGATES THREADS [NULL|all [OCCURRENCES|all]]");
    const std::string name = arguments.size() > 3 ? arguments[3] : "all";
    const std::string number = arguments.size() > 4 ? arguments[4] : "all";
    std::vector<std::string_view> nulls(usual_nulls.begin(), usual_nulls.end());
    if (name != "all") nulls = {name};
    std::vector<std::uint32_t> occurrences(usual_occurrences.begin(), usual_occurrences.end());
    if (number != "all") occurrences = {static_cast<std::uint32_t>(std::stoul(number))};
    fmt::print(
        "null\trecordings\toccurrences\twhole: found\twith a false one\theld out: found\twith a "
        "false one\n");
    for (const std::string_view null : nulls)
        for (const std::uint32_t times : occurrences)
            measure(null, times, std::stoul(arguments[0]),
                    static_cast<std::uint32_t>(std::stoul(arguments[1])), std::stoi(arguments[2]));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        fmt::print(stderr, "hold_out_power: {}\n", error.what());
        return 2;
    }
}
