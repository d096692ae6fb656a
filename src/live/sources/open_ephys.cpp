#include "live/sources/open_ephys.hpp"

#include <fmt/format.h>
#include <zmq.h>

#include <cerrno>
#include <cstdint>
#include <string_view>
#include <utility>

#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

struct close_context {
    void operator()(void* context) const noexcept { zmq_ctx_term(context); }
};
struct close_socket {
    void operator()(void* socket) const noexcept { zmq_close(socket); }
};

[[noreturn]] void fail_to_receive(const std::string& address) {
    throw io_error(fmt::format("cannot receive from {}: {}", address, zmq_strerror(zmq_errno())));
}

// The frames of a message, in memory that is used again.
class received_message {
public:
    // Returns false if none has come.
    bool receive(void* socket, const std::string& address) {
        count_ = 0;
        int has_more = 1;
        for (std::size_t size = sizeof has_more; has_more != 0; ++count_) {
            if (count_ == frames_.size()) frames_.push_back(std::make_unique<frame>());
            zmq_msg_t* const part = &frames_[count_]->message;
            if (zmq_msg_recv(part, socket, ZMQ_DONTWAIT) < 0) {
                if (zmq_errno() == EAGAIN || zmq_errno() == EINTR) return false;
                fail_to_receive(address);
            }
            zmq_getsockopt(socket, ZMQ_RCVMORE, &has_more, &size);
        }
        return true;
    }

    std::span<const std::string_view> frames() {
        views_.clear();
        for (std::size_t i = 0; i < count_; ++i) {
            zmq_msg_t* const part = &frames_[i]->message;
            views_.emplace_back(static_cast<const char*>(zmq_msg_data(part)), zmq_msg_size(part));
        }
        return views_;
    }

private:
    struct frame {
        zmq_msg_t message{};
        frame() { zmq_msg_init(&message); }
        ~frame() { zmq_msg_close(&message); }
        frame(const frame&) = delete;
        frame& operator=(const frame&) = delete;
        frame(frame&&) = delete;
        frame& operator=(frame&&) = delete;
    };

    std::vector<std::unique_ptr<frame>> frames_{};
    std::size_t count_ = 0;
    std::vector<std::string_view> views_{};
};

class open_ephys_source : public source {
public:
    open_ephys_source(open_ephys_sender sender, std::string address, std::string stream,
                      std::vector<std::string> unit_names, std::stop_token stop)
        : address_(std::move(address)),
          stop_(std::move(stop)),
          messages_(sender, std::move(stream), std::move(unit_names)),
          context_(zmq_ctx_new()),
          socket_(zmq_socket(context_.get(), ZMQ_SUB)) {
        // No message is dropped here, and none is larger than a block of thousands of channels.
        const int unlimited = 0;
        const std::int64_t most_bytes = std::int64_t{1} << 26;
        zmq_setsockopt(socket_.get(), ZMQ_RCVHWM, &unlimited, sizeof unlimited);
        zmq_setsockopt(socket_.get(), ZMQ_MAXMSGSIZE, &most_bytes, sizeof most_bytes);
        if (zmq_setsockopt(socket_.get(), ZMQ_SUBSCRIBE, "", 0) != 0 ||
            zmq_connect(socket_.get(), address_.c_str()) != 0)
            fail_to_receive(address_);
    }

    const std::vector<std::string>& unit_names() const override { return messages_.unit_names(); }

    std::optional<source_block> next() override {
        constexpr int between_looks_ms = 20;
        constexpr std::size_t most_at_once = 10'000;
        while (!stop_.stop_requested()) {
            if (auto block = messages_.complete()) return block;
            std::size_t taken = 0;
            while (taken < most_at_once && received_.receive(socket_.get(), address_)) {
                messages_.take(received_.frames());
                ++taken;
            }
            if (auto block = messages_.complete()) return block;
            if (auto block = messages_.rest()) return block;
            zmq_pollitem_t item{socket_.get(), 0, ZMQ_POLLIN, 0};
            if (zmq_poll(&item, 1, between_looks_ms) < 0 && zmq_errno() != EINTR)
                fail_to_receive(address_);
        }
        return {};
    }

private:
    std::string address_;
    std::stop_token stop_;
    open_ephys_messages messages_;
    std::unique_ptr<void, close_context> context_;
    std::unique_ptr<void, close_socket> socket_;
    received_message received_{};
};

}  // namespace

std::unique_ptr<source> open_ephys(open_ephys_sender sender, const std::string& address,
                                   const std::string& stream,
                                   const std::vector<std::string>& unit_names,
                                   const std::stop_token& stop) {
    return std::make_unique<open_ephys_source>(sender, address, stream, unit_names, stop);
}

}  // namespace spikeweave::live
