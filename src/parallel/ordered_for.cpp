#include "parallel/ordered_for.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <future>
#include <mutex>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "parallel/parallel_for.hpp"

namespace spikeweave::parallel {

namespace {

// The turn for a single thread, which never has to wait.
class turn_of_one final : public order_turn {
public:
    bool is_own() const override { return true; }
    void wait() const override {}
};

// Thrown in a thread that waits if another thread has failed. The caller gets the exception of the
// thread that failed.
struct another_failed {};

// The queue of results that wait to be consumed.
class line {
public:
    line(std::size_t kept, const std::function<void(std::size_t)>& consume)
        : finished_(kept), consume_(consume) {}

    // Waits until the next piece may begin, that is, until it is near enough to the piece that the
    // consumer waits for. That piece has begun already, so there is always progress.
    // @return false if another thread has failed.
    bool enter(std::size_t& i, const std::stop_token& stop) {
        std::unique_lock lock(access_);
        i = begun_++;
        moved_.wait(lock, stop, [&] { return failed_ || i - consumed_ < finished_.size(); });
        core::throw_if_stopped(stop);
        return !failed_;
    }

    // Consumes all finished results from i on, unless another thread is doing so already.
    void leave(std::size_t i) {
        std::unique_lock lock(access_);
        at(i) = true;
        if (busy_) return;
        busy_ = true;
        while (!failed_ && at(consumed_)) {
            at(consumed_) = false;
            lock.unlock();
            consume_(consumed_);  // no other thread writes it meanwhile
            lock.lock();
            ++consumed_;
            moved_.notify_all();
        }
        busy_ = false;
    }

    bool is_turn_of(std::size_t i) {
        const std::lock_guard lock(access_);
        return consumed_ == i;
    }

    void wait_for_turn_of(std::size_t i, const std::stop_token& stop) {
        std::unique_lock lock(access_);
        moved_.wait(lock, stop, [&] { return failed_ || consumed_ == i; });
        core::throw_if_stopped(stop);
        if (failed_) throw another_failed();
    }

    void fail() {
        const std::lock_guard lock(access_);
        failed_ = true;
        moved_.notify_all();
    }

private:
    char& at(std::size_t i) { return finished_[i % finished_.size()]; }

    std::mutex access_;
    std::condition_variable_any moved_;
    std::vector<char> finished_;
    std::size_t begun_ = 0;
    std::size_t consumed_ = 0;
    bool busy_ = false;
    bool failed_ = false;
    const std::function<void(std::size_t)>& consume_;
};

class turn_in_line final : public order_turn {
public:
    turn_in_line(line& all, std::size_t i, std::stop_token stop)
        : all_(all), i_(i), stop_(std::move(stop)) {}
    bool is_own() const override { return all_.is_turn_of(i_); }
    void wait() const override { all_.wait_for_turn_of(i_, stop_); }

private:
    line& all_;
    std::size_t i_;
    std::stop_token stop_;
};

}  // namespace

std::size_t results_kept(std::size_t n, const execution& run) {
    constexpr std::size_t for_each_thread = 16;
    const int threads = thread_count(run);
    if (threads == 1) return 1;
    return std::clamp<std::size_t>(n, 1, for_each_thread * static_cast<std::size_t>(threads));
}

void run_in_order(std::size_t n, std::size_t kept, const execution& run, std::string_view task,
                  const std::function<void(std::size_t, const order_turn&)>& produce,
                  const std::function<void(std::size_t)>& consume) {
    if (thread_count(run) == 1) {
        parallel_for(n, run, task, [&](std::size_t i) {
            produce(i, turn_of_one());
            consume(i);
        });
        return;
    }
    line in_line(kept, consume);
    // The loop hands out its pieces in no particular order, so each call takes the next one
    // instead.
    parallel_for(n, run, task, [&](std::size_t) {
        try {
            std::size_t i = 0;
            if (!in_line.enter(i, run.stop)) return;
            isolate([&] {
                produce(i, turn_in_line(in_line, i, run.stop));
                in_line.leave(i);
            });
        } catch (const another_failed&) {
            return;
        } catch (...) {
            in_line.fail();
            throw;
        }
    });
}

void on_own_threads(std::size_t n, const std::function<void(std::size_t)>& work) {
    std::vector<std::future<void>> calls;
    calls.reserve(n);
    for (std::size_t i = 0; i < n; ++i)
        calls.push_back(std::async(i == 0 ? std::launch::deferred : std::launch::async,
                                   [&work, i] { work(i); }));
    std::exception_ptr failure;
    for (std::future<void>& call : calls) {
        try {
            call.get();
        } catch (...) {
            if (!failure) failure = std::current_exception();
        }
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace spikeweave::parallel
