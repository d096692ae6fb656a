#pragma once

#include <zmq.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Helpers for all users of ZeroMQ. Only files of the target spikeweave_live may include this.
namespace spikeweave::live {

struct close_zeromq_context {
    void operator()(void* context) const noexcept { zmq_ctx_term(context); }
};
struct close_zeromq_socket {
    void operator()(void* socket) const noexcept { zmq_close(socket); }
};
/// A context has to live longer than its sockets.
using zeromq_context = std::unique_ptr<void, close_zeromq_context>;
using zeromq_socket = std::unique_ptr<void, close_zeromq_socket>;

zeromq_context make_zeromq_context();
/// A socket that drops at once what it has not sent when it is closed.
/// @throws io_error
zeromq_socket make_zeromq_socket(const zeromq_context& context, int type);
void set_zeromq_option(const zeromq_socket& socket, int name, int value);

/// The error of the last call as text.
std::string zeromq_error();

/// The frames of a received message, in memory that is used again.
class zeromq_message {
public:
    /// Takes the next message. Returns false if none has come.
    /// @throws io_error that names the address
    bool receive(const zeromq_socket& socket, const std::string& address);

    /// The frames of the last message; valid until the next one is received.
    std::span<const std::string_view> frames();

private:
    struct frame {
        zmq_msg_t message{};
        frame() { zmq_msg_init(&message); }
        ~frame() { zmq_msg_close(&message); }
        frame(const frame&) = delete;
        frame& operator=(const frame&) = delete;
    };

    std::vector<std::unique_ptr<frame>> frames_{};
    std::size_t count_ = 0;
    std::vector<std::string_view> views_{};
};

}  // namespace spikeweave::live
