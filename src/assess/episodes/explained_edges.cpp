#include "assess/episodes/explained_edges.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/spike_walks.hpp"
#include "parallel/parallel_for.hpp"

namespace spikeweave::assess {
namespace {

using namespace std::chrono_literals;

// A unit is a driver of an edge if the logarithm of its own gain is at least this share of the
// edge's.
constexpr double as_strong = 0.8;
// A driver's spikes matter from this long before a spike of the first unit on, or as long as its
// own delay if that is more.
constexpr duration before{12ms};
// An edge is kept if so much of its excess for each spike is left, by so many standard errors.
constexpr double enough_left = 0.3;
constexpr double certain = 2;

// Such an edge is no connection, but its spikes may explain others.
bool is_doubtful(const circuit_edge& edge) {
    return edge.kind == edge_kind::one_neuron || edge.kind == edge_kind::cross_talk;
}

bool is_artefact(const circuit_edge& edge) {
    return edge.kind == edge_kind::shared_spikes || edge.kind == edge_kind::synchronous ||
           edge.kind == edge_kind::dead_time || edge.kind == edge_kind::stimulus_locked ||
           is_doubtful(edge);
}

double log_gain(const circuit_edge& edge) {
    return std::abs(std::log((static_cast<double>(edge.count) + 0.5) / (edge.expected + 0.5)));
}

// A unit whose spikes may be the cause of an edge, and the lags of its spikes after those of the
// edge's first unit at which they may.
struct driver {
    unit_id unit;
    std::int64_t from_us;
    std::int64_t to_us;
    bool is_second = false;  // whether it is the edge's second unit itself
};

// The lags at which the spikes of a unit may be the cause of an edge.
struct lag_bounds {
    std::int64_t from_us = 0;
    std::int64_t to_us = -1;
};

// The spikes of other units close to those of one, by unit. They are found once for all edges that
// begin at it, because an edge may have dozens of drivers and a driver dozens of edges.
class close_spikes {
public:
    struct close_spike {
        std::uint32_t of;  // number of the spike of the one unit
        std::int32_t lag_us;
    };

    // @param wanted  for each unit; no lag: it is not wanted
    close_spikes(const edge_lags& lags, unit_id one, std::span<const lag_bounds> wanted)
        : of_unit_(wanted.size()) {
        std::int64_t from_us = 0;
        std::int64_t to_us = 0;
        for (const lag_bounds& each : wanted) {
            if (each.to_us < each.from_us) continue;
            from_us = std::min(from_us, each.from_us);
            to_us = std::max(to_us, each.to_us);
        }
        const auto times = lags.times_us();
        const auto units = lags.units();
        const auto positions = lags.positions(one);
        core::near_spikes(times, units, positions)
            .each(from_us, to_us, [&](std::size_t n, std::size_t i) {
                const std::int64_t lag = times[i] - times[positions[n]];
                const lag_bounds& bounds = wanted[to_index(units[i])];
                if (lag >= bounds.from_us && lag <= bounds.to_us)
                    of_unit_[to_index(units[i])].push_back(
                        {static_cast<std::uint32_t>(n), static_cast<std::int32_t>(lag)});
            });
    }

    // Ascending by spike, then by lag.
    std::span<const close_spike> of(unit_id unit) const { return of_unit_[to_index(unit)]; }

private:
    std::vector<std::vector<close_spike>> of_unit_;
};

// The spikes that one driver removes, and how often it fires before the first unit and after it.
struct removal {
    unit_id unit;
    std::size_t removed = 0;  // spikes of the first unit
    double earlier = 0;       // spikes of the driver for each microsecond before these
    double later = 0;         // and after them, up to the end of the window
};

class judge {
public:
    judge(std::span<const circuit_edge> edges, const edge_lags& lags) : edges_(edges), lags_(lags) {
        for (std::size_t e = 0; e < edges.size(); ++e)
            if (!is_artefact(edges[e]) || is_doubtful(edges[e])) into_[edges[e].to].push_back(e);
    }

    // Decides on edges that begin at one unit.
    void decide(std::span<circuit_edge* const> edges) const {
        std::vector<std::vector<driver>> drivers;
        std::vector<lag_bounds> wanted(lags_.unit_count());
        for (const circuit_edge* edge : edges) {
            drivers.push_back(drivers_of(*edge));
            for (const driver& each : drivers.back()) {
                lag_bounds& bounds = wanted[to_index(each.unit)];
                bounds.from_us = std::min(bounds.from_us, each.from_us);
                bounds.to_us = std::max(bounds.to_us, each.to_us);
            }
        }
        const close_spikes close(lags_, edges.front()->from, wanted);
        for (std::size_t e = 0; e < edges.size(); ++e) decide(*edges[e], drivers[e], close);
    }

private:
    void decide(circuit_edge& edge, std::span<const driver> drivers,
                const close_spikes& close) const {
        if (drivers.empty()) return;
        const auto from = lags_.times_us(edge.from);
        std::vector<std::uint8_t> is_removed(from.size());
        std::vector<removal> removals;
        for (const driver& one : drivers) removals.push_back(remove(one, close, is_removed));
        const std::size_t kept = static_cast<std::size_t>(std::ranges::count(is_removed, 0));
        if (kept == from.size()) return;
        const edge_lags::edge_window window = lags_.window_of(edge.best, edge.sign);
        const bool avoids_second = std::ranges::any_of(drivers, &driver::is_second);
        auto [all, of_kept] = histograms_of(from, is_removed, lags_.times_us(edge.to), window.grid);
        if (avoids_second) fill_before(of_kept, window);
        const excess whole = excess_of(all, from.size(), edge, window);
        const excess left = excess_of(of_kept, kept, edge, window);
        if (left.a_spike > enough_left * whole.a_spike && left.a_spike > certain * left.error)
            return;
        // The error with this few spikes, also if none of them has a lag.
        const double error = kept == 0 ? std::numeric_limits<double>::infinity()
                                       : whole.error * std::sqrt(static_cast<double>(from.size()) /
                                                                 static_cast<double>(kept));
        explain(edge, std::move(removals), certain * std::max(left.error, error) > whole.a_spike);
    }

    // Spikes of the second unit for each one of the first, beyond those expected.
    struct excess {
        double a_spike;
        double error;
    };

    static excess excess_of(const lag_histogram& counted, std::size_t spikes,
                            const circuit_edge& edge, const edge_lags::edge_window& window) {
        const double sign = edge.sign == connection_sign::excitatory ? 1 : -1;
        const window_null::moments of = window.null.moments_of(counted);
        const double sources = std::max(1.0, static_cast<double>(spikes));
        return {sign * (of.count - of.mean) / sources, std::sqrt(of.variance) / sources};
    }

    // Where the second unit's own spikes are avoided, lags before 0 are missing, and there are more
    // than usual before those, if it excites the first unit: all get the mean beyond the window.
    static void fill_before(lag_histogram& counted, const edge_lags::edge_window& window) {
        const auto margin = static_cast<std::size_t>(3000 / window.grid.width_us);
        const auto beyond =
            std::span(counted).subspan(std::min(counted.size(), window.null.end() + margin));
        if (beyond.empty()) return;
        const double sum = std::accumulate(beyond.begin(), beyond.end(), 0.0);
        std::fill_n(counted.begin(), window.null.first(), sum / static_cast<double>(beyond.size()));
    }

    std::vector<driver> drivers_of(const circuit_edge& edge) const {
        std::vector<driver> out;
        if (is_artefact(edge)) return out;
        const double least = as_strong * log_gain(edge);
        const std::int64_t last = edge.best.high.count();
        if (const auto found = into_.find(edge.to); found != into_.end())
            for (const std::size_t e : found->second) {
                const circuit_edge& other = edges_[e];
                if (other.from == edge.from || log_gain(other) < least) continue;
                if (edge.sign == connection_sign::excitatory && other.sign != edge.sign) continue;
                out.push_back({other.from, -std::max(before, other.best.high).count(), last});
            }
        // After its own spike, a unit is refractory. If that spike excites the first unit, the
        // first one seems to inhibit it.
        if (edge.sign == connection_sign::inhibitory)
            if (const auto found = into_.find(edge.from); found != into_.end())
                for (const std::size_t e : found->second)
                    if (edges_[e].from == edge.to && log_gain(edges_[e]) >= least &&
                        edges_[e].sign == connection_sign::excitatory)
                        out.push_back({edge.to, -before.count(), -1, true});
        return out;
    }

    static removal remove(const driver& by, const close_spikes& close,
                          std::span<std::uint8_t> is_removed) {
        // No branches: whether a spike is near is as good as random.
        std::size_t removed = 0;
        std::size_t earlier = 0;
        std::size_t later = 0;
        std::int64_t last = -1;
        const auto from_us = static_cast<std::int32_t>(by.from_us);
        const auto reach_us = static_cast<std::uint32_t>(by.to_us - by.from_us);
        for (const auto& [of, lag_us] : close.of(by.unit)) {
            const bool is_near = static_cast<std::uint32_t>(lag_us - from_us) <= reach_us;
            earlier += static_cast<std::size_t>(is_near & (lag_us <= 0));
            later += static_cast<std::size_t>(is_near & (lag_us > 0));
            removed += static_cast<std::size_t>(is_near & (of != last));
            last = is_near ? std::int64_t{of} : last;
            is_removed[of] |= static_cast<std::uint8_t>(is_near);
        }
        return {
            by.unit, removed, static_cast<double>(earlier) / static_cast<double>(-by.from_us),
            static_cast<double>(later) / static_cast<double>(std::max<std::int64_t>(1, by.to_us))};
    }

    // A driver of both units fires before the first one, one on a path after it.
    static void explain(circuit_edge& edge, std::vector<removal> removals, bool is_undecided) {
        // All of these count, so that the order of the units does not.
        std::ranges::sort(removals, std::greater{}, [](const removal& one) {
            return std::tuple(one.removed, one.later, one.earlier);
        });
        for (const removal& one : removals)
            if (one.removed > 0) edge.via.push_back(one.unit);
        if (is_undecided)
            edge.kind = edge_kind::undecided;
        else
            edge.kind = removals.front().earlier > removals.front().later ? edge_kind::common_input
                                                                          : edge_kind::indirect;
    }

    std::span<const circuit_edge> edges_;
    const edge_lags& lags_;
    std::map<unit_id, std::vector<std::size_t>> into_{};
};

// Epochs are trials if there are so many, of one length but for some that are cut off, and with
// gaps: parts of a recording that follow each other at once are windows or blocks of it.
constexpr std::size_t fewest_trials = 5;
constexpr double share_of_length = 0.9;
// Trials on each side that a trial is compared with.
constexpr std::size_t most_shifts = 10;

bool are_trials(std::span<const time_span> epochs) {
    if (epochs.size() < fewest_trials) return false;
    std::map<duration, std::size_t> of_length;
    std::size_t most = 0;
    std::size_t gaps = 0;
    for (std::size_t i = 0; i < epochs.size(); ++i) {
        most = std::max(most, ++of_length[epochs[i].length()]);
        gaps += i > 0 && epochs[i].begin > epochs[i - 1].end ? 1 : 0;
    }
    return static_cast<double>(most) >= share_of_length * static_cast<double>(epochs.size()) &&
           2 * gaps >= epochs.size();
}

std::span<const std::int64_t> within(std::span<const std::int64_t> times, const time_span& epoch) {
    const auto first = std::ranges::lower_bound(times, epoch.begin.count());
    const auto end = std::ranges::lower_bound(times, epoch.end.count());
    return {first, end};
}

// The number of pairs of spikes with a lag in the window, where the second unit's spikes are those
// of a later trial.
double shifted_count(std::span<const std::int64_t> from, std::span<const std::int64_t> to,
                     const delay_interval& window, std::span<const time_span> trials,
                     std::size_t shift) {
    std::size_t out = 0;
    for (std::size_t i = 0; i < trials.size(); ++i) {
        const time_span& other = trials[(i + shift) % trials.size()];
        const std::int64_t moved = (trials[i].begin - other.begin).count();
        const auto later = within(to, other);
        auto first = later.begin();
        auto end = later.begin();
        for (const std::int64_t time : within(from, trials[i])) {
            while (first != later.end() && *first + moved <= time + window.low.count()) ++first;
            end = std::max(end, first);
            while (end != later.end() && *end + moved <= time + window.high.count()) ++end;
            out += static_cast<std::size_t>(end - first);
        }
    }
    return static_cast<double>(out);
}

// The probability of an edge if it is due to the trials.
double p_beyond_trials(const circuit_edge& edge, std::span<const std::int64_t> from,
                       std::span<const std::int64_t> to, std::span<const time_span> trials) {
    const std::size_t shifts = std::min(most_shifts, (trials.size() - 1) / 2);
    double shifted = 0;
    for (std::size_t k = 1; k <= shifts; ++k)
        shifted += shifted_count(from, to, edge.best, trials, k) +
                   shifted_count(from, to, edge.best, trials, trials.size() - k);
    shifted /= static_cast<double>(2 * shifts);
    const double sign = edge.sign == connection_sign::excitatory ? 1 : -1;
    const auto count = static_cast<double>(edge.count);
    const double left = sign * (count - shifted);
    if (left <= enough_left * sign * (count - edge.expected)) return 1;
    const double variance = shifted + shifted / static_cast<double>(2 * shifts) + 1;
    return std::erfc(left / std::sqrt(2 * variance)) / 2;
}

duration reach_of(duration longest, duration jitter_window) {
    return longest + wider_for_inhibition * std::max(jitter_window, windows_a_cell * longest) +
           before;
}

}  // namespace

duration longest_delay(std::span<const pair_test> pairs) {
    duration longest{0};
    for (const pair_test& pair : pairs) longest = std::max(longest, pair.delay.high);
    return longest;
}

edge_lags::edge_lags(const spike_sequence& spikes, duration longest, duration jitter_window)
    : apart_(spikes, reach_of(longest, jitter_window)),
      trains_(apart_.spikes()),
      clock_step_us_(clock_step_us(apart_.spikes())),
      jitter_window_(jitter_window) {}

edge_lags::edge_window edge_lags::window_of(const delay_interval& window,
                                            connection_sign sign) const {
    const duration cell = cell_for(window, sign, jitter_window_);
    const lag_grid grid = grid_for(clock_step_us_, {&window, 1},
                                   std::max(duration{0}, cell - window.low), window.high + cell);
    return {grid, window_null(grid, window, cell)};
}

delay_interval edge_lags::extent_of(const pair_test& pair) const {
    const edge_window window = window_of(pair.delay, pair.sign);
    const bin_range bins =
        assess::extent_of(histogram_of(times_us(pair.from), times_us(pair.to), window.grid),
                          {window.null.first(), window.null.end()}, pair.sign);
    const auto lag = [&](std::size_t bin) {
        const auto bins_above =
            static_cast<double>(static_cast<std::int64_t>(bin) - window.grid.before);
        return duration{std::llround(bins_above * window.grid.width_us)};
    };
    // On a coarse clock, bins do not begin where windows do.
    return {std::max(duration{0}, std::min(pair.delay.low, lag(bins.first))),
            std::max(pair.delay.high, lag(bins.end))};
}

void mark_stimulus_locked(std::vector<circuit_edge>& edges, const spike_sequence& spikes,
                          double alpha, const execution& run) {
    if (edges.empty() || !are_trials(spikes.epochs())) return;
    const spike_trains trains(spikes);
    std::vector<double> p(edges.size());
    parallel::parallel_for(edges.size(), run, "comparing trials", [&](std::size_t e) {
        p[e] = p_beyond_trials(edges[e], trains.times_us(edges[e].from),
                               trains.times_us(edges[e].to), spikes.epochs());
    });
    const std::vector<double> q =
        adjust_p_values(p, p.size(), correction_method::benjamini_hochberg);
    for (std::size_t e = 0; e < edges.size(); ++e)
        if (!is_artefact(edges[e]) && !(q[e] < alpha)) edges[e].kind = edge_kind::stimulus_locked;
}

void mark_explained(std::vector<circuit_edge>& edges, const edge_lags& lags, const execution& run) {
    const std::vector<circuit_edge> given = edges;
    const judge all(given, lags);
    std::map<unit_id, std::vector<circuit_edge*>> of_unit;
    for (circuit_edge& edge : edges) of_unit[edge.from].push_back(&edge);
    std::vector<std::span<circuit_edge* const>> from_one;
    for (const auto& [unit, its] : of_unit) from_one.emplace_back(its);
    parallel::parallel_for(from_one.size(), run, "explaining edges",
                           [&](std::size_t n) { all.decide(from_one[n]); });
}

}  // namespace spikeweave::assess
