// Counts the detections of 100 random episodes, and of 20 random patterns of three units, in
// independent Poisson units, and compares them with the number that a session says is expected by
// chance: SEEDS recordings of HOURS of UNITS units, whose rates are lognormal around HZ, with
// episodes of SIZE units and the default delays. `interval` has 99 % of Poisson numbers whose mean
// is what was expected.

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "live/session/session.hpp"
#include "support/independent_spikes.hpp"
#include "support/live_sinks.hpp"

namespace {

using namespace spikeweave;
using namespace spikeweave::live;

constexpr double sd_of_99_percent = 2.576;
constexpr std::size_t episode_count = 100;

std::vector<armed_tally> tallies_of(std::uint64_t seed, double hours, std::size_t size, double hz,
                                    std::uint32_t units) {
    independent_spikes draw(seed, units, hz);
    session_options options;
    for (std::size_t i = 0; i < episode_count; ++i) options.armed.push_back({draw.chain(size)});
    for (int i = 0; i < 20; ++i) options.patterns.patterns.push_back(draw.pattern(3));
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < units; ++i) names.push_back(std::to_string(i));
    tallied_results results;
    session live(names, options, results);
    const auto end_us = static_cast<std::int64_t>(hours * 3.6e9);
    for (source_block block; block.spikes.empty() || block.spikes.back().time_us < end_us;) {
        block.spikes.clear();
        for (int i = 0; i < 1'000; ++i) {
            const auto [time, unit] = draw.next();
            block.spikes.push_back({time, unit});
        }
        live.take(block);
    }
    live.finish();
    return results.tallies;
}

void print(const char* what, std::uint64_t seed, std::span<const armed_tally> tallies) {
    double detected = 0, expected = 0;
    for (const armed_tally& one : tallies) {
        detected += static_cast<double>(one.detected);
        expected += one.expected;
    }
    const double width = sd_of_99_percent * std::sqrt(expected);
    fmt::print("{:>4} {:>8} {:>10.0f} {:>10.1f} {:>8.4f} {:>10.0f}-{:<10.0f} {}\n", seed, what,
               detected, expected, detected / expected, expected - width, expected + width,
               std::abs(detected - expected) <= width ? "inside" : "OUTSIDE");
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() != 5) {
        fmt::print("usage: false_alarms HOURS SEEDS SIZE HZ UNITS, such as 10 5 4 10 50\n");
        return 2;
    }
    const auto seeds = static_cast<std::uint64_t>(std::stoul(words[1]));
    fmt::print("{:>4} {:>8} {:>10} {:>10} {:>8} {:>21}\n", "seed", "armed", "detected", "expected",
               "ratio", "interval");
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const auto tallies =
            tallies_of(seed, std::stod(words[0]), std::stoul(words[2]), std::stod(words[3]),
                       static_cast<std::uint32_t>(std::stoul(words[4])));
        print("episodes", seed, std::span(tallies).first(episode_count));
        print("patterns", seed, std::span(tallies).subspan(episode_count));
    }
}
