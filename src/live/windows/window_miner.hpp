#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>

#include "live/windows/window_search.hpp"

namespace spikeweave::live {

/// A thread that mines windows, one after another, while others become complete.
class window_miner {
public:
    /// Windows that may wait, each with its spikes.
    static constexpr std::size_t most_waiting = 16;

    /// @param search  has to live as long
    /// @param may_skip  whether a window is skipped if too many wait; if not, `give` waits
    window_miner(window_search& search, bool may_skip);
    /// Ends the search at once.
    ~window_miner() = default;
    window_miner(const window_miner&) = delete;
    window_miner& operator=(const window_miner&) = delete;

    /// @throws what the search of an earlier window has thrown; also below.
    void give(window_task task);
    /// Waits until all windows have been mined.
    void finish();
    void throw_if_failed() const;

private:
    void work(const std::stop_token& over);
    bool mine(window_task task, const std::stop_token& over);

    window_search* search_;
    bool may_skip_;
    std::mutex mutex_{};
    std::condition_variable_any given_{}, taken_{};
    std::deque<window_task> queue_{};
    std::size_t waiting_ = 0;  // those of the queue that are to be mined
    bool is_idle_ = true;
    std::exception_ptr failure_{};
    std::atomic<bool> has_failed_{false};  // set after `failure_`
    std::jthread thread_{};                // the last member: it ends before what it uses
};

}  // namespace spikeweave::live
