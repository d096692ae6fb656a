#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "live/network/lsl.hpp"

namespace spikeweave::live {

/// A connection to a stream of the Lab Streaming Layer, which is made again by its owner when it
/// breaks, because LSL would do so without telling what was lost.
class lsl_inlet {
public:
    /// Waits some seconds for the stream.
    /// @param check        of the stream, when it is found; calls `fail` if it is not as expected
    /// @param most_waiting  of samples on this side, as liblsl counts them: in seconds if the
    /// stream has a rate, otherwise in hundreds
    /// @throws io_error if liblsl cannot be loaded, or there is no such stream, or several.
    lsl_inlet(std::string name, std::int32_t most_waiting, const std::stop_token& stop,
              std::function<void(lsl_library::info)> check);
    ~lsl_inlet() { disconnect(); }
    lsl_inlet(const lsl_inlet&) = delete;
    lsl_inlet& operator=(const lsl_inlet&) = delete;

    const lsl_library& library() const { return lsl_; }
    /// Null: not connected.
    lsl_library::inlet handle() const { return inlet_; }
    /// From the sender's clock to that of this computer.
    double offset_s() const { return offset_s_; }
    /// Tries for a second. A sender that was started again is known by its identifier, if it has
    /// one.
    void connect_again();
    void disconnect();
    /// @throws io_error that names the stream.
    [[noreturn]] void fail(std::string_view problem) const;

private:
    class description;

    std::vector<description> find(const char* property, const std::string& value, double timeout_s,
                                  std::int32_t least = 1) const;
    bool connect(const std::vector<description>& found);

    const lsl_library& lsl_;
    std::string name_;
    std::int32_t most_waiting_;
    std::function<void(lsl_library::info)> check_;
    bool was_connected_ = false;
    std::string source_id_{};
    lsl_library::inlet inlet_ = nullptr;
    double offset_s_ = 0;
};

}  // namespace spikeweave::live
