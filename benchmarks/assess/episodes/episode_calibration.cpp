// Prints a table of how often episodes show a connection where there is none, as in
// docs/algorithms/significance.md.
//
//   episode_calibration RECORDINGS SURROGATES MAX_SIZE THREADS [PART [LENGTH_S...]]
//
// PART is NULL|all[/UNITS][@EPOCH:GAP|@BEFORE..AFTER], as `analysed_part` reads it. NULL may also
// be one of `ordered_nulls`, of which the result has to warn that most pairs are related.
//
// For each null hypothesis, RECORDINGS recordings with seeds 0, 1, ... are mined with all defaults
// except the largest size, and tested by the default and by surrogates. A recording counts once,
// however many edges it has. With 0 surrogates this half of the table is left out. FROM:TO as
// RECORDINGS takes the seeds from FROM up to but not including TO, so that a row can be measured
// in parts.

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <exception>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysed_part.hpp"
#include "null_recordings.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/assess/episodes.hpp"
#include "spikeweave/core/error.hpp"

namespace {

using namespace spikeweave;
using null_recordings::analysed_part;
using null_recordings::seed_range;
using null_recordings::seeds_of;

struct tally {
    std::size_t recordings = 0;  // recordings with an edge
    std::size_t edges = 0;
    std::size_t longer = 0;  // recordings with a significant episode of three units
    std::size_t warned = 0;  // recordings with the warning that many pairs are related
};

struct found {
    std::size_t edges = 0;
    bool longer = false;
    bool warned = false;
};

found look(const spike_sequence& spikes, episode_table table, const choice_of_pairs& pairs,
           std::uint32_t surrogates, std::uint64_t seed) {
    const episode_test_result findings = test_episodes(
        spikes, table, pairs, {}, {.surrogates = surrogates, .seed = seed}, {.threads = 1});
    const std::vector<episode_test> judged =
        surrogates > 0 ? with_surrogate_tests(findings.assessed, findings.surrogates)
                       : findings.assessed;
    found out{.edges = findings.circuit.edges.size()};
    for (const std::string& warning : findings.warnings)
        if (warning.find("related within milliseconds") != std::string::npos) out.warned = true;
    for (std::size_t i = 0; i < judged.size(); ++i)
        if (table.episodes[i].what.size() > 2 && judged[i].q < significance_options{}.alpha)
            out.longer = true;
    return out;
}

void add(const found& one, tally& to) {
    to.recordings += one.edges > 0 ? 1 : 0;
    to.edges += one.edges;
    to.longer += one.longer ? 1 : 0;
    to.warned += one.warned ? 1 : 0;
}

std::string cells(const tally& of, std::size_t recordings) {
    return fmt::format("\t{}\t{:.2f}\t{}\t{}", of.recordings,
                       static_cast<double>(of.edges) / static_cast<double>(recordings), of.longer,
                       of.warned);
}

void measure(const null_recordings::null& what, const analysed_part& part, std::int64_t length_s,
             const seed_range& seeds, std::uint32_t surrogates, std::size_t max_size, int threads) {
    const std::size_t recordings = seeds.count;
    std::vector<found> by_default(recordings);
    std::vector<found> tested(recordings);
    std::atomic<std::size_t> spikes_in_all = 0;
    parallel::parallel_for(recordings, {.threads = threads}, "calibrating", [&](std::size_t i) {
        const auto seed = static_cast<std::uint32_t>(seeds.first + i);
        const spike_sequence spikes =
            part.of(null_recordings::make(what.name, length_s, seed), seed);
        spikes_in_all += spikes.size();
        const episode_table table =
            mine_episodes(spikes, {.delays = what.delays, .max_size = max_size}, {.threads = 1});
        const choice_of_pairs pairs{.delays = what.delays};
        by_default[i] = look(spikes, table, pairs, 0, 0);
        if (surrogates > 0) tested[i] = look(spikes, table, pairs, surrogates, seed);
    });
    tally first;
    tally second;
    for (std::size_t i = 0; i < recordings; ++i) {
        add(by_default[i], first);
        add(tested[i], second);
    }
    fmt::print("{}\t{}\t{}\t{}{}{}\n", what.name, length_s, recordings, spikes_in_all / recordings,
               cells(first, recordings), surrogates > 0 ? cells(second, recordings) : "");
    std::fflush(stdout);
}

int calibrate(const std::vector<std::string>& arguments) {
    if (arguments.size() < 4)
        throw invalid_argument(
            "expected RECORDINGS SURROGATES MAX_SIZE THREADS "
            "[NULL|all[/UNITS][@EPOCH:GAP|@BEFORE..AFTER] [LENGTH_S...]]");
    const seed_range seeds = seeds_of(arguments[0]);
    const auto surrogates = static_cast<std::uint32_t>(std::stoul(arguments[1]));
    const std::size_t max_size = std::stoul(arguments[2]);
    const int threads = std::stoi(arguments[3]);
    const analysed_part part(arguments.size() > 4 ? arguments[4] : "all");
    std::vector<std::int64_t> lengths{60, 600, 3600};
    if (arguments.size() > 5) {
        lengths.clear();
        for (std::size_t i = 5; i < arguments.size(); ++i)
            lengths.push_back(std::stol(arguments[i]));
    }
    fmt::print(
        "null\tseconds\trecordings\tspikes\twith an edge\tedges\twith a longer one"
        "\twarned of order");
    fmt::print("{}\n", surrogates > 0 ? "\twith an edge (surrogates)\tedges\twith a longer one"
                                        "\twarned of order"
                                      : "");
    std::vector<null_recordings::null> nulls = null_recordings::all();
    if (part.null != "all")
        for (const std::string_view name : null_recordings::ordered_nulls)
            nulls.push_back({name, default_delays()});
    for (const std::int64_t length_s : lengths)
        for (const null_recordings::null& what : nulls)
            if (part.null == "all" || part.null == what.name)
                measure(what, part, length_s, seeds, surrogates, max_size, threads);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return calibrate({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        fmt::print(stderr, "episode_calibration: {}\n", error.what());
        return 2;
    }
}
