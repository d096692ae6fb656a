#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

namespace spikeweave::io {

/// A copy of this process that answers requests, for code that may crash or never end on bad input.
/// It ends with this object and, in any case, with this process. Not for two threads at once.
class helper_process {
public:
    /// Answers one request in the helper; bulk data go into `shared`. `call` throws what it throws.
    using answering = std::function<std::string(std::string_view request, std::span<char> shared)>;

    /// @param make  called first in the helper; returns the function that answers
    /// @param most  processor time that a request may take
    /// @throws io_error if the system cannot start a process
    explicit helper_process(const std::function<answering()>& make,
                            std::chrono::seconds most = std::chrono::seconds(20));
    ~helper_process();
    helper_process(const helper_process&) = delete;
    helper_process& operator=(const helper_process&) = delete;

    /// @param shared_bytes  size that `shared` needs
    /// @throws cancelled if `stop` is requested; io_error with the message of the helper's
    /// exception, or with how the helper ended. After the latter and after `cancelled`, no call is
    /// answered.
    std::string call(std::string_view request, std::size_t shared_bytes,
                     const std::stop_token& stop);
    /// The data of the last call.
    std::span<const char> shared() const { return shared_; }

private:
    void make_room(std::size_t bytes);
    void send(std::string_view bytes);
    void receive(std::span<char> into, const std::stop_token& stop);
    [[noreturn]] void fail();
    void end() noexcept;

    pid_t owner_ = -1;  // a copy of this process must not end its helper
    pid_t process_ = -1;
    int socket_ = -1;
    int alive_ = -1;   // closed by the system when this process ends
    int memory_ = -1;  // descriptor of `shared_`
    std::span<char> shared_{};
    std::string ending_{};
};

}  // namespace spikeweave::io
