#include "live/windows/window_search.hpp"

#include <malloc.h>

#include <condition_variable>
#include <mutex>
#include <utility>

#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

bool is_before(const std::optional<search_limit::clock::time_point>& end) {
    return !end || search_limit::clock::now() < *end;
}

}  // namespace

search_limit::search_limit(std::optional<clock::time_point> end, std::uint64_t most_bytes) {
    if (most_bytes > 0) memory_.emplace(most_bytes, time_is_over_.get_token());
    if (end)
        timer_ = std::jthread([this, end = *end](const std::stop_token& not_needed) {
            std::mutex mutex;
            std::condition_variable_any wakened;
            std::unique_lock lock(mutex);
            wakened.wait_until(lock, not_needed, end, [] { return false; });
            if (!not_needed.stop_requested()) time_is_over_.request_stop();
        });
}

std::stop_token search_limit::enough() const {
    if (memory_) return memory_->stop();
    return timer_.joinable() ? time_is_over_.get_token() : std::stop_token();
}

bool search_limit::memory_was_exceeded() const {
    return memory_ && memory_->stop().stop_requested() && !time_is_over_.stop_requested();
}

void window_counts::add(const recorded_outcome& outcome) {
    if (outcome.was_tested == false) ++untested;
    if (outcome.mined == std::size_t{0}) {
        ++skipped;
        return;
    }
    ++mined;
    if (outcome.mined) ++incomplete;
}

window_search::window_search(episode_window_options options, const window_pace& pace, sink& results,
                             arming_decider* decider)
    : options_(std::move(options)),
      miner_(options_),
      pace_(pace),
      results_(&results),
      decider_(decider) {}

// The record says of a window whether it was tested, so it is given after its test, and decides
// what is armed after that.
void window_search::run(window_task task) {
    if (task.silent) return results_->take(*task.silent);
    mined_window& window = task.result;
    window.mined.table.complete_to_size = 0;
    const auto end = end_of_search(task);
    if (task.spikes && (task.spikes->size() == 0 || is_before(end)))
        window.mined.table = mine(task, search_limit(end, pace_.max_memory_bytes));
    // A search that counted nothing is as one that did not begin.
    if (window.is_skipped()) window.mined.table = {.complete_to_size = 0};
    std::optional<spike_sequence> spikes;
    std::vector<episode> significant;
    if (task.decision && !window.is_skipped()) {
        spikes = task.spikes->sequence();
        auto tested = test(task, *spikes, end_of(task));
        window.was_tested = tested.has_value();
        if (tested) significant = std::move(*tested);
    }
    {
        const std::lock_guard lock(mutex_);
        counts_.add({window.mined.table.complete_to_size, window.was_tested});
    }
    results_->take(window);
    decide(task, spikes ? &*spikes : nullptr, std::move(significant));
}

void window_search::decide_again(window_task task) {
    std::optional<spike_sequence> spikes;
    std::vector<episode> significant;
    if (task.spikes && !task.is_untested) {
        spikes = task.spikes->sequence();
        task.result.mined.table = mine(task, search_limit({}, 0));
        significant = *test(task, *spikes, {});
    }
    decide(task, spikes ? &*spikes : nullptr, std::move(significant));
}

// Null if it did not end in its time.
std::optional<std::vector<episode>> window_search::test(const window_task& task,
                                                        const spike_sequence& spikes,
                                                        time_limit end) const {
    if (task.is_untested || !is_before(end)) return {};
    const search_limit limit(end, 0);
    std::stop_source either;
    const auto stop = [&either] { either.request_stop(); };
    const std::stop_callback when_stopped(task.how.stop, stop);
    const std::stop_callback when_enough(limit.enough(), stop);
    execution how = task.how;
    how.stop = either.get_token();
    try {
        return significant_episodes(spikes, task.result.mined.table, how);
    } catch (const cancelled&) {
        if (task.how.stop.stop_requested()) throw;
        return {};
    }
}

void window_search::decide(const window_task& task, const spike_sequence* spikes,
                           std::vector<episode> significant) const {
    if (!task.decision) return;
    decider_->add({.number = *task.decision,
                   .epoch = task.result.epoch,
                   .bounds = task.result.mined.bounds,
                   .spikes = spikes,
                   .significant = std::move(significant)});
}

window_search::time_limit window_search::end_of(const window_task& task) const {
    if (!pace_.budget) return {};
    return task.complete_at + *pace_.budget;
}

// The episodes of a window that decides must be tested after the search.
window_search::time_limit window_search::end_of_search(const window_task& task) const {
    if (!pace_.budget || !task.decision) return end_of(task);
    return task.complete_at + *pace_.budget * 3 / 4;
}

episode_table window_search::mine(const window_task& task, const search_limit& limit) {
    if (!task.to_size) {
        episode_table table = miner_.mine(*task.spikes, task.how, limit.enough());
        // Memory that the search has freed is returned to the system, for the next one.
        if (limit.memory_was_exceeded()) malloc_trim(0);
        return table;
    }
    episode_mining_options options = options_.mining;
    options.max_size = *task.to_size;
    episode_table table = mine_episodes(task.spikes->sequence(), options, task.how);
    table.complete_to_size = task.to_size;
    return table;
}

window_counts window_search::counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

}  // namespace spikeweave::live
