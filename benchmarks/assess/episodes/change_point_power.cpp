// Prints how often `find_circuit_changes` finds a change where there is none, and how often one
// that was planted; docs/algorithms/change-points.md has the tables.
//
//   change_point_power RECORDINGS|FROM:TO THREADS [NULL|all [WINDOWS [WINDOW_S [ROWS|FROM:TO]]]]
//
// Each recording is of a null of `null_recordings`, with five connections (`with_connections`). In
// the second half of the windows so many of them have another strength; in the rows with other
// rates, two thirds of the spikes of the first half are kept before the connections are added. All
// defaults are used, except a largest size of 2. FROM:TO are the seeds, without TO. In the first
// three rows the connections stay as they are; with ROWS only so many rows are measured, or those
// FROM:TO of 0:8.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "null_recordings.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/episodes/changes.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace {

using namespace spikeweave;
using null_recordings::pair_strengths;
using null_recordings::planted_pairs;
using null_recordings::seed_range;

constexpr std::array<std::string_view, 4> usual_nulls{"poisson", "slow", "own-bursts", "gamma"};

struct row {
    double before;
    double after;
    std::size_t changed;  ///< of the connections; the others keep the strength `before`
    double kept;          ///< of the spikes of the first half
};
constexpr std::array<row, 8> rows{{{0, 0, 0, 1},
                                   {0.06, 0.06, 0, 1},
                                   {0.06, 0.06, 0, 2.0 / 3},
                                   {0.06, 0.075, 5, 1},
                                   {0.06, 0.09, 5, 1},
                                   {0.06, 0.09, 5, 2.0 / 3},
                                   {0.06, 0.12, 1, 1},
                                   {0, 0.06, 5, 1}}};

struct plan {
    std::string_view null;
    std::size_t windows;
    std::int64_t window_s;
    seed_range rows;
};

// The findings in a recording, or in all of them.
struct outcome {
    std::size_t with_findings = 0;
    std::size_t rates = 0;    ///< recordings with a change of the firing rates
    std::size_t circuit = 0;  ///< and of the circuit
    std::size_t near = 0;     ///< of these, the clearest one at most a window from the truth
    std::size_t several = 0;  ///< recordings with several changes of the circuit
    std::size_t planted = 0;  ///< connections that were found
    std::size_t changed = 0;  ///< of these, those that change
    std::size_t changed_found = 0;
    std::size_t others = 0;  ///< findings that do not change
    std::size_t others_found = 0;

    void add(const outcome& one) {
        for (const auto member :
             {&outcome::with_findings, &outcome::rates, &outcome::circuit, &outcome::near,
              &outcome::several, &outcome::planted, &outcome::changed, &outcome::changed_found,
              &outcome::others, &outcome::others_found})
            this->*member += one.*member;
    }
};

spike_sequence recording_of(const plan& how, const row& what, std::uint32_t seed) {
    using namespace null_recordings;
    const auto length_s = static_cast<std::int64_t>(how.windows) * how.window_s;
    const duration end = std::chrono::seconds{length_s};
    const duration half =
        std::chrono::seconds{static_cast<std::int64_t>(how.windows / 2) * how.window_s};
    const spike_sequence null = make(how.null, length_s, seed);
    spike_sequence first = within_span(null, {duration{0}, half - duration{1}});
    if (what.kept < 1) first = thinned(first, what.kept, seed);
    pair_strengths before{};
    before.fill(what.before);
    pair_strengths after = before;
    std::fill_n(after.begin(), what.changed, what.after);
    return joined(with_connections(first, before, 2 * seed),
                  with_connections(within_span(null, {half, end}), after, 2 * seed + 1));
}

// The number of a planted connection, or that of all if this is none.
std::size_t planted_by(const episode& what) {
    const auto from = to_index(what.units[0]);
    const bool is_planted =
        from % 2 == 0 && from < 2 * planted_pairs && to_index(what.units[1]) == from + 1;
    return is_planted ? from / 2 : planted_pairs;
}

outcome look(const plan& how, const row& what, std::uint32_t seed) {
    std::vector<time_span> windows;
    for (std::size_t w = 0; w < how.windows; ++w) {
        const duration length = std::chrono::seconds{how.window_s};
        windows.push_back(
            {static_cast<std::int64_t>(w) * length, static_cast<std::int64_t>(w + 1) * length});
    }
    const episode_options search{.mining = {.delays = default_delays(), .max_size = 2},
                                 .run = {.threads = 1, .devices = std::vector<int>{}}};
    const circuit_changes found =
        find_circuit_changes(recording_of(how, what, seed), windows, search, {.seed = seed});
    outcome out{.with_findings = found.findings.empty() ? 0U : 1U,
                .rates = found.firing_rates.found.empty() ? 0U : 1U,
                .several = found.circuit.found.size() > 1 ? 1U : 0U};
    if (!found.circuit.found.empty()) {
        out.circuit = 1;
        const std::size_t at = found.circuit.found.front().at + 1;
        out.near = at >= how.windows / 2 && at <= how.windows / 2 + 2 ? 1 : 0;
    }
    for (const finding_change& one : found.findings) {
        const std::size_t number = planted_by(one.what);
        out.planted += number < planted_pairs ? 1 : 0;
        const bool is_changed = number < what.changed;
        ++(is_changed ? out.changed : out.others);
        if (one.change == change_kind::excess)
            ++(is_changed ? out.changed_found : out.others_found);
    }
    return out;
}

void measure(const plan& how, const seed_range& seeds, int threads) {
    const std::size_t recordings = seeds.count;
    const std::size_t first = std::min(how.rows.first, rows.size());
    const std::size_t count = std::min(how.rows.count, rows.size() - first);
    for (const row& what : std::span(rows).subspan(first, count)) {
        std::vector<outcome> all(recordings);
        parallel::parallel_for(recordings, {.threads = threads}, "looking", [&](std::size_t i) {
            all[i] = look(how, what, static_cast<std::uint32_t>(seeds.first + i));
        });
        outcome sum;
        for (const outcome& one : all) sum.add(one);
        fmt::print("{}\t{}\t{}\t{}\t{}\t{}\t{:.2f}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n",
                   how.null, how.windows, how.window_s, what.before, what.after, what.changed,
                   what.kept, recordings, sum.with_findings, sum.rates, sum.circuit, sum.near,
                   sum.several, sum.planted, sum.changed, sum.changed_found, sum.others,
                   sum.others_found);
        std::fflush(stdout);
    }
}

int run(const std::vector<std::string>& arguments) {
    if (arguments.size() < 2)
        throw invalid_argument(
            "expected RECORDINGS|FROM:TO THREADS [NULL|all [WINDOWS [WINDOW_S [ROWS|FROM:TO]]]]");
    const std::string name = arguments.size() > 2 ? arguments[2] : "all";
    const std::size_t windows = arguments.size() > 3 ? std::stoul(arguments[3]) : 20;
    const std::int64_t window_s = arguments.size() > 4 ? std::stol(arguments[4]) : 30;
    const seed_range measured =
        null_recordings::seeds_of(arguments.size() > 5 ? arguments[5] : "0:8");
    fmt::print(
        "null\twindows\tseconds\tbefore\tafter\tchanged\tkept\trecordings\twith findings"
        "\tfiring rates change\tcircuit changes\tat most a window away\tseveral changes"
        "\tplanted found\tof these change\tchange found\tother findings\tchange found\n");
    std::vector<std::string_view> nulls(usual_nulls.begin(), usual_nulls.end());
    if (name != "all") nulls = {name};
    for (const std::string_view null : nulls)
        measure({null, windows, window_s, measured}, null_recordings::seeds_of(arguments[0]),
                std::stoi(arguments[1]));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        fmt::print(stderr, "change_point_power: {}\n", error.what());
        return 2;
    }
}
