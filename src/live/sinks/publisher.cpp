#include "live/sinks/receivers.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "live/network/zeromq.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

class published_lines : public line_output {
public:
    published_lines(const std::string& address, std::shared_ptr<delivery_report> report,
                    int most_waiting)
        : report_(std::move(report)),
          context_(make_zeromq_context()),
          socket_(make_zeromq_socket(context_, ZMQ_PUB)) {
        constexpr int longest_wait_at_end_ms = 1'000;
        set_zeromq_option(socket_, ZMQ_LINGER, longest_wait_at_end_ms);
        set_zeromq_option(socket_, ZMQ_SNDHWM, most_waiting);
        set_zeromq_option(socket_, ZMQ_XPUB_NODROP, 1);
        if (zmq_bind(socket_.get(), address.c_str()) != 0)
            throw io_error(fmt::format("cannot publish on {}: {}", address, zeromq_error()));
    }

    void take(std::string_view type, std::string_view line) override {
        const std::lock_guard lock(mutex_);
        line.remove_suffix(1);
        auto known = numbers_.find(type);
        if (known == numbers_.end()) known = numbers_.emplace(type, 0).first;
        const std::string number = fmt::format("{}", known->second++);
        if (send(type, true)) {
            report_->tell_delivered();
        } else {
            // A subscriber is too slow, so it loses the message, but the others do not.
            report_->tell_lost("a subscriber is too slow");
            set_zeromq_option(socket_, ZMQ_XPUB_NODROP, 0);
            send(type, true);
        }
        send(line, true);
        send(number, false);
        set_zeromq_option(socket_, ZMQ_XPUB_NODROP, 1);
    }

    void flush() override {}

private:
    bool send(std::string_view frame, bool has_more) {
        return zmq_send(socket_.get(), frame.data(), frame.size(),
                        ZMQ_DONTWAIT | (has_more ? ZMQ_SNDMORE : 0)) >= 0;
    }

    std::shared_ptr<delivery_report> report_;
    std::mutex mutex_{};  // for what follows
    zeromq_context context_;
    zeromq_socket socket_;
    std::map<std::string, std::uint64_t, std::less<>> numbers_{};
};

}  // namespace

std::unique_ptr<line_output> zeromq_publisher(const std::string& address,
                                              const std::shared_ptr<delivery_report>& report,
                                              int most_waiting) {
    return std::make_unique<published_lines>(address, report, most_waiting);
}

}  // namespace spikeweave::live
