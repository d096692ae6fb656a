#include "live/window_search.hpp"

#include <malloc.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "spikeweave/core/memory.hpp"

namespace spikeweave::live {

search_limit::search_limit(std::optional<clock::time_point> end, std::uint64_t most_bytes)
    : end_(end), most_bytes_(most_bytes) {
    if (end_ || most_bytes_ > 0)
        watch_ = std::jthread([this](const std::stop_token& over) { watch(over); });
}

void search_limit::watch(const std::stop_token& over) {
    constexpr std::chrono::milliseconds between_looks{10};
    std::mutex mutex;
    std::condition_variable_any wakened;
    std::unique_lock lock(mutex);
    while (!over.stop_requested()) {
        const auto now = clock::now();
        memory_was_exceeded_ = most_bytes_ > 0 && resident_memory_bytes() > most_bytes_;
        if (memory_was_exceeded_ || (end_ && now >= *end_)) {
            source_.request_stop();
            return;
        }
        auto next_look = most_bytes_ > 0 ? now + between_looks : *end_;
        if (end_) next_look = std::min(next_look, *end_);
        wakened.wait_until(lock, over, next_look, [] { return false; });
    }
}

void window_counts::add(const window_outcome& outcome) {
    if (outcome == std::size_t{0}) {
        ++skipped;
        return;
    }
    ++mined;
    if (outcome) ++incomplete;
}

window_search::window_search(episode_mining_options options, const window_pace& pace, sink& results,
                             window_judge* judge)
    : options_(std::move(options)), pace_(pace), results_(&results), judge_(judge) {}

void window_search::run(window_task task) {
    episode_table& table = task.result.mined.table;
    table.complete_to_size = 0;
    std::optional<spike_sequence> spikes;
    if (task.spikes && has_time(task)) {
        spikes = task.spikes->sequence();
        table = mine(*spikes, task, search_limit(end_of(task), pace_.max_memory_bytes));
    }
    // A search that counted nothing is as one that did not begin.
    if (task.result.is_skipped()) table = {.complete_to_size = 0};
    {
        const std::lock_guard lock(mutex_);
        counts_.add(table.complete_to_size);
    }
    results_->mined(task.result);
    judge(task, spikes ? &*spikes : nullptr);
}

void window_search::judge_again(window_task task) {
    std::optional<spike_sequence> spikes;
    if (task.spikes) {
        spikes = task.spikes->sequence();
        task.result.mined.table = mine(*spikes, task, search_limit({}, 0));
    }
    judge(task, spikes ? &*spikes : nullptr);
}

void window_search::judge(const window_task& task, const spike_sequence* spikes) const {
    if (!task.judged) return;
    const mined_window& window = task.result;
    judge_->judge({.number = *task.judged,
                   .epoch = window.epoch,
                   .bounds = window.mined.bounds,
                   .spikes = spikes,
                   .table = &window.mined.table},
                  task.how);
}

std::optional<search_limit::clock::time_point> window_search::end_of(
    const window_task& task) const {
    if (!pace_.budget) return {};
    return task.complete_at + *pace_.budget;
}

bool window_search::has_time(const window_task& task) const {
    const auto end = end_of(task);
    return !end || search_limit::clock::now() < *end;
}

episode_table window_search::mine(const spike_sequence& spikes, const window_task& task,
                                  const search_limit& limit) const {
    episode_mining_options options = options_;
    if (task.to_size) options.max_size = *task.to_size;
    episode_table table = mine_episodes(spikes, options, task.how, limit.enough());
    if (task.to_size) table.complete_to_size = task.to_size;
    // What the search has freed is given back, so that the next one has room.
    if (limit.memory_was_exceeded()) malloc_trim(0);
    return table;
}

window_counts window_search::counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

}  // namespace spikeweave::live
