// Prints how much planted inhibition `find_scarce_pairs` finds, and how often it finds some where
// there is none, as in docs/algorithms/significance.md.
//
//   scarcity_power RECORDINGS THREADS [NULL|all [LENGTH_S [REDUCTION...]]]
//
// Each recording is one of a null of `null_recordings` with seeds 0, 1, ... In five of its pairs of
// units, each spike of the second within 1 to 4 ms after one of the first is removed with a
// probability, the reduction; in the rows of reduction 0 nothing is removed. Putative inhibition of
// any other pair is false. In `connected`, whose rates are those of `poisson`, spikes of the second
// units of these pairs follow with probability 0.3 after 4.2 to 5.8 ms, and nothing is removed. The
// test has all defaults.

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <exception>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "null_recordings.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/assess/episodes/scarce_pairs.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace {

using namespace spikeweave;

constexpr std::array<std::string_view, 8> usual_nulls{"poisson",    "connected",   "slow",
                                                      "own-bursts", "bursts-slow", "bursts-fast",
                                                      "gamma",      "dead-time"};

bool is_planted(unit_id from, unit_id to) {
    const auto first = to_index(from);
    return first % 2 == 0 && first < 2 * null_recordings::planted_pairs &&
           to_index(to) == first + 1;
}

spike_sequence with_inhibition(const spike_sequence& null, double reduction, std::uint32_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform;
    const spike_trains trains(null);
    std::vector<std::pair<std::int64_t, unit_id>> kept;
    for (std::uint32_t u = 0; u < null.unit_count(); ++u) {
        const bool is_inhibited = u % 2 == 1 && is_planted(unit_id{u - 1}, unit_id{u});
        const auto source = trains.times_us(unit_id{is_inhibited ? u - 1 : u});
        auto before = source.begin();
        for (const std::int64_t time : trains.times_us(unit_id{u})) {
            while (before != source.end() && *before < time - 4000) ++before;
            const bool follows = before != source.end() && *before < time - 1000;
            if (!(is_inhibited && follows && uniform(random) < reduction))
                kept.emplace_back(time, unit_id{u});
        }
    }
    return sequence_of(std::move(kept), null.unit_names(), null.span());
}

struct found {
    std::size_t planted = 0;
    std::size_t wrong = 0;
    std::size_t tested = 0;
};

found look(const spike_sequence& spikes, double reduction) {
    found out;
    std::set<unit_id> sources;
    const std::vector<scarce_pair> pairs =
        find_scarce_pairs(spikes, default_delays(), tie_rule::time, {}, {.threads = 1});
    for (const scarce_pair& pair : pairs) {
        if (pair.kind != scarcity::putative_inhibition) continue;
        if (reduction > 0 && is_planted(pair.from, pair.to))
            sources.insert(pair.from);
        else
            ++out.wrong;
    }
    out.planted = sources.size();
    out.tested = pairs.size();
    return out;
}

spike_sequence recording(std::string_view name, std::int64_t length_s, double reduction,
                         std::uint32_t seed) {
    if (name == "connected")
        return null_recordings::with_connections(null_recordings::make("poisson", length_s, seed),
                                                 0.3, seed);
    return with_inhibition(null_recordings::make(name, length_s, seed), reduction, seed);
}

void measure(std::string_view name, std::int64_t length_s, const std::vector<double>& reductions,
             std::size_t recordings, int threads) {
    for (const double reduction : reductions) {
        if (name == "connected" && reduction > 0) continue;
        std::vector<found> all(recordings);
        parallel::parallel_for(recordings, {.threads = threads}, "measuring", [&](std::size_t i) {
            const auto seed = static_cast<std::uint32_t>(i);
            all[i] = look(recording(name, length_s, reduction, seed), reduction);
        });
        found sum;
        std::size_t with_false = 0;
        for (const found& one : all) {
            sum.planted += one.planted;
            sum.tested += one.tested;
            with_false += one.wrong > 0 ? 1 : 0;
        }
        const auto number = static_cast<double>(recordings);
        fmt::print("{}\t{}\t{}\t{}\t{:.0f}\t{:.3f}\t{}\n", name, length_s, recordings, reduction,
                   static_cast<double>(sum.tested) / number,
                   static_cast<double>(sum.planted) / (null_recordings::planted_pairs * number),
                   with_false);
        std::fflush(stdout);
    }
}

int run(const std::vector<std::string>& arguments) {
    if (arguments.size() < 2)
        throw invalid_argument("expected RECORDINGS THREADS [NULL|all [LENGTH_S [REDUCTION...]]]");
    const std::string name = arguments.size() > 2 ? arguments[2] : "all";
    const std::int64_t length_s = arguments.size() > 3 ? std::stol(arguments[3]) : 600;
    std::vector<double> reductions{0, 0.3, 0.5, 0.8};
    if (arguments.size() > 4) reductions.clear();
    for (std::size_t i = 4; i < arguments.size(); ++i)
        reductions.push_back(std::stod(arguments[i]));
    fmt::print("null\tseconds\trecordings\treduction\ttested\tfound\twith a false one\n");
    std::vector<std::string_view> nulls(usual_nulls.begin(), usual_nulls.end());
    if (name != "all") nulls = {name};
    for (const std::string_view null : nulls)
        measure(null, length_s, reductions, std::stoul(arguments[0]), std::stoi(arguments[1]));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        fmt::print(stderr, "scarcity_power: {}\n", error.what());
        return 2;
    }
}
