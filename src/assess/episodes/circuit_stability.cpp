#include "spikeweave/assess/episodes/circuit_stability.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <unordered_set>

#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"

namespace spikeweave {
namespace {

// Steps between two random circuits for each edge; ten are the usual number.
constexpr std::size_t steps_an_edge = 10;

struct hash_of_pair {
    std::size_t operator()(const directed_pair& edge) const {
        return std::hash<std::uint64_t>()(std::uint64_t{to_index(edge.first)} << 32 |
                                          to_index(edge.second));
    }
};

// A random circuit in which each unit keeps its numbers of incoming and outgoing edges. A step that
// is not allowed leaves it as it is, so that in the long run all circuits are equally likely.
class exchanged_circuit {
public:
    exchanged_circuit(std::span<const directed_pair> edges,
                      const circuit_stability_options& options)
        : edges_(edges.begin(), edges.end()),
          has_(edges.begin(), edges.end()),
          // `compare_ratios` and `find_change_points` have the other streams of this purpose.
          random_(options.seed, random_purpose::label_permutation, 0, 0xFFFFFFFF) {}

    void move_on() {
        for (std::size_t step = 0; step < steps_an_edge * edges_.size(); ++step) {
            if (random_.below(2) == 0)
                exchange_ends(draw(), draw());
            else
                reverse_cycle(draw(), draw(), draw());
        }
    }

    std::size_t common_with(std::span<const directed_pair> others) const {
        return static_cast<std::size_t>(std::ranges::count_if(
            others, [&](const directed_pair& one) { return has_.contains(one); }));
    }

private:
    std::size_t draw() { return random_.below(edges_.size()); }

    bool is_free(const directed_pair& edge) const {
        return edge.first != edge.second && !has_.contains(edge);
    }

    void put(std::size_t at, const directed_pair& edge) {
        edges_[at] = edge;
        has_.insert(edge);
    }

    // a→b and c→d become a→d and c→b.
    void exchange_ends(std::size_t i, std::size_t j) {
        const directed_pair one{edges_[i].first, edges_[j].second};
        const directed_pair other{edges_[j].first, edges_[i].second};
        if (i == j || !is_free(one) || !is_free(other)) return;
        has_.erase(edges_[i]);
        has_.erase(edges_[j]);
        put(i, one);
        put(j, other);
    }

    // a→b→c→a becomes c→b→a→c.
    void reverse_cycle(std::size_t i, std::size_t j, std::size_t k) {
        const directed_pair cycle[]{edges_[i], edges_[j], edges_[k]};
        const bool is_cycle = cycle[0].second == cycle[1].first &&
                              cycle[1].second == cycle[2].first &&
                              cycle[2].second == cycle[0].first;
        const auto back = [](const directed_pair& edge) {
            return directed_pair{edge.second, edge.first};
        };
        if (!is_cycle) return;
        for (const directed_pair& edge : cycle)
            if (!is_free(back(edge))) return;
        for (const directed_pair& edge : cycle) has_.erase(edge);
        put(i, back(cycle[0]));
        put(j, back(cycle[1]));
        put(k, back(cycle[2]));
    }

    std::vector<directed_pair> edges_;
    std::unordered_set<directed_pair, hash_of_pair> has_;
    random_stream random_;
};

double jaccard_of(std::size_t common, const circuit_stability& both) {
    return static_cast<double>(common) / static_cast<double>(both.before + both.after - common);
}

}  // namespace

option_list describe(circuit_stability_options& options) {
    option_list list;
    list.add("exchanges", options.exchanges,
             "number of random circuits, in which each unit keeps its numbers of edges")
        .at_least(1);
    list.add("seed", options.seed, "random seed of these circuits");
    return list;
}

std::vector<directed_pair> direct_pairs(const circuit& found) {
    std::vector<directed_pair> pairs;
    for (const circuit_edge& edge : found.edges)
        if (edge.kind == edge_kind::direct) pairs.emplace_back(edge.from, edge.to);
    std::ranges::sort(pairs);
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    return pairs;
}

circuit_stability measure_stability(std::span<const directed_pair> before,
                                    std::span<const directed_pair> after,
                                    const circuit_stability_options& options,
                                    const execution& run) {
    check_options(options);
    circuit_stability out{.before = before.size(), .after = after.size()};
    std::vector<directed_pair> common;
    std::ranges::set_intersection(before, after, std::back_inserter(common));
    out.common = common.size();
    if (before.empty() || after.empty()) return out;
    out.jaccard = jaccard_of(out.common, out);
    exchanged_circuit random(before, options);
    double sum = 0;
    std::uint32_t reached = 0;
    bool can_differ = false;
    for (std::uint32_t i = 0; i < options.exchanges; ++i) {
        if (run.stop.stop_requested()) throw cancelled();
        random.move_on();
        const std::size_t found = random.common_with(after);
        sum += jaccard_of(found, out);
        reached += found >= out.common ? 1 : 0;
        can_differ = can_differ || random.common_with(before) < before.size();
    }
    out.expected = sum / options.exchanges;
    out.p = (reached + 1.0) / (options.exchanges + 1.0);
    if (can_differ && *out.expected < 1)
        out.index = (*out.jaccard - *out.expected) / (1 - *out.expected);
    return out;
}

}  // namespace spikeweave
