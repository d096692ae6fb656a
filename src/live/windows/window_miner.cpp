#include "live/windows/window_miner.hpp"

#include <utility>

namespace spikeweave::live {
namespace {

// Windows that are skipped have to be told of, too. So many become complete at once only if the
// time of a stream jumps by many hops.
constexpr std::size_t most_in_queue = std::size_t{1} << 16;

}  // namespace

window_miner::window_miner(window_search& search, bool may_skip)
    : search_(&search),
      may_skip_(may_skip),
      thread_([this](const std::stop_token& over) { work(over); }) {}

void window_miner::throw_if_failed() const {
    if (has_failed_.load(std::memory_order_acquire)) std::rethrow_exception(failure_);
}

void window_miner::give(window_task task) {
    std::unique_lock lock(mutex_);
    const std::size_t most = may_skip_ ? most_in_queue : most_waiting;
    taken_.wait(lock, [&] { return has_failed_ || queue_.size() < most; });
    throw_if_failed();
    // A window without spikes takes no time.
    if (waiting_ == most_waiting && task.spikes && task.spikes->size() > 0) task.spikes.reset();
    waiting_ += task.spikes ? 1 : 0;
    queue_.push_back(std::move(task));
    lock.unlock();
    given_.notify_one();
}

void window_miner::finish() {
    std::unique_lock lock(mutex_);
    taken_.wait(lock, [&] { return has_failed_ || (queue_.empty() && is_idle_); });
    throw_if_failed();
}

void window_miner::work(const std::stop_token& over) {
    std::unique_lock lock(mutex_);
    while (given_.wait(lock, over, [&] { return !queue_.empty(); }) && !over.stop_requested()) {
        window_task task = std::move(queue_.front());
        queue_.pop_front();
        waiting_ -= task.spikes ? 1 : 0;
        is_idle_ = false;
        lock.unlock();
        taken_.notify_one();
        const bool goes_on = mine(std::move(task), over);
        lock.lock();
        is_idle_ = true;
        taken_.notify_one();
        if (!goes_on) return;
    }
}

bool window_miner::mine(window_task task, const std::stop_token& over) {
    std::stop_source either;
    const auto stop = [&either] { either.request_stop(); };
    const std::stop_callback when_stopped(task.how.stop, stop);
    const std::stop_callback when_over(over, stop);
    task.how.stop = either.get_token();
    try {
        search_->run(std::move(task));
        return true;
    } catch (...) {
        failure_ = std::current_exception();
        has_failed_.store(true, std::memory_order_release);
        return false;
    }
}

}  // namespace spikeweave::live
