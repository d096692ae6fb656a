#include "spikeweave/assess/episodes/pair_tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "assess/episodes/each_lag.hpp"
#include "assess/episodes/lag_histogram.hpp"
#include "assess/episodes/window_test.hpp"
#include "parallel/parallel_for.hpp"
#include "parallel/ranks.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {

using assess::histograms_from;
using assess::lag_grid;
using assess::lag_histogram;
using assess::window_family;
using assess::window_null;

namespace {

using namespace std::chrono_literals;

constexpr correction_method circuit_correction = correction_method::benjamini_hochberg;

// The delays that a family tests, and whether inhibition is tested in it.
struct family_of_delays {
    std::vector<delay_interval> windows{};
    bool both_signs = true;

    // The number of hypotheses about one pair.
    std::size_t size() const { return windows.size() * (both_signs ? 2 : 1); }
};

std::vector<family_of_delays> families_of(std::span<const delay_interval> delays) {
    if (!std::ranges::equal(delays, default_delays()))
        return {{{delays.begin(), delays.end()}, true}};
    std::vector<family_of_delays> out{{synaptic_windows(), true}, {{}, false}};
    for (const delay_interval& delay : delays)
        if (delay.high > longest_synaptic_delay) out.back().windows.push_back(delay);
    return out;
}

// The lags that matter, below 0 and above.
struct lag_range {
    duration before{0};
    duration after{0};
};

lag_range lags_of(std::span<const family_of_delays> families, duration jitter_window) {
    lag_range out;
    for (const family_of_delays& family : families)
        for (const delay_interval& window : family.windows) {
            const duration cell = assess::cell_for(
                window,
                family.both_signs ? connection_sign::inhibitory : connection_sign::excitatory,
                jitter_window);
            out.before = std::max(out.before, cell - window.low);
            out.after = std::max(out.after, window.high + cell);
        }
    // A deviation in one direction is replaced in the other one, too.
    out.before = std::max<duration>(out.before, 10ms);
    return out;
}

// The windows in which pairs are tested, and the bins of their lags.
struct pair_windows {
    lag_grid grid{};
    // The first family is of synaptic delays, or of those that were chosen; a second of slow ones.
    std::vector<window_family> families{};
};

// The necessary distance of epochs.
duration reach_of(const lag_range& lags) {
    return std::max(lags.before, lags.after) + duration{2ms};
}

pair_windows windows_for(std::span<const family_of_delays> all, const lag_range& lags,
                         const spike_sequence& spikes, duration jitter_window) {
    std::vector<delay_interval> windows;
    for (const family_of_delays& family : all)
        windows.insert(windows.end(), family.windows.begin(), family.windows.end());
    pair_windows out{.grid =
                         assess::grid_for(clock_step_us(spikes), windows, lags.before, lags.after)};
    for (const family_of_delays& family : all)
        out.families.emplace_back(out.grid, family.windows, jitter_window, family.both_signs);
    return out;
}

// A pair that is listed, its best window, and the least p that it could have.
struct listed_pair {
    pair_test test;
    std::size_t window;
    double least_p;
};

// The results of one family of windows.
struct family_tally {
    // The share of the level that is due to this family.
    double share = 1;
    std::vector<listed_pair> listed{};
    // The p of the windows of each of these, one pair after the other.
    std::vector<double> p_of_windows{};
    // The least p that a pair of one unit and a later one could have, in either direction: first
    // those of unit 0, then those of unit 1, and so on.
    std::vector<float> least_p{};
};

// Tests one unit with later ones, in both directions.
class pair_tester {
public:
    pair_tester(const pair_windows& windows, double listed_below, double alpha)
        : windows_(windows),
          listed_below_(listed_below),
          confirmed_below_(std::max(distorts, alpha)),
          out_(windows.families.size()) {}

    void test(unit_id from, unit_id to, const histograms_from& lags) {
        lags.forwards(to, ahead_);
        lags.backwards(to, back_);
        if (!note_least_p() || windows_.families.front().is_empty()) return;
        const auto deviates = [&](const window_family& family) {
            return family.deviates(ahead_) || family.deviates(back_);
        };
        if (listed_below_ < 1 && std::ranges::none_of(windows_.families, deviates)) return;
        // Slow delays are first: for synaptic ones, peaks are replaced.
        for (std::size_t f = 1; f < windows_.families.size(); ++f) {
            list(f, from, to, ahead_, verdict_of(windows_.families[f], ahead_));
            list(f, to, from, back_, verdict_of(windows_.families[f], back_));
        }
        counted_ahead_ = ahead_;
        counted_back_ = back_;
        directed there{counted_ahead_, ahead_, verdict_of(windows_.families.front(), ahead_)};
        directed here{counted_back_, back_, verdict_of(windows_.families.front(), back_)};
        settle(there, here);
        confirm_inhibition(there);
        confirm_inhibition(here);
        list(0, from, to, ahead_, there.found);
        list(0, to, from, back_, here.found);
    }

    std::vector<family_tally> take() { return std::move(out_); }

private:
    // Deviations with a smaller p distort what is expected at other lags.
    static constexpr double distorts = 0.002;
    // Inhibition is not due to peaks beside it if its p is below this without them.
    static constexpr double is_left = 0.001;

    window_family::verdict verdict_of(const window_family& family,
                                      const lag_histogram& lags) const {
        return family.test(lags, !(listed_below_ < 1));
    }

    // One direction of a pair, and the test of the first family.
    struct directed {
        const lag_histogram& counted;
        lag_histogram& lags;  // the counts, without the deviations that are replaced
        window_family::verdict found;
    };

    // A peak or trough in one direction distorts what is expected in the other, so the stronger one
    // is replaced there. If that is inhibition which is not confirmed, the next one is the
    // stronger.
    void settle(directed& there, directed& here) {
        for (int round = 0; round < 2; ++round) {
            directed& stronger = there.found.p <= here.found.p ? there : here;
            directed& other = &stronger == &there ? here : there;
            if (!(stronger.found.p < distorts)) return;
            if (!confirm_inhibition(stronger)) continue;
            flatten(stronger, other);
            other.found = verdict_of(windows_.families.front(), other.lags);
            return;
        }
    }

    // Inhibition must remain without the peaks beside it. Otherwise the test is that without them,
    // or that of the peaks, whichever has the smaller p. Returns whether the test is as it was.
    bool confirm_inhibition(directed& one) const {
        if (one.found.sign != connection_sign::inhibitory || !(one.found.p < confirmed_below_))
            return true;
        const window_family& family = windows_.families.front();
        lag_histogram flat =
            assess::without_peaks(one.lags, family.null_of(one.found.sign, one.found.window));
        if (flat == one.lags) return true;
        const window_family::verdict without_them = verdict_of(family, flat);
        if (without_them.sign == one.found.sign && without_them.p < is_left) return true;
        const window_family::verdict of_peaks =
            family.test(one.lags, connection_sign::excitatory, !(listed_below_ < 1));
        if (without_them.p < of_peaks.p) {
            one.lags = std::move(flat);
            one.found = without_them;
        } else {
            one.found = of_peaks;
        }
        return false;
    }

    // Replaces a deviation by a line in the histogram of the other direction, too. Lags at the
    // bounds of bins are in the next bin there, so the differences are carried over.
    void flatten(const directed& deviating, directed& other) {
        const connection_sign sign = deviating.found.sign;
        const window_null& window = windows_.families.front().null_of(sign, deviating.found.window);
        const assess::bin_range extent =
            assess::extent_of(deviating.lags, {window.first(), window.end()}, sign);
        const lag_histogram flat = assess::without(deviating.lags, extent);
        const lag_grid& grid = windows_.grid;
        const std::int64_t sum = 2 * grid.before - (grid.on_clock ? 2 : 1);
        for (std::size_t i = extent.first; i < extent.end; ++i) {
            const std::int64_t mirrored = sum - static_cast<std::int64_t>(i);
            if (mirrored < 0 || mirrored >= static_cast<std::int64_t>(other.lags.size())) continue;
            // Lags that are already replaced there are not replaced again.
            const auto bin = static_cast<std::size_t>(mirrored);
            const double replaced = std::max(0.0, other.counted[bin] + flat[i] - deviating.lags[i]);
            double& there = other.lags[bin];
            there = sign == connection_sign::excitatory ? std::min(there, replaced)
                                                        : std::max(there, replaced);
        }
    }

    // Returns whether the pair has enough lags for a p that is listed.
    bool note_least_p() {
        bool is_possible = false;
        for (std::size_t f = 0; f < windows_.families.size(); ++f) {
            const double least_p =
                std::min(windows_.families[f].least_p(ahead_), windows_.families[f].least_p(back_));
            out_[f].least_p.push_back(static_cast<float>(least_p));
            is_possible = is_possible || listed_below_ == 1 || least_p < listed_below_;
        }
        return is_possible;
    }

    void list(std::size_t f, unit_id from, unit_id to, std::span<const double> lags,
              const window_family::verdict& found) {
        const window_family& family = windows_.families[f];
        if (family.is_empty() || (listed_below_ < 1 && !(found.p < listed_below_))) return;
        const window_null& null = family.null_of(found.sign, found.window);
        const window_null::moments of = null.moments_of(lags);
        out_[f].listed.push_back(
            {{from, to, found.sign, f > 0, family.window(found.window),
              static_cast<std::uint64_t>(std::llround(of.count)), null.expected(of), found.p, 1},
             found.window,
             family.least_p(lags)});
        std::vector<double>& p = out_[f].p_of_windows;
        p.insert(p.end(), found.of_windows.begin(), found.of_windows.end());
    }

    const pair_windows& windows_;
    double listed_below_;
    double confirmed_below_;  // inhibition
    std::vector<family_tally> out_;
    lag_histogram ahead_{};
    lag_histogram back_{};
    lag_histogram counted_ahead_{};
    lag_histogram counted_back_{};
};

// The number of tests after Tarone (1990): as few as possible, but at least as many as pairs have a
// least p below alpha divided by it.
std::uint64_t tests_that_matter(std::vector<float> least_p, double alpha) {
    std::ranges::sort(least_p);
    std::uint64_t tests = 1;
    while (true) {
        const auto level = static_cast<float>(alpha / static_cast<double>(tests));
        const auto below = std::ranges::lower_bound(least_p, level) - least_p.begin();
        const auto directed = 2 * static_cast<std::uint64_t>(below);
        if (directed <= tests) return tests;
        tests = std::max(tests + 1, std::min(directed, tests + tests / 64));
    }
}

// Corrects p within one family, at its share of the level. Returns the number of tests.
std::uint64_t correct(family_tally& family, double alpha) {
    const double level = alpha * family.share;
    const std::uint64_t tests = tests_that_matter(family.least_p, level);
    std::vector<double> p;
    std::vector<listed_pair*> tested;
    for (listed_pair& one : family.listed)
        if (one.least_p < level / static_cast<double>(tests)) {
            tested.push_back(&one);
            p.push_back(one.test.p);
        }
    const std::vector<double> q =
        adjust_p_values(p, std::max<std::uint64_t>(tests, p.size()), circuit_correction);
    for (std::size_t i = 0; i < q.size(); ++i)
        tested[i]->test.q = std::min(1.0, q[i] / family.share);
    return tests;
}

std::vector<family_tally> test_all(const spike_sequence& spikes, const pair_windows& windows,
                                   double listed_below, double alpha, const execution& run) {
    const auto units = static_cast<std::uint32_t>(spikes.unit_count());
    const spike_trains trains(spikes);
    std::vector<double> costs;
    for (std::uint32_t u = 0; u < units; ++u)
        costs.push_back(static_cast<double>(trains.count(unit_id{u})) + 1);
    const parallel::rank_block own = parallel::block_of_rank(costs, run);
    std::vector<std::vector<family_tally>> of_unit(own.size());
    parallel::parallel_for(own.size(), run, "testing pairs", [&](std::size_t i) {
        const unit_id from{static_cast<std::uint32_t>(own.begin + i)};
        pair_tester tester(windows, listed_below, alpha);
        histograms_from lags(spikes, trains, windows.grid);
        lags.count(from);
        for (auto to = static_cast<std::uint32_t>(to_index(from)) + 1; to < units; ++to)
            tester.test(from, unit_id{to}, lags);
        of_unit[i] = tester.take();
    });
    std::vector<family_tally> out(windows.families.size());
    for (const std::vector<family_tally>& families : of_unit)
        for (std::size_t f = 0; f < families.size(); ++f) {
            const family_tally& one = families[f];
            out[f].listed.insert(out[f].listed.end(), one.listed.begin(), one.listed.end());
            out[f].p_of_windows.insert(out[f].p_of_windows.end(), one.p_of_windows.begin(),
                                       one.p_of_windows.end());
            out[f].least_p.insert(out[f].least_p.end(), one.least_p.begin(), one.least_p.end());
        }
    for (family_tally& family : out) {
        parallel::join_ranks(family.listed, run);
        parallel::join_ranks(family.p_of_windows, run);
        parallel::join_ranks(family.least_p, run);
    }
    return out;
}

// Numbers of significant pairs, by sign: in each window, and from each unit.
class edge_counts {
public:
    edge_counts(std::size_t windows, std::size_t units) : of_units_(units) {
        in_windows_.fill(std::vector<double>(windows));
    }

    void add(const listed_pair& edge, double number) {
        const auto sign = static_cast<std::size_t>(edge.test.sign);
        in_windows_[sign][edge.window] += number;
        of_units_[to_index(edge.test.from)][sign] += number;
        all_[sign] += number;
    }

    // Of a window, for the sign of a pair. The mean over all windows of both signs is 1.
    double weight(const pair_test& pair, std::size_t window) const {
        const auto sign = static_cast<std::size_t>(pair.sign);
        const std::vector<double>& in_windows = in_windows_[sign];
        const std::array<double, 2>& of_unit = of_units_[to_index(pair.from)];
        const auto windows = static_cast<double>(in_windows.size());
        return (windows * in_windows[window] + 1) / (all_[sign] + 1) * 2 * (of_unit[sign] + 1) /
               (of_unit[0] + of_unit[1] + 2);
    }

private:
    std::array<std::vector<double>, 2> in_windows_{};
    std::vector<std::array<double, 2>> of_units_;
    std::array<double, 2> all_{};
};

// Weighs the p of each pair by the edges of other pairs of units, so that the weights do not depend
// on it (Genovese, Roeder, Wasserman 2006).
void weigh(family_tally& family, std::size_t units, double alpha) {
    std::vector<listed_pair>& listed = family.listed;
    if (listed.empty()) return;
    correct(family, alpha);
    const std::size_t windows = family.p_of_windows.size() / listed.size();
    edge_counts edges(windows, units);
    const auto count = [&](std::span<const listed_pair> pairs, double number) {
        for (const listed_pair& one : pairs)
            if (one.test.q < alpha) edges.add(one, number);
    };
    count(listed, 1);
    auto p = family.p_of_windows.cbegin();
    for (std::size_t i = 0; i < listed.size();) {
        // If both directions are listed, the second one is next.
        const bool both = i + 1 < listed.size() && listed[i].test.from == listed[i + 1].test.to &&
                          listed[i].test.to == listed[i + 1].test.from;
        const std::span<listed_pair> same_units(&listed[i], both ? 2 : 1);
        count(same_units, -1);
        for (listed_pair& one : same_units) {
            std::vector<double> weighted(windows);
            for (std::size_t w = 0; w < windows; ++w)
                weighted[w] = *p++ / edges.weight(one.test, w);
            one.test.p = std::min(1.0, 2 * assess::simes(std::move(weighted)));
        }
        count(same_units, 1);
        i += same_units.size();
    }
}

// Units all of whose pairs have a least p of this or more.
std::vector<unit_id> untested_units(const family_tally& family, std::size_t units, double level) {
    std::vector<char> is_tested(units);
    std::size_t pair = 0;
    for (std::size_t from = 0; from < units; ++from)
        for (std::size_t to = from + 1; to < units; ++to)
            if (family.least_p[pair++] < level) is_tested[from] = is_tested[to] = 1;
    std::vector<unit_id> out;
    for (std::uint32_t u = 0; u < units; ++u)
        if (is_tested[u] == 0) out.push_back(unit_id{u});
    return out;
}

void check(std::span<const delay_interval> delays, const significance_options& options) {
    check_options(options);
    for (const delay_interval& delay : delays)
        if (delay.low < duration{0} || delay.high <= delay.low)
            throw invalid_argument(
                fmt::format("a delay interval must not be negative or empty, as {} is",
                            format_delays({&delay, 1})));
}

}  // namespace

std::string_view to_string(connection_sign sign) {
    return sign == connection_sign::excitatory ? "excitatory" : "inhibitory";
}

std::vector<delay_interval> synaptic_windows() {
    std::vector<delay_interval> out;
    for (const auto& [width, step] : {std::pair{2000us, 500us}, std::pair{3000us, 1000us}})
        for (duration low = 500us; low + width <= longest_synaptic_delay; low += step)
            out.push_back({low, low + width});
    return out;
}

pair_tests test_pairs(const spike_sequence& spikes, std::span<const delay_interval> delays,
                      const significance_options& options, const execution& run) {
    check(delays, options);
    const auto units = static_cast<std::uint64_t>(spikes.unit_count());
    pair_tests out{.possible = units * (units - std::min<std::uint64_t>(units, 1))};
    if (out.possible > pair_tests::most_listed) out.listed_below = 0.05;
    if (units < 2 || delays.empty()) return out;
    const std::vector<family_of_delays> all = families_of(delays);
    const lag_range lags = lags_of(all, options.jitter_window);
    const separated_epochs apart(spikes, reach_of(lags));
    const pair_windows windows = windows_for(all, lags, apart.spikes(), options.jitter_window);
    std::vector<family_tally> families =
        test_all(apart.spikes(), windows, out.listed_below, options.alpha, run);
    std::size_t hypotheses = 0;
    for (const family_of_delays& family : all) hypotheses += family.size();
    for (std::size_t f = 0; f < families.size(); ++f)
        families[f].share = static_cast<double>(all[f].size()) / static_cast<double>(hypotheses);
    weigh(families.front(), spikes.unit_count(), options.alpha);
    for (std::size_t f = 0; f < families.size(); ++f) {
        const std::uint64_t tests = correct(families[f], options.alpha);
        // Of slow delays, only what becomes an edge is listed.
        for (const listed_pair& one : families[f].listed)
            if (f == 0 || one.test.q < options.alpha) out.pairs.push_back(one.test);
        if (f > 0) continue;
        out.tested = std::min(tests, out.possible);
        out.untested_units =
            untested_units(families[f], spikes.unit_count(),
                           options.alpha * families[f].share / static_cast<double>(tests));
    }
    std::ranges::sort(out.pairs, [](const pair_test& a, const pair_test& b) {
        return std::tuple(a.p, a.slow, a.from, a.to) < std::tuple(b.p, b.slow, b.from, b.to);
    });
    return out;
}

pair_tests test_suggested_pairs(const spike_sequence& spikes, std::span<const pair_test> suggested,
                                const significance_options& options, const execution& run) {
    std::vector<delay_interval> delays;
    for (const pair_test& one : suggested) {
        delays.push_back(one.delay);
        assess::check_unit(spikes, one.from);
        assess::check_unit(spikes, one.to);
    }
    check(delays, options);
    pair_tests out{.tested = suggested.size(), .possible = suggested.size()};
    if (suggested.empty()) return out;
    const lag_range lags =
        lags_of(std::array{family_of_delays{delays, true}}, options.jitter_window);
    const separated_epochs apart(spikes, reach_of(lags));
    const lag_grid grid =
        assess::grid_for(clock_step_us(apart.spikes()), delays, lags.before, lags.after);
    const spike_trains trains(apart.spikes());
    out.pairs.assign(suggested.begin(), suggested.end());
    std::vector<double> p(suggested.size());
    parallel::parallel_for(suggested.size(), run, "testing pairs", [&](std::size_t i) {
        pair_test& one = out.pairs[i];
        const window_null null(grid, one.delay,
                               assess::cell_for(one.delay, one.sign, options.jitter_window));
        const lag_histogram counted =
            assess::histogram_of(trains.times_us(one.from), trains.times_us(one.to), grid);
        const window_null::moments of = null.moments_of(counted);
        one.count = static_cast<std::uint64_t>(of.count);
        one.expected = null.expected(of);
        one.p = p[i] =
            one.sign == connection_sign::excitatory ? null.upper_tail(of) : null.lower_tail(of);
    });
    const std::vector<double> q = adjust_p_values(p, p.size(), circuit_correction);
    for (std::size_t i = 0; i < q.size(); ++i) out.pairs[i].q = q[i];
    return out;
}

}  // namespace spikeweave
