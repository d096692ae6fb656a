#include "report/episodes/window_series.hpp"

#include <algorithm>

#include "core/stop.hpp"
#include "report/episodes/several.hpp"

namespace spikeweave::report {
namespace {

event_count in_window(const window_bounds& bounds, std::uint64_t count) {
    return {count, to_seconds(bounds.end - bounds.begin)};
}

// The edge of the same peak, if there is one.
const circuit_edge* edge_among(std::span<const circuit_edge> edges, const episode& what) {
    if (what.size() != 2) return nullptr;
    for (const circuit_edge& edge : edges)
        if (edge.from == what.units[0] && edge.to == what.units[1] &&
            is_same_peak(edge.delay, what.delays.front()))
            return &edge;
    return nullptr;
}

}  // namespace

std::size_t windows_left_out_for_a_page(std::size_t windows) {
    return std::max<std::size_t>(1,
                                 (windows + most_windows_of_a_page - 1) / most_windows_of_a_page);
}

spike_sequence spikes_of_window(const spike_sequence& spikes, const window_bounds& bounds) {
    const auto times = spikes.times_us();
    const auto begin = std::ranges::lower_bound(times, bounds.begin.count());
    const auto end = std::lower_bound(begin, times.end(), bounds.end.count());
    const auto units = spikes.units().subspan(static_cast<std::size_t>(begin - times.begin()),
                                              static_cast<std::size_t>(end - begin));
    return {{begin, end},
            {units.begin(), units.end()},
            spikes.unit_names(),
            {bounds.begin, bounds.end}};
}

bool window_series::window::inhibits(const episode& what) const {
    const circuit_edge* const edge = edge_among(edges, what);
    return edge != nullptr && edge->sign == connection_sign::inhibitory;
}

std::optional<double> window_series::window::q_of(const episode& what) const {
    if (what.size() == 2) {
        const circuit_edge* const edge = edge_among(edges, what);
        return edge == nullptr ? std::nullopt : std::optional(edge->q);
    }
    const auto found = q.find(what);
    return found == q.end() ? std::nullopt : std::optional(found->second);
}

bool window_series::window::is_significant(const episode& what, double alpha) const {
    const std::optional<double> known = q_of(what);
    return known && *known < alpha;
}

void window_series::add(std::size_t epoch, bool has_gap, const episode_window& mined,
                        std::span<const episode_test> tests, const circuit& found) {
    const episode_table& table = mined.table;
    window& added = windows_.emplace_back(window{.epoch = epoch,
                                                 .bounds = mined.bounds,
                                                 .spikes = mined.spikes,
                                                 .threshold = table.threshold,
                                                 .has_gap = has_gap,
                                                 .complete_to = table.complete_to_size,
                                                 .edges = found.edges});
    added.since = window_before(windows_.size() - 1);
    for (std::size_t i = 0; i < tests.size(); ++i)
        if (tests[i].q < 1) added.q.emplace(table.episodes[i].what, tests[i].q);
    for (const circuit_edge& edge : found.edges)
        ++circuits_of_[{{edge.from, edge.to}, {edge.best}}];
    for (const std::size_t chain : found.chains) ++circuits_of_[table.episodes[chain].what];
}

// Windows that may lack spikes are not compared: their counts may be lower for that alone.
std::optional<std::size_t> window_series::window_before(std::size_t number) const {
    const window& one = windows_[number];
    if (!one.is_mined() || one.has_gap) return {};
    for (std::size_t i = number; i-- > 0;) {
        const window& other = windows_[i];
        const bool is_apart = other.epoch < one.epoch || other.bounds.end <= one.bounds.begin;
        if (is_apart && other.is_mined() && !other.has_gap) return i;
    }
    return {};
}

// If there are too many, those that are in most circuits are followed.
void window_series::choose_episodes() {
    episodes_ = one_of_each_peak(circuits_of_);
    in_circuits_ = episodes_.size();
    if (episodes_.size() > most_episodes_of_windows) episodes_.resize(most_episodes_of_windows);
    std::ranges::sort(episodes_);
}

void window_series::count(const execution& run) {
    episode_count_options how;
    how.ties = ties_;
    for (window& one : windows_) {
        core::throw_if_stopped(run.stop);
        if (!one.is_mined() || episodes_.empty()) continue;
        one.counts =
            count_episodes(spikes_of_window(epochs_[one.epoch], one.bounds), episodes_, how, run)
                .counts;
    }
}

std::vector<window_series::compared> window_series::compare(const execution& run) const {
    std::vector<compared> all;
    for (std::size_t k = 0; k < windows_.size(); ++k) {
        core::throw_if_stopped(run.stop);
        const window& to = windows_[k];
        if (!to.since) continue;
        const window& from = windows_[*to.since];
        for (std::size_t i = 0; i < episodes_.size(); ++i) {
            const episode& what = episodes_[i];
            if (from.has_tested(what) && to.has_tested(what))
                all.push_back(
                    {k,
                     i,
                     {in_window(from.bounds, from.counts[i]), in_window(to.bounds, to.counts[i]),
                      from.is_significant(what, alpha_), to.is_significant(what, alpha_),
                      from.inhibits(what) || to.inhibits(what)}});
        }
    }
    return all;
}

// A pair that is not here is no edge; of a chain that is not, q is 1.
json window_series::found_json(const window& one) const {
    json found = json::array();
    for (std::size_t i = 0; i < episodes_.size(); ++i) {
        const std::optional<double> q = one.q_of(episodes_[i]);
        if (!q) continue;
        const circuit_edge* const edge = edge_among(one.edges, episodes_[i]);
        found.push_back({i, *q, *q < alpha_, edge == nullptr ? json() : json(to_string(edge->kind)),
                         edge == nullptr ? json() : json(to_string(edge->sign))});
    }
    return found;
}

json window_series::window_json(const window& one) const {
    return {{"epoch", one.epoch},
            {"number", one.bounds.number},
            {"begin_us", one.bounds.begin.count()},
            {"end_us", one.bounds.end.count()},
            {"spikes", one.spikes},
            {"threshold", one.threshold},
            {"has_gap", one.has_gap},
            {"complete_to_size", or_null(one.complete_to)},
            {"since", or_null(one.since)},
            {"edges", one.edges.size()},
            {"counts", one.counts},
            {"found", found_json(one)},
            {"changes", json::array()}};
}

json window_series::finish(double alpha, const execution& run) {
    choose_episodes();
    count(run);
    const std::vector<compared> all = compare(run);
    std::vector<counted_twice> counts;
    counts.reserve(all.size());
    for (const compared& one : all) counts.push_back(one.counts);
    const std::vector<rate_change> changes = rate_changes(counts, alpha);
    json document{{"windows", json::array()},
                  {"episodes", columns_of({"units", "delays_ms"}, episodes_,
                                          [](const episode& what) {
                                              return json::array({what.units, ms(what.delays)});
                                          })},
                  {"episodes_in_circuits", in_circuits_},
                  {"comparisons", all.size()}};
    json& windows = document["windows"];
    for (const window& one : windows_) windows.push_back(window_json(one));
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& [p, q, change] = changes[i];
        if (!change.empty())
            windows[all[i].window]["changes"].push_back({all[i].episode, p, q, change});
    }
    return document;
}

}  // namespace spikeweave::report
