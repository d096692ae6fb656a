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

window_search::window_search(episode_mining_options options, const window_pace& pace, sink& results)
    : options_(std::move(options)), pace_(pace), results_(&results) {}

void window_search::run(window_task task) {
    episode_table& table = task.result.mined.table;
    table.complete_to_size = 0;
    if (task.spikes) table = mine(task);
    // A search that counted nothing is as one that did not begin.
    if (task.result.is_skipped()) table = {.complete_to_size = 0};
    {
        const std::lock_guard lock(mutex_);
        counts_.add(table.complete_to_size);
    }
    results_->mined(task.result);
}

episode_table window_search::mine(const window_task& task) const {
    std::optional<search_limit::clock::time_point> end;
    if (pace_.budget) end = task.complete_at + *pace_.budget;
    if (end && search_limit::clock::now() >= *end) return {.complete_to_size = 0};
    episode_mining_options options = options_;
    if (task.to_size) options.max_size = *task.to_size;
    const search_limit limit(end, pace_.max_memory_bytes);
    episode_table table = mine_episodes(task.spikes->sequence(), options, task.how, limit.enough());
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
