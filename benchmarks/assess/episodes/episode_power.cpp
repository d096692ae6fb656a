// Prints how many planted connections are found, and how often one is found where there is none, by
// the tests of docs/algorithms/significance.md.
//
//   episode_power RECORDINGS SURROGATES THREADS [PART [LENGTH_S]]
//
// PART is NULL|all[/UNITS][@EPOCH:GAP|@BEFORE..AFTER], as `analysed_part` reads it.
//
// Each recording is one of a null of `null_recordings` with seeds 0, 1, ... In five of its pairs of
// units, or of groups, each spike of the first is followed by one of the second after 4.2 to 5.8 ms
// with a probability, the strength; in the rows of strength 0 nothing is planted. An edge of
// another pair is false. All recordings are searched and tested with all defaults except the
// largest size, 2: by the test jitter, by surrogates, and by jitter with half of the time held out.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "analysed_part.hpp"
#include "null_recordings.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/episodes.hpp"

namespace {

using namespace spikeweave;

using null_recordings::analysed_part;
using null_recordings::planted_pairs;
using null_recordings::usual_nulls;
using null_recordings::with_connections;

struct found {
    std::size_t planted = 0;
    bool has_false = false;
};

found look(const spike_sequence& spikes, const episode_options& options, double strength) {
    found out;
    for (const circuit_edge& edge : find_episodes(spikes, options).circuit.edges) {
        const auto from = to_index(edge.from);
        const bool is_planted = strength > 0 && from % 2 == 0 && from < 2 * planted_pairs &&
                                to_index(edge.to) == from + 1;
        out.planted += is_planted ? 1 : 0;
        out.has_false = out.has_false || !is_planted;
    }
    return out;
}

void measure(std::string_view name, const analysed_part& part, std::int64_t length_s,
             std::size_t recordings, std::uint32_t surrogates, int threads) {
    for (const double strength : {0.0, 0.01, 0.02, 0.03, 0.05}) {
        std::vector<std::array<found, 3>> all(recordings);
        parallel::parallel_for(recordings, {.threads = threads}, "measuring", [&](std::size_t i) {
            const auto seed = static_cast<std::uint32_t>(i);
            const spike_sequence null = part.grouped(null_recordings::make(name, length_s, seed));
            const spike_sequence spikes = part.cut(with_connections(null, strength, seed), seed);
            episode_options options{.mining = {.delays = default_delays(), .max_size = 2},
                                    .run = {.threads = 1, .devices = std::vector<int>{}}};
            all[i][0] = look(spikes, options, strength);
            options.hold_out = 0.5;
            all[i][2] = look(spikes, options, strength);
            if (surrogates == 0) return;
            options.hold_out = 0;
            options.surrogates = {.surrogates = surrogates, .seed = seed};
            all[i][1] = look(spikes, options, strength);
        });
        fmt::print("{}\t{}\t{}\t{}", name, length_s, recordings, strength);
        for (std::size_t test = 0; test < 3; ++test) {
            std::size_t planted = 0;
            std::size_t with_false = 0;
            for (const auto& one : all) {
                planted += one[test].planted;
                with_false += one[test].has_false ? 1 : 0;
            }
            fmt::print(
                "\t{:.3f}\t{}",
                static_cast<double>(planted) / static_cast<double>(planted_pairs * recordings),
                with_false);
        }
        fmt::print("\n");
        std::fflush(stdout);
    }
}

int run(const std::vector<std::string>& arguments) {
    if (arguments.size() < 3)
        throw invalid_argument(
            "expected RECORDINGS SURROGATES THREADS [NULL|all[/UNITS][@EPOCH:GAP|@BEFORE..AFTER] "
            "[LENGTH_S]]");
    const analysed_part part(arguments.size() > 3 ? arguments[3] : "all");
    const std::int64_t length_s = arguments.size() > 4 ? std::stol(arguments[4]) : 300;
    fmt::print(
        "null\tseconds\trecordings\tstrength\tjitter: found\twith a false one"
        "\tsurrogates: found\twith a false one\theld out: found\twith a false one\n");
    std::vector<std::string_view> nulls(usual_nulls.begin(), usual_nulls.end());
    if (part.null != "all") nulls = {part.null};
    for (const std::string_view null : nulls)
        measure(null, part, length_s, std::stoul(arguments[0]),
                static_cast<std::uint32_t>(std::stoul(arguments[1])), std::stoi(arguments[2]));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        fmt::print(stderr, "episode_power: {}\n", error.what());
        return 2;
    }
}
