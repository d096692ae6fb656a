#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "report/episodes/comparison.hpp"
#include "report/page_spikes.hpp"
#include "report/page_tables.hpp"
#include "spikeweave/assess/multiple_testing.hpp"
#include "spikeweave/assess/rate_change.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::report {
namespace {

event_count counted(const comparison& compared, const compared_episode& one, std::size_t in) {
    const compared_result& result = compared.results[in];
    const double seconds = to_seconds(result.spikes.span().length());
    if (!(seconds > 0))
        throw invalid_argument(fmt::format("the recording of '{}' has no length", result.place));
    return {one.in[in].count, seconds};
}

double rate_of(const event_count& counts) {
    return static_cast<double>(counts.events) / counts.seconds;
}

json columns_of(std::span<const compared_episode> episodes) {
    json columns;
    for (const char* const name :
         {"units", "delays_ms", "count", "expected", "q", "strength", "significant", "kind"})
        columns[name] = json::array();
    for (const auto& [what, in] : episodes) {
        json units = json::array();
        for (const unit_id unit : what.units) units.push_back(to_index(unit));
        json delays = json::array();
        for (const delay_interval& delay : what.delays)
            delays.push_back({ms(delay.low), ms(delay.high)});
        columns["units"].push_back(std::move(units));
        columns["delays_ms"].push_back(std::move(delays));
        json cells;
        for (const compared_count& one : in) {
            cells["count"].push_back(one.count);
            cells["expected"].push_back(one.expected);
            cells["q"].push_back(one.q);
            cells["strength"].push_back(one.strength);
            cells["significant"].push_back(one.significant);
            cells["kind"].push_back(one.kind.empty() ? json() : json(one.kind));
        }
        for (const auto& [name, values] : cells.items()) columns[name].push_back(values);
    }
    return columns;
}

json changes_json(const comparison& compared, std::size_t from, std::size_t to, double alpha) {
    json out{{"from", from}, {"to", to}};
    for (const char* const name : {"p", "q", "change"}) out[name] = json::array();
    for (const auto& [p, q, change] : changes_between(compared, from, to, alpha)) {
        out["p"].push_back(p);
        out["q"].push_back(q);
        out["change"].push_back(change);
    }
    return out;
}

}  // namespace

std::vector<episode_change> changes_between(const comparison& compared, std::size_t from,
                                            std::size_t to, double alpha) {
    std::vector<double> p;
    for (const compared_episode& one : compared.episodes)
        p.push_back(rate_change_p_value(counted(compared, one, from), counted(compared, one, to)));
    const auto q = adjust_p_values(p, p.size(), correction_method::benjamini_hochberg);
    std::vector<episode_change> changes;
    for (std::size_t i = 0; i < p.size(); ++i) {
        const compared_episode& one = compared.episodes[i];
        const bool was = one.in[from].significant;
        const bool is = one.in[to].significant;
        episode_change& change = changes.emplace_back(episode_change{p[i], q[i], ""});
        if (q[i] > alpha || (!was && !is)) continue;
        const bool rose =
            rate_of(counted(compared, one, to)) > rate_of(counted(compared, one, from));
        change.change = !was ? "new" : !is ? "gone" : rose ? "stronger" : "weaker";
    }
    return changes;
}

std::string comparison_page_data(const comparison& compared, bool is_series, double alpha) {
    const std::vector<compared_result>& results = compared.results;
    json document{{"format", "spikeweave page"},
                  {"version", 1},
                  {"kind", is_series ? "series" : "comparison"},
                  {"alpha", alpha},
                  {"units", results.front().spikes.unit_names()},
                  {"recordings", json::array()},
                  {"episodes", columns_of(compared.episodes)},
                  {"changes", json::array()}};
    for (std::size_t i = 0; i < results.size(); ++i) {
        document["recordings"].push_back({{"name", results[i].name},
                                          {"run", results[i].run},
                                          {"spikes", page_spikes(results[i].spikes)}});
        if (i > 0)
            document["changes"].push_back(changes_json(compared, is_series ? i - 1 : 0, i, alpha));
    }
    return page_text(document);
}

}  // namespace spikeweave::report
