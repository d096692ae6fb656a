#include "live/sources/streams.hpp"

#include <fmt/format.h>
#include <zmq.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "live/network/zeromq.hpp"
#include "live/sources/arrivals.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

class acknowledged_source : public source {
public:
    acknowledged_source(std::string address, senders from, std::stop_token stop)
        : address_(std::move(address)),
          stop_(std::move(stop)),
          senders_(std::move(from)),
          context_(make_zeromq_context()),
          socket_(make_zeromq_socket(context_, ZMQ_ROUTER)) {
        // The last answers are still sent when the socket is closed.
        constexpr int until_answers_are_sent_ms = 1000;
        set_zeromq_option(socket_, ZMQ_LINGER, until_answers_are_sent_ms);
        const auto most_bytes = static_cast<std::int64_t>(sender_hello::longest_message);
        zmq_setsockopt(socket_.get(), ZMQ_MAXMSGSIZE, &most_bytes, sizeof most_bytes);
        if (zmq_bind(socket_.get(), address_.c_str()) != 0)
            throw io_error(fmt::format("cannot listen at {}: {}", address_, zeromq_error()));
    }

    const std::vector<std::string>& unit_names() const override { return senders_.unit_names(); }

    void acknowledge_after(const std::function<std::uint64_t()>& safe_blocks) override {
        safe_blocks_ = safe_blocks;
    }

    std::chrono::steady_clock::time_point arrived_after() const override {
        return arrived_.since();
    }

    std::optional<source_block> next() override {
        constexpr int between_looks_ms = arrival_bound::between_looks.count();
        const auto end = std::chrono::steady_clock::now() + longest_silence;
        while (!stop_.stop_requested()) {
            if (std::chrono::steady_clock::now() >= end) return source_block{};
            const bool has_received = receive();
            answer();
            if (auto block = senders_.next_block()) return block;
            if (senders_.have_finished()) break;
            // Blocks become safe without a message.
            if (!has_received) wait(senders_.all_is_acknowledged() ? between_looks_ms : 1);
        }
        acknowledge_all();
        return {};
    }

private:
    // Takes what has come, up to a limit. Returns whether something has.
    bool receive() {
        constexpr std::size_t most_at_once = 100;
        std::size_t taken = 0;
        arrived_.begin_read();
        while (taken < most_at_once && received_.receive(socket_, address_)) {
            const std::span<const std::string_view> frames = received_.frames();
            senders_.take(frames.front(), frames.subspan(1));
            ++taken;
        }
        arrived_.looked(taken < most_at_once);
        return taken > 0;
    }

    void answer() {
        senders_.acknowledge(safe_blocks_ ? safe_blocks_() : senders_.blocks());
        for (const senders::answer& one : senders_.take_answers()) {
            // Who is not connected any more, or does not listen, will ask again.
            const std::string text = answer_message(one.what);
            const std::string& to = one.connection;
            if (zmq_send(socket_.get(), to.data(), to.size(), ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0)
                zmq_send(socket_.get(), text.data(), text.size(), ZMQ_DONTWAIT);
        }
    }

    void wait(int most_ms) const {
        zmq_pollitem_t item{socket_.get(), 0, ZMQ_POLLIN, 0};
        if (zmq_poll(&item, 1, most_ms) < 0 && zmq_errno() != EINTR)
            throw io_error(fmt::format("cannot receive from {}: {}", address_, zeromq_error()));
    }

    // Acknowledges what the session has taken before it ends, if possible. A sender that had
    // finished before the session was interrupted may connect to learn that nothing was lost.
    void acknowledge_all() {
        using clock = std::chrono::steady_clock;
        const auto until = clock::now() + std::chrono::seconds{3};
        answer();
        while (clock::now() < until && (!senders_.all_is_acknowledged() ||
                                        (senders_.have_finished() && !senders_.are_connected()))) {
            wait(1);
            receive();
            answer();
        }
    }

    std::string address_;
    std::stop_token stop_;
    arrival_bound arrived_{};
    senders senders_;
    std::function<std::uint64_t()> safe_blocks_{};
    zeromq_context context_;
    zeromq_socket socket_;
    zeromq_message received_{};
};

}  // namespace

std::unique_ptr<source> acknowledged_stream(const std::string& address, senders&& from,
                                            const std::stop_token& stop) {
    return std::make_unique<acknowledged_source>(address, std::move(from), stop);
}

}  // namespace spikeweave::live
