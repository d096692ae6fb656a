#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/stop.hpp"
#include "mine/spade/closed_search.hpp"
#include "mine/spade/miners.hpp"
#include "mine/spade/rule_set.hpp"
#include "mine/spade/tasks.hpp"

namespace spikeweave {
namespace {

// Counts what the search would collect.
class counting : public spade::wants_all_that_rules_take {
public:
    using wants_all_that_rules_take::wants_all_that_rules_take;

    void drop(const spade::found_pattern& /*found*/) {}
    void take(const spade::found_pattern& found) {
        ++patterns;
        items += found.ids.size();
        occurrences += found.windows.size();
    }

    std::uint64_t patterns = 0;
    std::uint64_t items = 0;
    std::uint64_t occurrences = 0;
};

// One task in so many is tried; no further one after this time, and none for longer than that.
constexpr std::size_t sample_stride = 41;
constexpr std::chrono::milliseconds sample_time{500};
constexpr std::chrono::milliseconds longest_time{2000};

// Stops a search after a time, and when `asked` does.
class time_limit {
public:
    time_limit(std::chrono::milliseconds most, const std::stop_token& asked)
        : asked_(asked, [source = source_]() mutable { source.request_stop(); }),
          timer_([most, source = source_](const std::stop_token& over) mutable {
              std::mutex access;
              std::condition_variable_any woken;
              std::unique_lock lock(access);
              woken.wait_for(lock, over, most, [] { return false; });
              if (!over.stop_requested()) source.request_stop();
          }) {}
    std::stop_token stop() const { return source_.get_token(); }

private:
    std::stop_source source_{};
    std::stop_callback<std::function<void()>> asked_;
    std::jthread timer_;
};

}  // namespace

spade_estimate estimate_mining(const spade_windows& windows, const spade_options& options,
                               const execution& run) {
    spade::check_options(options);
    const spade::rule_set rules(options.rules);
    const spade::catalogue items(windows, rules.least_occ(), run.stop);
    const spade::preceding_spikes before(items, options.drop_window_subsets, run.stop);
    std::vector<spade::search_task> tasks = spade::plan_search(items, rules.least_occ(), run.stop);
    // Costly tasks and cheap ones in the share that they have of all.
    std::stable_sort(tasks.begin(), tasks.end(),
                     [](const auto& a, const auto& b) { return a.cost > b.cost; });
    double total = 0;
    for (const spade::search_task& task : tasks) total += task.cost;

    counting goal(rules);
    const time_limit limit(longest_time, run.stop);
    spade::closed_search search(items, before, goal, limit.stop());
    const auto began = std::chrono::steady_clock::now();
    double sampled = 0;
    std::size_t tried = 0;
    bool cut = false;
    for (std::size_t i = sample_stride / 2; i < tasks.size() && !cut; i += sample_stride) {
        try {
            search.run(tasks[i].root, tasks[i].first, tasks[i].last);
        } catch (const cancelled&) {
            throw_if_stopped(run.stop);
            cut = true;
        }
        sampled += tasks[i].cost;
        ++tried;
        if (std::chrono::steady_clock::now() - began > sample_time) break;
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
    // What a task finds grows about as its cost; where no cost was sampled, as the tasks.
    const double scale = sampled > 0 ? total / sampled
                         : tried > 0
                             ? static_cast<double>(tasks.size()) / static_cast<double>(tried)
                             : 0;
    const auto scaled = [&](std::uint64_t n) {
        return static_cast<std::uint64_t>(std::llround(scale * static_cast<double>(n)));
    };
    spade_estimate estimate{.candidates = scaled(search.candidates()),
                            .patterns = scaled(goal.patterns),
                            .seconds = scale * seconds.count(),
                            .at_least = cut};
    estimate.search_bytes = 8 * windows.item_count() + before.bytes();
    const std::uint64_t fixed = sizeof(std::uint64_t) + sizeof(std::uint32_t);
    estimate.table_bytes = estimate.patterns * fixed + scaled(goal.items) * sizeof(pattern_item);
    if (options.with_occurrences)
        estimate.table_bytes += estimate.patterns * sizeof(std::uint64_t) +
                                scaled(goal.occurrences) * sizeof(std::uint32_t);
    return estimate;
}

}  // namespace spikeweave
