// Prints a table of how often episodes show a connection where there is none, as in
// docs/algorithms/significance.md.
//
//   episode_calibration RECORDINGS SURROGATES MAX_SIZE THREADS [WHAT [LENGTH_S...]]
//
// WHAT is NULL|all[/UNITS][@EPOCH:GAP|@BEFORE..AFTER].
//
// For each null hypothesis, RECORDINGS recordings with seeds 0, 1, ... are mined with all defaults
// except the largest size, and tested by the default and by surrogates. A recording counts once,
// however many edges it has. With 0 surrogates this half of the table is left out. FROM:TO as
// RECORDINGS takes the seeds from FROM up to but not including TO, so that a row can be measured
// in parts. With /2, each two units are taken as one, as by `--groups`. With @400ms:100ms, only
// epochs of 400 ms are analysed, with gaps of 100 ms; with @100ms..400ms, those from 100 ms before
// to 400 ms after events, as by `--around`, of which there is one a second on average.

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <exception>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "null_recordings.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/assess/episodes.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/epochs.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "spikeweave/spikes/unit_groups.hpp"

namespace {

using namespace spikeweave;
using null_recordings::seed_range;
using null_recordings::seeds_of;

struct tally {
    std::size_t recordings = 0;  // recordings with an edge
    std::size_t edges = 0;
    std::size_t longer = 0;  // recordings with a significant episode of three units
};

struct found {
    std::size_t edges = 0;
    bool longer = false;
};

found look(const spike_sequence& spikes, const episode_table& table, std::uint32_t surrogates,
           std::uint64_t seed) {
    const episode_test_result findings =
        test_episodes(spikes, table, {}, {.surrogates = surrogates, .seed = seed}, {.threads = 1});
    const std::vector<episode_test> judged =
        surrogates > 0 ? with_surrogate_tests(findings.assessed, findings.surrogates)
                       : findings.assessed;
    found out{findings.circuit.edges.size(), false};
    for (std::size_t i = 0; i < judged.size(); ++i)
        if (table.episodes[i].what.size() > 2 && judged[i].q < significance_options{}.alpha)
            out.longer = true;
    return out;
}

void add(const found& one, tally& to) {
    to.recordings += one.edges > 0 ? 1 : 0;
    to.edges += one.edges;
    to.longer += one.longer ? 1 : 0;
}

std::string cells(const tally& of, std::size_t recordings) {
    return fmt::format("\t{}\t{:.2f}\t{}", of.recordings,
                       static_cast<double>(of.edges) / static_cast<double>(recordings), of.longer);
}

// The nulls to measure, and what of each recording is analysed, and how.
struct chosen_nulls {
    explicit chosen_nulls(const std::string& text)
        : name(text.substr(0, text.find_first_of("/@"))) {
        const std::size_t at = text.find('@');
        if (text.size() > name.size() && text[name.size()] == '/')
            units_of_group = std::stoul(text.substr(name.size() + 1, at));
        if (at == std::string::npos) return;
        const std::string times = text.substr(at + 1);
        const std::size_t dots = times.find("..");
        const std::size_t colon = times.find(':');
        if (dots != std::string::npos) {
            before = parse_duration(times.substr(0, dots));
            after = parse_duration(times.substr(dots + 2));
        } else if (colon != std::string::npos) {
            time.trial_length = parse_duration(times.substr(0, colon));
            time.trial_separation = parse_duration(times.substr(colon + 1));
        } else {
            throw invalid_argument(fmt::format(
                "'{}' is neither EPOCH:GAP, such as 400ms:100ms, nor BEFORE..AFTER", times));
        }
    }

    // Takes the units of a recording together, and cuts it.
    spike_sequence prepared(spike_sequence spikes, std::uint32_t seed) const {
        if (units_of_group > 1) spikes = in_groups(spikes);
        epoch_options how = time;
        if (after > duration{0}) how.epochs = epochs_around(events(spikes, seed), -before, after);
        chosen_time part = choose_time(spikes, how);
        return part.spikes ? std::move(*part.spikes) : std::move(spikes);
    }

    std::string name;
    std::size_t units_of_group = 1;
    epoch_options time{};
    duration before{0};
    duration after{0};

private:
    spike_sequence in_groups(const spike_sequence& spikes) const {
        unit_groups groups;
        for (std::size_t u = 0; u < spikes.unit_count(); ++u)
            groups[spikes.unit_names()[u]] = fmt::format("group {}", u / units_of_group);
        return group_units(spikes, groups).spikes;
    }

    std::vector<std::int64_t> events(const spike_sequence& spikes, std::uint32_t seed) const {
        std::mt19937_64 random(seed);
        std::exponential_distribution<double> gap(1);
        std::vector<std::int64_t> out;
        for (double t = gap(random);; t += gap(random)) {
            const duration at = duration_from_seconds(t);
            if (at + after > spikes.span().end) return out;
            if (at > before) out.push_back(at.count());
        }
    }
};

void measure(const null_recordings::null& what, const chosen_nulls& chosen, std::int64_t length_s,
             const seed_range& seeds, std::uint32_t surrogates, std::size_t max_size, int threads) {
    const std::size_t recordings = seeds.count;
    std::vector<found> by_default(recordings);
    std::vector<found> tested(recordings);
    std::atomic<std::size_t> spikes_in_all = 0;
    parallel::parallel_for(recordings, {.threads = threads}, "calibrating", [&](std::size_t i) {
        const auto seed = static_cast<std::uint32_t>(seeds.first + i);
        const spike_sequence spikes =
            chosen.prepared(null_recordings::make(what.name, length_s, seed), seed);
        spikes_in_all += spikes.size();
        const episode_table table =
            mine_episodes(spikes, {.delays = what.delays, .max_size = max_size}, {.threads = 1});
        by_default[i] = look(spikes, table, 0, 0);
        if (surrogates > 0) tested[i] = look(spikes, table, surrogates, seed);
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
    const chosen_nulls chosen(arguments.size() > 4 ? arguments[4] : "all");
    std::vector<std::int64_t> lengths{60, 600, 3600};
    if (arguments.size() > 5) {
        lengths.clear();
        for (std::size_t i = 5; i < arguments.size(); ++i)
            lengths.push_back(std::stol(arguments[i]));
    }
    fmt::print("null\tseconds\trecordings\tspikes\twith an edge\tedges\twith a longer one");
    fmt::print("{}\n",
               surrogates > 0 ? "\twith an edge (surrogates)\tedges\twith a longer one" : "");
    for (const std::int64_t length_s : lengths)
        for (const null_recordings::null& what : null_recordings::all())
            if (chosen.name == "all" || chosen.name == what.name)
                measure(what, chosen, length_s, seeds, surrogates, max_size, threads);
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
