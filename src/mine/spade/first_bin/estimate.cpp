#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <ctime>
#include <functional>
#include <mutex>
#include <numeric>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "mine/spade/first_bin/closed_search.hpp"
#include "mine/spade/first_bin/rule_set.hpp"
#include "mine/spade/first_bin/tasks.hpp"
#include "mine/spade/search/miners.hpp"

namespace spikeweave {
namespace {

// Estimates the counts that the search would collect, from some children of each node. Each of them
// represents the children left out, so that sums are right on average for any tree (Knuth 1975,
// doi:10.1090/S0025-5718-1975-0373371-6; Chen 1992, doi:10.1137/0221022).
class probing : public spade::wants_all_that_rules_take {
public:
    probing(const spade::rule_set& rules, double most_children)
        : wants_all_that_rules_take(rules), most_children_(most_children) {}

    void begin() {
        weights_ = {1};
        sums = {};
    }
    // The root is open: from now on the time counts.
    void visits() { since_ = clock::now(); }

    bool enters(std::size_t children) {
        const double weight = weights_.back();
        const std::size_t depth = weights_.size();
        if (sums.candidates.size() < depth) sums.candidates.resize(depth);
        sums.candidates[depth - 1] += weight;
        const double share = std::min(1.0, most_children_ / static_cast<double>(children));
        constexpr double step = 0x1p-53;
        if (share < 1 && static_cast<double>(draw_() >> 11U) * step >= share) return false;
        spend();
        weights_.push_back(weight / share);
        return true;
    }
    void leaves() {
        spend();
        ++at_depth_[weights_.size() - 2].visited;
        weights_.pop_back();
    }

    // What the search would take for so many candidates of each depth, if those of one depth take
    // the same time on average: the deeper, the fewer windows they have, and the smaller the part
    // of them that was visited.
    double seconds_for(std::span<const double> candidates) const {
        double seconds = 0;
        double each = 0;  // of a depth that was not visited: as of that above
        for (std::size_t d = 0; d < candidates.size(); ++d) {
            if (d < at_depth_.size() && at_depth_[d].visited > 0)
                each = at_depth_[d].seconds / static_cast<double>(at_depth_[d].visited);
            seconds += candidates[d] * each;
        }
        return seconds;
    }
    // By the clock, in all roots and their candidates.
    double searching() const { return searching_; }

    void drop(const spade::found_pattern& /*found*/) {}
    void take(const spade::found_pattern& found) {
        sums.patterns += weights_.back();
        sums.items += weights_.back() * static_cast<double>(found.ids.size());
        sums.occurrences += weights_.back() * static_cast<double>(found.windows.size());
    }

    struct totals {
        std::vector<double> candidates{};  // by depth
        double patterns = 0;
        double items = 0;
        double occurrences = 0;
        double seconds = 0;

        double all_candidates() const {
            return std::accumulate(candidates.begin(), candidates.end(), 0.0);
        }
        void add(const totals& other, double times) {
            candidates.resize(std::max(candidates.size(), other.candidates.size()));
            for (std::size_t d = 0; d < other.candidates.size(); ++d)
                candidates[d] += times * other.candidates[d];
            patterns += times * other.patterns;
            items += times * other.items;
            occurrences += times * other.occurrences;
            seconds += times * other.seconds;
        }
    };
    totals sums{};

private:
    using clock = std::chrono::steady_clock;
    struct time_at_depth {
        double seconds = 0;
        std::size_t visited = 0;
    };

    // Adds the time since the last call to the candidate that the search is in; that between two
    // candidates of a root belongs to none.
    void spend() {
        const clock::time_point now = clock::now();
        const double seconds = std::chrono::duration<double>(now - since_).count();
        searching_ += seconds;
        if (weights_.size() > 1) {
            if (at_depth_.size() < weights_.size() - 1) at_depth_.resize(weights_.size() - 1);
            at_depth_[weights_.size() - 2].seconds += seconds;
        }
        since_ = now;
    }

    double most_children_;
    std::vector<double> weights_{1};
    std::vector<time_at_depth> at_depth_{};
    double searching_ = 0;
    clock::time_point since_{};
    std::mt19937_64 draw_{};
};

// Probes begin until the first of these times is over, and all end when the second is. A search
// that takes less itself is not sampled for longer than that, but for the last of them.
constexpr std::chrono::milliseconds sample_time{500};
constexpr std::chrono::milliseconds longest_time{2000};
constexpr std::chrono::milliseconds shortest_time{50};

using seconds_t = std::chrono::duration<double>;

// Processor time of the process, in which only the sampling thread works. By the clock, a busy
// machine would cut the sample short, to nothing in the end.
seconds_t processor_time() {
    return seconds_t(static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
}

// Stops a search after a certain processor time, and when `asked` is triggered.
class time_limit {
public:
    time_limit(seconds_t most, const std::stop_token& asked)
        : asked_(asked, [source = source_]() mutable { source.request_stop(); }),
          timer_([end = processor_time() + most,
                  source = source_](const std::stop_token& over) mutable {
              std::mutex access;
              std::condition_variable_any woken;
              std::unique_lock lock(access);
              for (seconds_t left = end - processor_time();
                   left > seconds_t(0) && !over.stop_requested(); left = end - processor_time())
                  woken.wait_for(lock, over, left, [] { return false; });
              if (!over.stop_requested()) source.request_stop();
          }) {}
    std::stop_token stop() const { return source_.get_token(); }

private:
    std::stop_source source_{};
    std::stop_callback<std::function<void()>> asked_;
    std::jthread timer_;
};

struct probed {
    probing::totals sums{};
    bool too_few = false;
};

// Draws roots in proportion to their costs, as often as time allows.
class root_drawer {
public:
    root_drawer(const spade::item_index& items, std::uint32_t least_occ,
                const std::stop_token& stop)
        : costs_(items.first_bin_items(), 0.0) {
        for (const spade::search_task& task : spade::plan_search(items, least_occ, stop))
            costs_[task.root] += task.cost;
        // A root without later items is at most a pattern by itself.
        const double least = 1e-3 * (*std::max_element(costs_.begin(), costs_.end()) + 1);
        for (double& cost : costs_) total_ += cost += least;
        ends_.reserve(costs_.size());
        for (const double cost : costs_)
            ends_.push_back((ends_.empty() ? 0 : ends_.back()) + cost / total_);
    }

    // Number i of a sequence that fills [0, 1) evenly from the start (the golden ratio's).
    spade::item_index::item_id root(std::size_t i) const {
        constexpr double golden = 0.6180339887498949;
        const double place = std::fmod(0.5 + golden * static_cast<double>(i), 1.0);
        const auto at = std::upper_bound(ends_.begin(), ends_.end(), place) - ends_.begin();
        return static_cast<spade::item_index::item_id>(
            std::min<std::size_t>(static_cast<std::size_t>(at), costs_.size() - 1));
    }
    // The number of roots that each draw of this one represents.
    double weight(spade::item_index::item_id root) const { return total_ / costs_[root]; }

private:
    std::vector<double> costs_;
    std::vector<double> ends_{};
    double total_ = 0;
};

probed probe(const spade::item_index& items, const spade::preceding_spikes& before,
             const spade::rule_set& rules, const execution& run) {
    constexpr double most_children = 4;
    constexpr std::size_t fewest_probes = 8;
    constexpr std::size_t few_probes = 64;
    probed out;
    if (items.first_bin_items() == 0) return out;
    const root_drawer roots(items, rules.least_occ(), run.stop);
    probing goal(rules, most_children);
    const time_limit limit(longest_time, run.stop);
    spade::closed_search search(items, before, goal, limit.stop());
    const seconds_t began = processor_time();
    const auto now = [&] { return (processor_time() - began).count(); };
    std::size_t probes = 0;
    double visiting = 0;
    // On a busy machine, the clock goes on while the processor works for others.
    const auto mean_seconds = [&] {
        const double by_clock = goal.searching();
        return by_clock > 0 ? visiting / by_clock * goal.seconds_for(out.sums.candidates) /
                                  static_cast<double>(probes)
                            : 0;
    };
    const auto is_enough = [&] {
        const double most = probes < few_probes ? seconds_t(sample_time).count() : mean_seconds();
        return now() >=
               std::clamp(most, seconds_t(shortest_time).count(), seconds_t(sample_time).count());
    };
    try {
        while (probes == 0 || !is_enough()) {
            const spade::item_index::item_id root = roots.root(probes);
            goal.begin();
            search.run(root, 0, 0);  // opens it
            const double opened = now();
            goal.visits();
            search.run(root, 0, spade::past_all_ranks);
            visiting += now() - opened;
            out.sums.add(goal.sums, roots.weight(root));
            ++probes;
        }
    } catch (const cancelled&) {
        core::throw_if_stopped(run.stop);
    }
    out.too_few = probes < fewest_probes;
    if (probes == 0) return out;
    probing::totals mean;
    mean.add(out.sums, 1 / static_cast<double>(probes));
    mean.seconds = mean_seconds();
    out.sums = std::move(mean);
    return out;
}

}  // namespace

spade_estimate estimate_mining(const spade_windows& windows, const pattern_mining_options& options,
                               const execution& run) {
    spade::check_options(options);
    const spade::rule_set rules(options.rules);
    const spade::item_index items(windows, rules.least_occ(), run.stop);
    const spade::preceding_spikes before(items, options.drop_window_subsets, run.stop);
    const probed found = probe(items, before, rules, run);
    constexpr double most = 1e15;  // so that sizes in bytes fit into 64 bits
    const auto scaled = [&](double n) {
        return static_cast<std::uint64_t>(std::llround(std::min(n, most)));
    };
    spade_estimate estimate{.candidates = scaled(found.sums.all_candidates()),
                            .patterns = scaled(found.sums.patterns),
                            .seconds = found.sums.seconds,
                            .at_least = found.too_few || found.sums.all_candidates() > most};
    estimate.search_bytes = 8 * windows.item_count() + before.bytes();
    const std::uint64_t fixed = sizeof(std::uint64_t) + sizeof(std::uint32_t);
    estimate.table_bytes =
        estimate.patterns * fixed + scaled(found.sums.items) * sizeof(pattern_item);
    if (options.with_occurrences)
        estimate.table_bytes += estimate.patterns * sizeof(std::uint64_t) +
                                scaled(found.sums.occurrences) * sizeof(std::uint32_t);
    return estimate;
}

}  // namespace spikeweave
