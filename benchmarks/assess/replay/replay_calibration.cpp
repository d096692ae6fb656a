// Prints how often replay is found where there is none, and how often where it was planted
// (docs/algorithms/replay.md).
//
//   replay_calibration false RECORDINGS SHUFFLES THREADS [UNITS]
//   replay_calibration power RECORDINGS SHUFFLES THREADS [UNITS]
//
// A recording has ten units with lognormal rates (sd 0.7 of the logarithm) and 60 events of 250 ms,
// one every two seconds. Three chains of five units, with steps of 40 to 80 ms, are tested with the
// default scales. `false` prints the share of tests with p <= 0.05, and of recordings with a q
// below 0.05. `power` plants the first chain in a share of the events, compressed; each of its
// units takes part with 80 %, a spike each, moved by up to 0.5 ms or a twentieth of a step.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/parallel_for.hpp"
#include "spikeweave/assess/replay.hpp"
#include "spikeweave/core/error.hpp"

namespace {

using namespace spikeweave;
using namespace std::chrono_literals;

constexpr std::uint32_t unit_count = 10;
constexpr std::int64_t event_count = 60;
constexpr double period_s = 2;
constexpr double event_at_s = 1;
constexpr double event_s = 0.25;
constexpr double level = 0.05;
constexpr std::array<std::string_view, 4> kinds{"poisson", "modulated", "bursty", "regular"};

using timed_units = std::vector<std::pair<std::int64_t, unit_id>>;

// The factor of all rates: events rise at once and decay, unless the rate is constant.
double common_factor(std::string_view kind, double time_s) {
    if (kind == "poisson") return 3;
    const double since = std::fmod(time_s, period_s) - event_at_s;
    return since < 0 || since > event_s ? 0.5 : 10 * std::exp(-since / 0.12);
}

// The times of a unit in seconds, by thinning. Regular units have gamma intervals of order 10 in
// the time that their rate measures; bursty ones have two to five spikes, 3 to 8 ms apart.
std::vector<double> train(std::string_view kind, double hz, std::mt19937_64& random) {
    constexpr double resolution_s = 0.0005;
    std::exponential_distribution<double> exponential;
    std::gamma_distribution<double> regular(10, 0.1);
    std::uniform_real_distribution<double> gap(0.003, 0.008);
    const auto next = [&] { return kind == "regular" ? regular(random) : exponential(random); };
    const double rate = kind == "bursty" ? hz / 3.5 : hz;
    std::vector<double> out;
    double left = next() * std::uniform_real_distribution<double>()(random);
    for (double t = 0; t < event_count * period_s; t += resolution_s) {
        left -= rate * common_factor(kind, t) * resolution_s;
        if (left > 0) continue;
        left += next();
        out.push_back(t);
        if (kind != "bursty") continue;
        double at = t;
        for (std::uint64_t more = 1 + random() % 4; more > 0; --more)
            out.push_back(at += gap(random));
    }
    return out;
}

struct planting {
    double compression = 1;
    double participation = 0;
};

void plant(const episode& chain, const planting& how, timed_units& spikes,
           std::mt19937_64& random) {
    std::uniform_real_distribution<double> uniform;
    const double step_s = 0.06 * how.compression;
    const double jitter_s = std::max(0.001, step_s / 10);
    for (std::int64_t e = 0; e < event_count; ++e) {
        if (uniform(random) >= how.participation) continue;
        double at = static_cast<double>(e) * period_s + event_at_s + 0.005;
        for (const unit_id unit : chain.units) {
            if (uniform(random) < 0.8)
                spikes.emplace_back(std::llround((at + (uniform(random) - 0.5) * jitter_s) * 1e6),
                                    unit);
            at += step_s;
        }
    }
}

struct recording {
    spike_sequence spikes{};
    std::vector<episode> chains{};
    std::vector<time_span> events{};
};

recording make(std::string_view kind, const planting& how, std::uint32_t seed) {
    std::mt19937_64 random(seed);
    recording out;
    std::vector<unit_id> units;
    std::vector<std::string> names;
    for (std::uint32_t u = 0; u < unit_count; ++u) {
        units.push_back(unit_id{u});
        names.push_back(fmt::format("n{}", u));
    }
    for (int c = 0; c < 3; ++c) {
        std::ranges::shuffle(units, random);
        out.chains.push_back(
            {{units.begin(), units.begin() + 5}, std::vector<delay_interval>(4, {40ms, 80ms})});
    }
    for (std::int64_t e = 0; e < event_count; ++e) {
        const duration begin =
            duration_from_seconds(static_cast<double>(e) * period_s + event_at_s);
        out.events.push_back({begin, begin + duration_from_seconds(event_s)});
    }
    timed_units spikes;
    std::lognormal_distribution<double> rate(0, 0.7);
    for (std::uint32_t u = 0; u < unit_count; ++u)
        for (const double t : train(kind, rate(random), random))
            spikes.emplace_back(std::llround(t * 1e6), unit_id{u});
    plant(out.chains[0], how, spikes, random);
    std::ranges::sort(spikes);
    spikes.erase(std::unique(spikes.begin(), spikes.end()), spikes.end());
    out.spikes = sequence_of(std::move(spikes), std::move(names),
                             {0s, duration_from_seconds(event_count * period_s + 1)});
    return out;
}

struct outcome {
    std::array<double, 2> p{};       // shares of tests with p at most 0.05: counts, events
    std::array<double, 2> any{};     // whether a q is below 0.05
    std::array<double, 2> first{};   // whether that of the planted chain and direction is
    std::array<double, 2> others{};  // whether that of another one is
};

outcome look(const recording& what, replay_null null, std::uint32_t shuffles, std::uint32_t seed) {
    replay_options options{.null = null};
    options.surrogates.surrogates = shuffles;
    options.surrogates.seed = seed;
    const replay_scores scores =
        test_replay(what.spikes, what.chains, what.events, options, {.threads = 1});
    outcome out;
    for (std::size_t i = 0; i < scores.tests.size(); ++i) {
        const replay_test& test = scores.tests[i];
        const std::array<double, 2> p{test.p, test.events_p};
        const std::array<double, 2> q{test.q, test.events_q};
        for (std::size_t k = 0; k < 2; ++k) {
            out.p[k] += p[k] <= level ? 1.0 / static_cast<double>(scores.tests.size()) : 0;
            if (q[k] >= level) continue;
            out.any[k] = 1;
            (i == 0 ? out.first : out.others)[k] = 1;
        }
    }
    return out;
}

outcome mean_of(std::string_view kind, const planting& how, replay_null null,
                std::size_t recordings, std::uint32_t shuffles, int threads) {
    std::vector<outcome> all(recordings);
    parallel::parallel_for(recordings, {.threads = threads}, "measuring", [&](std::size_t i) {
        const auto seed = static_cast<std::uint32_t>(i);
        all[i] = look(make(kind, how, seed), null, shuffles, seed);
    });
    outcome mean;
    for (const outcome& one : all)
        for (const auto part : {&outcome::p, &outcome::any, &outcome::first, &outcome::others})
            for (std::size_t k = 0; k < 2; ++k)
                (mean.*part)[k] += (one.*part)[k] / static_cast<double>(recordings);
    return mean;
}

void print_false(std::size_t recordings, std::uint32_t shuffles, int threads,
                 std::string_view only) {
    fmt::print("units\tnull\tcounts: p <= 0.05\ta q < 0.05\tevents: p <= 0.05\ta q < 0.05\n");
    for (const std::string_view kind : kinds) {
        if (!only.empty() && kind != only) continue;
        for (const replay_null null : {replay_null::identities, replay_null::surrogates}) {
            const outcome mean = mean_of(kind, {}, null, recordings, shuffles, threads);
            fmt::print("{}\t{}\t{:.3f}\t{:.3f}\t{:.3f}\t{:.3f}\n", kind, to_string(null), mean.p[0],
                       mean.any[0], mean.p[1], mean.any[1]);
            std::fflush(stdout);
        }
    }
}

void print_power(std::size_t recordings, std::uint32_t shuffles, int threads,
                 std::string_view only) {
    fmt::print(
        "units\tcompression\tparticipation\tcounts: found\tanother\tevents: found\tanother one\n");
    for (const std::string_view kind : kinds)
        for (const double compression : {0.05, 0.1, 0.2, 0.5, 1.0})
            for (const double participation : {0.1, 0.2, 0.4}) {
                if (!only.empty() && kind != only) continue;
                const outcome mean =
                    mean_of(kind, {compression, participation}, replay_null::identities, recordings,
                            shuffles, threads);
                fmt::print("{}\t{}\t{}\t{:.2f}\t{:.2f}\t{:.2f}\t{:.2f}\n", kind, compression,
                           participation, mean.first[0], mean.others[0], mean.first[1],
                           mean.others[1]);
                std::fflush(stdout);
            }
}

int run(const std::vector<std::string>& words) {
    if (words.size() < 4 || words.size() > 5 || (words[0] != "false" && words[0] != "power"))
        throw invalid_argument("expected false|power RECORDINGS SHUFFLES THREADS [UNITS]");
    const std::size_t recordings = std::stoul(words[1]);
    const auto shuffles = static_cast<std::uint32_t>(std::stoul(words[2]));
    const int threads = std::stoi(words[3]);
    const std::string only = words.size() > 4 ? words[4] : "";
    (words[0] == "false" ? print_false : print_power)(recordings, shuffles, threads, only);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        fmt::print(stderr, "replay_calibration: {}\n", error.what());
        return 2;
    }
}
