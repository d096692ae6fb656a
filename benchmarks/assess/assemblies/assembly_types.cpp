// Prints how often CAD, SPADE and episodes find the five types of assemblies of Russo and
// Durstewitz (2017), and how often they find something where nothing was planted
// (docs/algorithms/assemblies.md).
//
//   assembly_types RECORDINGS NULLS SURROGATES THREADS [METHOD [ROW]]
//
// A recording has 20 units and 300 s. Types are planted in units of 5 Hz, in five of them, which
// are drawn anew in each recording; NULLS recordings of each of four nulls of `null_recordings`
// have nothing planted. METHOD is one of those that the table names, and ROW one of its rows;
// without them, all are measured.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "episodes/null_recordings.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/assemblies.hpp"
#include "spikeweave/pipeline/episodes.hpp"
#include "spikeweave/pipeline/spade.hpp"

namespace {

using namespace spikeweave;
using namespace std::chrono_literals;

constexpr std::int64_t length_s = 300;
constexpr std::size_t planted_units = 5;
constexpr std::array<std::string_view, 4> nulls{"poisson", "slow", "own-bursts", "gamma"};

/// The way in which an assembly is active. Times are in seconds.
struct kind {
    std::string_view name;
    double hz;      ///< activations
    double step;    ///< from one unit to the next
    double width;   ///< spikes of a unit are in an interval of this length
    double spikes;  ///< of a unit: the probability of one, or the mean number
    bool is_rate;   ///< whether the number is Poisson
};
constexpr std::array<kind, 5> kinds{{
    {"I synchronous", 0.5, 0, 0.002, 0.8, false},
    {"II sequence", 0.5, 0.01, 0.002, 0.8, false},
    {"III loose sequence", 0.5, 0.03, 0.02, 0.8, false},
    {"IV rates in turn", 0.25, 0.2, 0.2, 4, true},
    {"V rates together", 0.25, 0, 0.4, 4, true},
}};

/// Units that were found together.
using finding = std::vector<unit_id>;

struct method {
    std::string_view name;
    std::function<std::vector<finding>(const spike_sequence&, std::uint32_t seed)> look;
};

struct planted_recording {
    spike_sequence spikes{};
    finding units{};
};

// Half of the spikes of a null, so that units fire at 5 Hz on average.
spike_sequence background(std::string_view null, std::uint32_t seed) {
    return null_recordings::thinned(null_recordings::make(null, length_s, seed), 0.5, seed);
}

planted_recording plant(const kind& what, std::uint32_t seed) {
    const spike_sequence null = background("poisson", seed);
    std::mt19937_64 random(seed);
    std::vector<std::pair<std::int64_t, unit_id>> spikes;
    for (std::size_t i = 0; i < null.size(); ++i)
        spikes.emplace_back(null.times_us()[i], null.units()[i]);
    finding units;
    for (std::uint32_t u = 0; u < null.unit_count(); ++u) units.push_back(unit_id{u});
    std::ranges::shuffle(units, random);
    units.resize(planted_units);
    std::uniform_real_distribution<double> uniform;
    std::exponential_distribution<double> gap(what.hz);
    std::poisson_distribution<int> number(what.spikes);
    const auto last = static_cast<double>(length_s) - 2;
    for (double at = gap(random); at < last; at += gap(random))
        for (std::size_t place = 0; place < units.size(); ++place) {
            const int count = what.is_rate ? number(random) : uniform(random) < what.spikes ? 1 : 0;
            for (int n = 0; n < count; ++n)
                spikes.emplace_back(
                    std::llround(1e6 * (at + static_cast<double>(place) * what.step +
                                        uniform(random) * what.width)),
                    units[place]);
        }
    std::ranges::sort(spikes);
    spikes.erase(std::unique(spikes.begin(), spikes.end()), spikes.end());
    std::ranges::sort(units);
    return {sequence_of(std::move(spikes), null.unit_names(), null.span()), std::move(units)};
}

std::vector<finding> by_assemblies(const spike_sequence& spikes, assembly_options search) {
    std::vector<finding> out;
    const auto found =
        find_assemblies(spikes, {.search = std::move(search), .run = {.threads = 1}}).found;
    for (const assembly& one : found.assemblies) out.push_back(one.units);
    return out;
}

std::vector<finding> by_spade(const spike_sequence& spikes, std::uint32_t surrogates,
                              std::uint32_t seed) {
    spade_options options{.alpha = 0.05, .run = {.threads = 1, .devices = std::vector<int>{}}};
    options.surrogates.surrogates = surrogates;
    options.surrogates.seed = seed;
    const spade_result result = run_spade(spikes, options);
    std::vector<finding> out;
    for (std::size_t i = 0; i < result.table.size(); ++i) {
        finding& one = out.emplace_back();
        for (const pattern_item item : result.table.pattern(i))
            one.push_back(result.table.unit(item));
    }
    return out;
}

std::vector<finding> by_episodes(const spike_sequence& spikes, std::vector<delay_interval> delays) {
    const episode_options options{.mining = {.delays = std::move(delays), .max_size = 2},
                                  .run = {.threads = 1, .devices = std::vector<int>{}}};
    std::vector<finding> out;
    for (const circuit_edge& edge : find_episodes(spikes, options).circuit.edges)
        out.push_back({edge.from, edge.to});
    return out;
}

std::vector<method> all_methods(std::uint32_t surrogates) {
    const std::vector<delay_interval> wide{
        {0ms, 20ms}, {20ms, 40ms}, {40ms, 60ms}, {60ms, 80ms}, {80ms, 100ms}};
    return {
        {"CAD", [](const auto& spikes, auto) { return by_assemblies(spikes, {}); }},
        {"CAD-25ms",
         [](const auto& spikes, auto) {
             return by_assemblies(spikes, {.bins = {5ms, 10ms, 25ms}});
         }},
        {"SPADE",
         [=](const auto& spikes, auto seed) { return by_spade(spikes, surrogates, seed); }},
        {"episodes",
         [](const auto& spikes, auto) { return by_episodes(spikes, default_delays()); }},
        {"episodes-100ms", [=](const auto& spikes, auto) { return by_episodes(spikes, wide); }}};
}

struct outcome {
    bool any = false;      // something was found
    bool found = false;    // two planted units or more, and no other
    bool foreign = false;  // a finding with another unit
    double share = 0;      // of the planted units in findings without another one
    double seconds = 0;
};

outcome judge(const std::vector<finding>& all, const finding& planted) {
    outcome out{.any = !all.empty()};
    finding seen;
    for (finding one : all) {
        std::ranges::sort(one);
        one.erase(std::unique(one.begin(), one.end()), one.end());
        const bool is_planted = std::ranges::includes(planted, one);
        out.foreign = out.foreign || !is_planted;
        if (!is_planted || one.size() < 2) continue;
        out.found = true;
        seen.insert(seen.end(), one.begin(), one.end());
    }
    std::ranges::sort(seen);
    const auto distinct = std::unique(seen.begin(), seen.end()) - seen.begin();
    out.share = static_cast<double>(distinct) / planted_units;
    return out;
}

void print_row(std::string_view what, const method& how, std::size_t recordings, int threads,
               const std::function<planted_recording(std::uint32_t)>& make) {
    std::vector<outcome> all(recordings);
    parallel::parallel_for(recordings, {.threads = threads}, "measuring", [&](std::size_t i) {
        const auto seed = static_cast<std::uint32_t>(i);
        const planted_recording recording = make(seed);
        const auto began = std::chrono::steady_clock::now();
        const std::vector<finding> found = how.look(recording.spikes, seed);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
        all[i] = judge(found, recording.units);
        all[i].seconds = took.count();
    });
    outcome sum;
    std::array<std::size_t, 3> counts{};
    for (const outcome& one : all) {
        counts[0] += one.any;
        counts[1] += one.found;
        counts[2] += one.foreign;
        sum.share += one.share;
        sum.seconds += one.seconds;
    }
    const auto n = static_cast<double>(recordings);
    fmt::print("{}\t{}\t{}\t{}\t{}\t{:.2f}\t{}\t{:.3f}\n", what, how.name, recordings, counts[0],
               counts[1], sum.share / n, counts[2], sum.seconds / n);
    std::fflush(stdout);
}

int run(const std::vector<std::string>& words) {
    if (words.size() < 4 || words.size() > 6)
        throw invalid_argument("expected RECORDINGS NULLS SURROGATES THREADS [METHOD [ROW]]");
    const std::size_t recordings = std::stoul(words[0]);
    const std::size_t null_recordings_each = std::stoul(words[1]);
    const int threads = std::stoi(words[3]);
    fmt::print(
        "recordings\tmethod\tnumber\twith a finding\tfound\tunits found\twith another unit\t"
        "seconds\n");
    for (const method& how : all_methods(static_cast<std::uint32_t>(std::stoul(words[2])))) {
        if (words.size() > 4 && words[4] != how.name) continue;
        const auto is_wanted = [&](std::string_view row) {
            return words.size() < 6 || words[5] == row;
        };
        for (const kind& what : kinds)
            if (is_wanted(what.name))
                print_row(what.name, how, recordings, threads,
                          [&](std::uint32_t seed) { return plant(what, seed); });
        for (const std::string_view null : nulls)
            if (is_wanted(null))
                print_row(null, how, null_recordings_each, threads, [&](std::uint32_t seed) {
                    return planted_recording{background(null, seed), {}};
                });
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        fmt::print(stderr, "assembly_types: {}\n", error.what());
        return 2;
    }
}
