// Prints how many planted connections the circuit has, and in how many recordings it has a false
// one, as in docs/algorithms/circuit.md; for excitation beside a plain test of correlograms.
//
//   circuit_power excitatory|inhibitory RECORDINGS THREADS [NULL|all [LENGTH_S [PROBABILITY...]]]
//
// Each recording is one of a null of `null_recordings` with seeds 0, 1, ... Connections are planted
// in five of its pairs of units: with this probability, a spike of the first is followed by one of
// the second after 4.2 to 5.8 ms, or a spike of the second within 1 to 4 ms after one of the first
// is removed. In the rows of probability 0 nothing is planted. The circuit is that of `spikeweave
// episodes` with nothing typed; its direct edges of the sign count. The plain test expects in each
// bin of 1 ms, from 1 to 6 ms, what a Gaussian of 10 ms over the correlogram gives, without 60 % of
// its middle (Stark and Abeles 2009, J. Neurosci. Methods 179:90), takes the least Poisson p of the
// bins, and corrects by Bonferroni for bins and pairs at the level of the circuit, 0.01.

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <cstdio>
#include <exception>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "null_recordings.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/assess/episodes/circuit.hpp"
#include "spikeweave/assess/episodes/correlogram.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace {

using namespace spikeweave;
using null_recordings::planted_pairs;

constexpr double alpha = 0.01;

bool is_planted(unit_id from, unit_id to) {
    const auto first = to_index(from);
    return first % 2 == 0 && first < 2 * planted_pairs && to_index(to) == first + 1;
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

    void add(unit_id from, unit_id to, bool with_planted) {
        ++(with_planted && is_planted(from, to) ? planted : wrong);
    }
};

found by_circuit(const spike_sequence& spikes, connection_sign sign, bool with_planted) {
    const execution alone{.threads = 1};
    const pair_tests pairs = test_pairs(spikes, default_delays(), {}, alone);
    found out;
    for (const circuit_edge& edge :
         find_circuit(spikes, {}, {}, pairs.pairs, circuit_options{}, alone).edges)
        if (edge.is_connection() && edge.sign == sign) out.add(edge.from, edge.to, with_planted);
    return out;
}

// Bins of 0.1 ms, so that the middle of the Gaussian is fine.
constexpr lag_bins fine{.width = duration{100}, .each_side = 500};
constexpr std::size_t bins_a_ms = 10;

double plain_p(const std::vector<std::uint64_t>& lags) {
    constexpr int reach = 400;
    std::vector<double> kernel;
    double whole = 0;
    for (int i = -reach; i <= reach; ++i) {
        const double hollow = std::abs(i) <= 10 ? 0.4 : 1;
        kernel.push_back(hollow * std::exp(-0.5 * std::pow(i / 100.0, 2)));
        whole += kernel.back();
    }
    double least = 1;
    constexpr std::size_t first_ms = 1;
    constexpr std::size_t end_ms = 6;
    for (std::size_t ms = first_ms; ms < end_ms; ++ms) {
        double count = 0;
        double expected = 0;
        for (std::size_t bin = 0; bin < bins_a_ms; ++bin) {
            const std::size_t at = fine.each_side + ms * bins_a_ms + bin;
            count += static_cast<double>(lags[at]);
            for (int i = -reach; i <= reach; ++i)
                expected += kernel[static_cast<std::size_t>(i + reach)] / whole *
                            static_cast<double>(lags[at + static_cast<std::size_t>(i + reach) -
                                                     static_cast<std::size_t>(reach)]);
        }
        if (count > 0 && expected > 0)
            least = std::min(least, boost::math::gamma_p(count, expected));
    }
    return least * static_cast<double>(end_ms - first_ms);
}

found by_plain_test(const spike_sequence& spikes, bool with_planted) {
    const auto units = static_cast<std::uint32_t>(spikes.unit_count());
    std::vector<lags_of_pair> pairs;
    for (std::uint32_t from = 0; from < units; ++from)
        for (std::uint32_t to = 0; to < units; ++to)
            if (from != to) pairs.push_back({unit_id{from}, unit_id{to}, fine});
    const auto lags = cross_correlograms(spikes, pairs, {.threads = 1});
    found out;
    for (std::size_t i = 0; i < pairs.size(); ++i)
        if (plain_p(lags[i]) * static_cast<double>(pairs.size()) < alpha)
            out.add(pairs[i].from, pairs[i].to, with_planted);
    return out;
}

struct measured {
    found circuit{};
    found plain{};
};

spike_sequence recording(std::string_view name, connection_sign sign, std::int64_t length_s,
                         double probability, std::uint32_t seed) {
    const spike_sequence null = null_recordings::make(name, length_s, seed);
    return sign == connection_sign::excitatory
               ? null_recordings::with_connections(null, probability, seed)
               : with_inhibition(null, probability, seed);
}

std::string cells(const std::vector<measured>& all, found measured::*by) {
    std::size_t planted = 0;
    std::size_t with_false = 0;
    for (const measured& one : all) {
        planted += (one.*by).planted;
        with_false += (one.*by).wrong > 0 ? 1 : 0;
    }
    return fmt::format(
        "\t{:.3f}\t{}",
        static_cast<double>(planted) / static_cast<double>(planted_pairs * all.size()), with_false);
}

void measure(std::string_view name, connection_sign sign, std::int64_t length_s, double probability,
             std::size_t recordings, int threads) {
    const bool beside_plain_test = sign == connection_sign::excitatory;
    std::vector<measured> all(recordings);
    parallel::parallel_for(recordings, {.threads = threads}, "measuring", [&](std::size_t i) {
        const spike_sequence spikes =
            recording(name, sign, length_s, probability, static_cast<std::uint32_t>(i));
        all[i].circuit = by_circuit(spikes, sign, probability > 0);
        if (beside_plain_test) all[i].plain = by_plain_test(spikes, probability > 0);
    });
    fmt::print("{}\t{}\t{}\t{}{}{}\n", name, length_s, recordings, probability,
               cells(all, &measured::circuit),
               beside_plain_test ? cells(all, &measured::plain) : "");
    std::fflush(stdout);
}

int run(const std::vector<std::string>& arguments) {
    const auto sign = std::ranges::find_if(connection_signs, [&](connection_sign one) {
        return !arguments.empty() && to_string(one) == arguments[0];
    });
    if (arguments.size() < 3 || sign == connection_signs.end())
        throw invalid_argument(
            "expected excitatory|inhibitory RECORDINGS THREADS [NULL|all [LENGTH_S "
            "[PROBABILITY...]]]");
    const std::string name = arguments.size() > 3 ? arguments[3] : "all";
    const std::int64_t length_s = arguments.size() > 4 ? std::stol(arguments[4]) : 300;
    std::vector<double> probabilities{0, 0.02, 0.03, 0.05};
    if (*sign == connection_sign::inhibitory) probabilities = {0, 0.3, 0.5, 0.8};
    if (arguments.size() > 5) probabilities.clear();
    for (std::size_t i = 5; i < arguments.size(); ++i)
        probabilities.push_back(std::stod(arguments[i]));
    fmt::print("null\tseconds\trecordings\tprobability\tcircuit: found\twith a false one{}\n",
               *sign == connection_sign::excitatory ? "\tplain test: found\twith a false one" : "");
    for (const null_recordings::null& null : null_recordings::all())
        if (name == "all" ? null.name != "wide" : null.name == name)
            for (const double probability : probabilities)
                measure(null.name, *sign, length_s, probability, std::stoul(arguments[1]),
                        std::stoi(arguments[2]));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        fmt::print(stderr, "circuit_power: {}\n", error.what());
        return 2;
    }
}
