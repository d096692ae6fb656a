// Prints a table of false positives and power of SPADE on simulated data, as in
// docs/algorithms/spade-in-practice.md.
//
//   spade_calibration null  REPETITIONS SURROGATES THREADS   no pattern, each rate profile
//   spade_calibration surrogates REPETITIONS SURROGATES THREADS   no pattern, fast units
//   spade_calibration power REPETITIONS SURROGATES THREADS   5 spikes, 8 times, each rate profile
//   spade_calibration map   REPETITIONS SURROGATES THREADS   sizes 2 to 10, 3 to 10 occurrences

#include "support/spade_calibration.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/parallel_for.hpp"
#include "spikeweave/core/error.hpp"

namespace {

using namespace spikeweave;
using namespace spade_calibration;
using namespace std::chrono_literals;

struct setting {
    std::string name{};
    patterns_options data{};
    surrogate_options surrogates{};
    protocol as{};
};

setting make_setting(std::string name, patterns_options data) {
    data.length = 1s;
    return {.name = std::move(name),
            .data = std::move(data),
            .surrogates = {.method = surrogate_method::dither_spikes_with_refractory_period,
                           .dither = 5ms}};
}

constexpr rate_profile profiles[] = {rate_profile::constant, rate_profile::spread,
                                     rate_profile::steps, rate_profile::wave};

std::vector<setting> null_settings() {
    std::vector<setting> out;
    for (const rate_profile rates : profiles)
        out.push_back(
            make_setting(fmt::format("{}\t-", to_string(rates)), {.patterns = {}, .rates = rates}));
    return out;
}

// Units with high rates in bins in which dithered spikes often meet.
std::vector<setting> surrogate_settings() {
    struct process {
        std::string_view name;
        std::uint32_t gamma_order;
        duration dead_time;
    };
    std::vector<setting> out;
    for (const process& p : {process{"Poisson", 1, 0ms}, process{"dead time 5 ms", 1, 5ms},
                             process{"gamma 3", 3, 0ms}})
        for (const surrogate_method method :
             {surrogate_method::dither_spikes,
              surrogate_method::dither_spikes_with_refractory_period,
              surrogate_method::bin_shuffling, surrogate_method::trial_shifting}) {
            const patterns_options data{.units = 20,
                                        .length = 10s,
                                        .patterns = {},
                                        .rate_hz = 40,
                                        .gamma_order = p.gamma_order,
                                        .dead_time = p.dead_time};
            surrogate_options surrogates{.method = method, .dither = 25ms};
            surrogates.trials = regular_trials({0us, data.length}, 500ms, 0ms);
            out.push_back({.name = fmt::format("{}\t{}", p.name, to_string(method)),
                           .data = data,
                           .surrogates = surrogates,
                           .as = {.bin = 5ms, .window_bins = 12, .min_occ = 85}});
        }
    return out;
}

std::vector<setting> power_settings() {
    std::vector<setting> out;
    for (const rate_profile rates : profiles)
        out.push_back(make_setting(fmt::format("{}\t5 x 8", to_string(rates)),
                                   {.patterns = {5}, .occurrences = 8, .rates = rates}));
    return out;
}

std::vector<setting> map_settings() {
    std::vector<setting> out;
    for (std::uint32_t size = 2; size <= 10; ++size)
        for (std::uint32_t occurrences = 3; occurrences <= 10; ++occurrences)
            out.push_back(make_setting(fmt::format("{}\t{}", size, occurrences),
                                       {.patterns = {size}, .occurrences = occurrences}));
    return out;
}

void measure(const setting& what, std::size_t repetitions, std::uint32_t surrogates, int threads) {
    std::vector<result> results(repetitions);
    parallel::parallel_for(repetitions, {.threads = threads}, "calibrating", [&](std::size_t i) {
        patterns_options data = what.data;
        surrogate_options how = what.surrogates;
        data.seed = i;
        how.seed = i;
        how.surrogates = surrogates;
        results[i] = run(data, how, what.as);
    });
    const auto n = static_cast<double>(repetitions);
    double mined = 0;
    for (const result& r : results) mined += static_cast<double>(r.mined) / n;
    std::string line = fmt::format("{}\t{:.0f}", what.name, mined);
    for (std::size_t w = 0; w < spectrum_cases.size(); ++w) {
        double tested = 0;
        double significant = 0;
        double reduced = 0;
        double any = 0;
        double found = 0;
        for (const result& r : results) {
            const outcome& o = r.outcomes[w];
            tested += static_cast<double>(o.tested) / n;
            significant += static_cast<double>(o.significant) / n;
            reduced += static_cast<double>(o.reduced) / n;
            any += (o.reduced > (o.found ? 1U : 0U) ? 1 : 0) / n;
            found += (o.found ? 1 : 0) / n;
        }
        line += fmt::format("\t{:.1f}\t{:.2f}\t{:.2f}\t{:.2f}\t{:.2f}", tested, significant,
                            reduced, any, found);
    }
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

int calibrate(const std::vector<std::string>& arguments) {
    if (arguments.size() != 4)
        throw invalid_argument("expected TABLE REPETITIONS SURROGATES THREADS");
    std::vector<setting> settings;
    if (arguments[0] == "null") settings = null_settings();
    if (arguments[0] == "surrogates") settings = surrogate_settings();
    if (arguments[0] == "power") settings = power_settings();
    if (arguments[0] == "map") settings = map_settings();
    if (settings.empty()) throw invalid_argument("the table is null, surrogates, power or map");
    fmt::print("setting\tvariant\tmined");
    for (const spectrum_case& w : spectrum_cases) {
        const std::string name =
            fmt::format("{}{}", to_string(w.kind), w.compat == compatibility::elephant ? "E" : "");
        fmt::print("\t{0} tested\t{0} significant\t{0} reduced\t{0} any false\t{0} found", name);
    }
    fmt::print("\n");
    for (const setting& what : settings)
        measure(what, std::stoul(arguments[1]),
                static_cast<std::uint32_t>(std::stoul(arguments[2])), std::stoi(arguments[3]));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return calibrate({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        fmt::print(stderr, "spade_calibration: {}\n", error.what());
        return 2;
    }
}
