#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "live/sinks/destination.hpp"
#include "live/sinks/reaction.hpp"

namespace spikeweave::live {

/// @throws invalid_argument if serial devices do not have this rate.
void check_baud_rate(std::uint32_t baud);

/// Writes a byte to a serial device for each detection. A device that vanishes is opened again when
/// there is something to write, at most once a second.
class serial_bytes : public reaction {
public:
    /// @throws io_error if the device cannot be opened or is none.
    serial_bytes(const destination& to, std::shared_ptr<delivery_report> report);
    ~serial_bytes() override;
    serial_bytes(const serial_bytes&) = delete;
    serial_bytes& operator=(const serial_bytes&) = delete;

private:
    void react(const detection& what) override;
    bool is_open();
    void close();

    std::string path_;
    std::uint32_t baud_;
    std::uint8_t byte_;
    int descriptor_ = -1;
    std::chrono::steady_clock::time_point next_try_{};
};

}  // namespace spikeweave::live
