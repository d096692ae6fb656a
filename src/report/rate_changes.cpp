#include "report/rate_changes.hpp"

#include "spikeweave/assess/multiple_testing.hpp"

namespace spikeweave::report {
namespace {

double rate_of(const event_count& counts) {
    return static_cast<double>(counts.events) / counts.seconds;
}

}  // namespace

std::vector<rate_change> rate_changes(std::span<const counted_twice> counts, double alpha) {
    std::vector<double> p;
    p.reserve(counts.size());
    for (const counted_twice& one : counts) p.push_back(rate_change_p_value(one.before, one.after));
    const auto q = adjust_p_values(p, p.size(), correction_method::benjamini_hochberg);
    std::vector<rate_change> changes;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const auto& [before, after, was, is, is_rare] = counts[i];
        rate_change& change = changes.emplace_back(rate_change{p[i], q[i], ""});
        if (q[i] > alpha || (!was && !is)) continue;
        const bool rose = rate_of(after) > rate_of(before);
        change.change = !was ? "new" : !is ? "gone" : rose != is_rare ? "stronger" : "weaker";
    }
    return changes;
}

json columns_of(std::span<const rate_change> changes, std::size_t from, std::size_t to) {
    json out{{"from", from}, {"to", to}};
    for (const char* const name : {"p", "q", "change"}) out[name] = json::array();
    for (const auto& [p, q, change] : changes) {
        out["p"].push_back(p);
        out["q"].push_back(q);
        out["change"].push_back(change);
    }
    return out;
}

}  // namespace spikeweave::report
