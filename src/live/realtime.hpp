#pragma once

namespace spikeweave::live {

/// While it lives, the thread that made it runs before all others (SCHED_FIFO), and no memory of
/// the process is paged out. Threads that it starts are scheduled as usual.
class realtime_thread {
public:
    /// @throws invalid_argument if the system does not permit it.
    realtime_thread();
    ~realtime_thread();
    realtime_thread(const realtime_thread&) = delete;
    realtime_thread& operator=(const realtime_thread&) = delete;
    realtime_thread(realtime_thread&&) = delete;
    realtime_thread& operator=(realtime_thread&&) = delete;
};

}  // namespace spikeweave::live
