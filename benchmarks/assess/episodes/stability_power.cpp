// Prints how often two circuits are reported to have more in common than the roles of their units
// explain, where this is false, and where it is true (docs/algorithms/circuit-stability.md).
//
//   stability_power PAIRS THREADS [NULL|all [LENGTH_S]]
//
// Each pair is of two recordings of a null of `null_recordings`. In both, three leaders are
// connected to two thirds of six followers each, so that every follower has two leaders. For some
// followers it is drawn anew which ones; if for all six, the circuits have nothing in common but
// the roles. All defaults are used, except a largest size of 2.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "null_recordings.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/assess/episodes/circuit_stability.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/episodes.hpp"

namespace {

using namespace spikeweave;

using null_recordings::connection;
using null_recordings::usual_nulls;

constexpr std::uint32_t leaders = 3;
constexpr double level = 0.05;

// The leader that each follower does not have.
using missing_leaders = std::array<std::uint32_t, 6>;

std::vector<connection> connections_of(const missing_leaders& missing, double strength) {
    std::vector<connection> out;
    for (std::uint32_t follower = 0; follower < missing.size(); ++follower)
        for (std::uint32_t leader = 0; leader < leaders; ++leader)
            if (leader != missing[follower]) out.push_back({leader, leaders + follower, strength});
    return out;
}

std::vector<directed_pair> circuit_of(std::string_view name, std::int64_t length_s,
                                      const missing_leaders& missing, double strength,
                                      std::uint32_t seed) {
    const spike_sequence null = null_recordings::make(name, length_s, seed);
    const episode_options options{.mining = {.delays = default_delays(), .max_size = 2},
                                  .run = {.threads = 1, .devices = std::vector<int>{}}};
    return direct_pairs(find_episodes(null_recordings::with_connections(
                                          null, connections_of(missing, strength), seed),
                                      options)
                            .circuit);
}

circuit_stability look(std::string_view name, std::int64_t length_s, std::size_t redrawn,
                       double strength, std::uint32_t seed) {
    std::mt19937_64 random(seed);
    missing_leaders before{0, 0, 1, 1, 2, 2};
    std::ranges::shuffle(before, random);
    missing_leaders after = before;
    std::shuffle(after.begin(), after.begin() + static_cast<std::ptrdiff_t>(redrawn), random);
    return measure_stability(circuit_of(name, length_s, before, strength, 2 * seed),
                             circuit_of(name, length_s, after, strength, 2 * seed + 1));
}

void measure(std::string_view name, std::int64_t length_s, std::size_t pairs, int threads) {
    for (const double strength : {0.05, 0.1})
        for (const std::size_t redrawn : {6U, 4U, 2U, 0U}) {
            std::vector<circuit_stability> all(pairs);
            parallel::parallel_for(pairs, {.threads = threads}, "measuring", [&](std::size_t i) {
                all[i] = look(name, length_s, redrawn, strength, static_cast<std::uint32_t>(i));
            });
            std::size_t edges = 0;
            std::size_t known = 0;
            std::size_t significant = 0;
            double sum = 0;
            for (const circuit_stability& one : all) {
                edges += one.before + one.after;
                significant += one.p <= level ? 1 : 0;
                if (!one.index) continue;
                ++known;
                sum += *one.index;
            }
            fmt::print("{}\t{}\t{}\t{}\t{}\t{:.1f}\t{}\t{:.2f}\t{}\n", name, length_s, pairs,
                       strength, redrawn,
                       static_cast<double>(edges) / static_cast<double>(2 * pairs), known,
                       sum / static_cast<double>(std::max<std::size_t>(1, known)), significant);
            std::fflush(stdout);
        }
}

int run(const std::vector<std::string>& arguments) {
    if (arguments.size() < 2 || arguments.size() > 4)
        throw invalid_argument("expected PAIRS THREADS [NULL|all [LENGTH_S]]");
    const std::string name = arguments.size() > 2 ? arguments[2] : "all";
    const std::int64_t length_s = arguments.size() > 3 ? std::stol(arguments[3]) : 120;
    fmt::print(
        "null\tseconds\tpairs\tstrength\tfollowers redrawn\tedges of 12\twith an index\tmean index"
        "\tp <= 0.05\n");
    for (const std::string_view null : usual_nulls)
        if (name == "all" || name == null)
            measure(null, length_s, std::stoul(arguments[0]), std::stoi(arguments[1]));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        fmt::print(stderr, "stability_power: {}\n", error.what());
        return 2;
    }
}
