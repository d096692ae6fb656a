#include "live/sinks/receivers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "io/file_error.hpp"
#include "live/network/zeromq.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

// Asks the plugin Network Events, one request after another, as a socket REQ would. But a request
// is only sent while there is a connection, and one that is not answered in time is given up
// together with its connection, so that a late answer is not taken for that to the next one.
class network_events_client {
public:
    using clock = std::chrono::steady_clock;

    /// @throws io_error if the address is invalid.
    explicit network_events_client(std::string address);

    /// Waits for a connection. Returns false if there is none in time, or if it is stopped.
    /// @throws io_error if the system has no more sockets.
    bool connect(clock::time_point deadline, const std::stop_token& stop = {});
    /// Sends a request over the connection and returns the answer; null if there is none in time.
    std::optional<std::string> ask(std::string_view request, clock::time_point deadline);

private:
    void make_socket();
    bool wait_for(short event, clock::time_point deadline, const std::stop_token& stop);
    bool send(std::string_view request);

    std::string address_;
    zeromq_context context_;
    zeromq_socket socket_{};  // null after a request that was given up
    zeromq_message answer_{};
};

network_events_client::network_events_client(std::string address)
    : address_(std::move(address)), context_(make_zeromq_context()) {
    make_socket();
}

void network_events_client::make_socket() {
    zeromq_socket made = make_zeromq_socket(context_, ZMQ_DEALER);
    set_zeromq_option(made, ZMQ_IMMEDIATE, 1);
    if (zmq_connect(made.get(), address_.c_str()) != 0)
        throw io_error(fmt::format("cannot connect to {}: {}", address_, zeromq_error()));
    socket_ = std::move(made);
}

bool network_events_client::wait_for(short event, clock::time_point deadline,
                                     const std::stop_token& stop) {
    constexpr long between_looks_ms = 50;
    while (!stop.stop_requested()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now());
        zmq_pollitem_t item{socket_.get(), 0, event, 0};
        const long wait_ms = std::clamp<long>(left.count(), 0, between_looks_ms);
        if (zmq_poll(&item, 1, wait_ms) > 0) return true;
        if (left.count() <= 0) return false;
    }
    return false;
}

bool network_events_client::connect(clock::time_point deadline, const std::stop_token& stop) {
    if (!socket_) make_socket();
    return wait_for(ZMQ_POLLOUT, deadline, stop);
}

// An empty frame stands before a request, and before its answer.
bool network_events_client::send(std::string_view request) {
    return zmq_send(socket_.get(), "", 0, ZMQ_DONTWAIT | ZMQ_SNDMORE) >= 0 &&
           zmq_send(socket_.get(), request.data(), request.size(), ZMQ_DONTWAIT) >= 0;
}

std::optional<std::string> network_events_client::ask(std::string_view request,
                                                      clock::time_point deadline) {
    if (send(request) && wait_for(ZMQ_POLLIN, deadline, {}) && answer_.receive(socket_, address_)) {
        const auto frames = answer_.frames();
        if (frames.size() == 2) return std::string(frames[1]);
    }
    socket_.reset();
    return {};
}

constexpr std::size_t most_waiting_detections = 64;
// The longest time that a request waits for its answer, and a detection for its request.
constexpr std::chrono::seconds patience{1};
constexpr auto waited_too_long = "detections waited for a second";

// The plugin says which line it has set, as "TTLHandled: Channel=3 on=1". One that does not know
// these words answers with what it has set instead.
bool confirms(std::string_view answer, std::uint32_t line, std::uint32_t state) {
    if (!answer.starts_with("TTLHandled")) return false;
    std::vector<std::uint32_t> values;
    for (std::size_t at = answer.find('='); at != std::string_view::npos;
         at = answer.find('=', at + 1)) {
        std::uint32_t value = UINT32_MAX;
        std::from_chars(answer.data() + at + 1, answer.data() + answer.size(), value);
        values.push_back(value);
    }
    return values.empty() || values == std::vector{line, state};
}

class network_events_reaction : public reaction {
public:
    network_events_reaction(const destination& to, const std::shared_ptr<delivery_report>& report)
        : reaction(to, report),
          is_ttl_(to.kind == destination_kind::open_ephys_ttl),
          line_(to.line),
          pulse_(to.pulse),
          client_(to.address),
          thread_([this](const std::stop_token& stop) { serve(stop); }) {}

private:
    using clock = network_events_client::clock;
    struct waiting_detection {
        clock::time_point since{};
        std::optional<clock::time_point> deadline{};  // of what is sent first
        std::string message{};
    };

    // Waits until all detections were confirmed or are lost, at most some seconds.
    void finish() override {
        {
            const std::lock_guard lock(mutex_);
            is_ending_ = true;
        }
        wakened_.notify_one();
        thread_.join();
    }

    void react(const detection& what) override {
        waiting_detection one{clock::now(), deadline_of(what)};
        if (!is_ttl_) one.message = marker_text(what);
        {
            const std::lock_guard lock(mutex_);
            if (waiting_.size() < most_waiting_detections) {
                waiting_.push_back(std::move(one));
                wakened_.notify_one();
                return;
            }
        }
        report().tell_lost(fmt::format("{} detections wait already", most_waiting_detections));
    }

    void serve(const std::stop_token& stop) {
        if (!client_.connect(clock::now() + patience, stop) && !stop.stop_requested())
            report().tell_trouble("there is no connection");
        while (const auto one = next(stop)) deliver(*one);
        if (may_be_high_) lower();
    }

    // The next detection; null at the end. A line that may still be high is set to 0 meanwhile.
    std::optional<waiting_detection> next(const std::stop_token& stop) {
        constexpr std::chrono::milliseconds between_tries{100};
        std::unique_lock lock(mutex_);
        const auto is_wakened = [&] { return !waiting_.empty() || is_ending_; };
        while (!wakened_.wait_for(lock, stop, between_tries, is_wakened)) {
            if (stop.stop_requested()) return {};
            lock.unlock();
            if (may_be_high_) lower();
            lock.lock();
        }
        if (stop.stop_requested() || waiting_.empty()) return {};
        waiting_detection one = std::move(waiting_.front());
        waiting_.pop_front();
        return one;
    }

    void deliver(const waiting_detection& one) {
        deadline_ = one.deadline;
        const clock::time_point deadline = one.since + patience;
        if (is_ttl_ ? pulse(deadline) : ask(one.message, deadline).has_value())
            report().tell_delivered();
        else
            report().tell_lost(problem_);
    }

    // At the end, many may wait for a plugin that does not answer: only those that are not too old
    // wait for it once more.
    bool pulse(clock::time_point deadline) {
        if (clock::now() >= deadline) {
            problem_ = waited_too_long;
            return false;
        }
        if (may_be_high_ && !lower()) return false;
        if (!set_line(1, deadline)) return false;
        std::this_thread::sleep_for(pulse_);
        return lower();
    }

    bool lower() {
        if (!set_line(0, clock::now() + patience)) return false;
        may_be_high_ = false;
        return true;
    }

    bool set_line(std::uint32_t state, clock::time_point deadline) {
        const auto answer =
            ask(fmt::format("TTL Line={} State={}", line_, state), deadline, state == 1);
        if (!answer) return false;
        if (confirms(*answer, line_, state)) return true;
        problem_ = fmt::format("the answer was {}", io::shown(*answer));
        return false;
    }

    std::optional<std::string> ask(std::string_view request, clock::time_point deadline,
                                   bool raises_line = false) {
        problem_ = waited_too_long;
        if (clock::now() >= deadline) return {};
        problem_ = "there was no connection";
        try {
            if (!client_.connect(deadline)) return {};
            if (raises_line && deadline_ && clock::now() > *deadline_) {
                problem_ = too_old();
                return {};
            }
            problem_ = "there was no answer within a second";
            if (raises_line) may_be_high_ = true;
            return client_.ask(request, deadline);
        } catch (const io_error& error) {
            problem_ = error.what();
            return {};
        }
    }

    bool is_ttl_;
    std::uint32_t line_;
    duration pulse_;
    std::mutex mutex_{};
    std::condition_variable_any wakened_{};
    std::deque<waiting_detection> waiting_{};
    bool is_ending_ = false;
    // Used by the thread alone.
    network_events_client client_;
    bool may_be_high_ = false;
    std::optional<clock::time_point> deadline_{};  // for raising the line
    std::string problem_{};
    std::jthread thread_;  // the last member: it ends before what it uses
};

}  // namespace

std::unique_ptr<reaction> network_events(const destination& to,
                                         const std::shared_ptr<delivery_report>& report) {
    return std::make_unique<network_events_reaction>(to, report);
}

}  // namespace spikeweave::live
