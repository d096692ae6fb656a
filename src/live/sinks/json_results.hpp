#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "live/session.hpp"
#include "live/sinks/unit_names.hpp"

namespace spikeweave::live {

using text_writer = std::function<void(std::string_view)>;

/// Writes results as lines of JSON: those of a block at once, and a window when it has been mined.
/// docs/live.md describes them.
class json_results : public sink {
public:
    /// @param armed  those of the session
    json_results(std::vector<armed_episode> armed, text_writer write);

    void units_added(std::span<const std::string> names) override;
    void detected(const episode_detection& detection) override;
    void mined(const mined_window& window) override;
    void counted(const time_span& window, std::span<const std::uint64_t> counts) override;
    void epoch_ended() override;
    void block_ended(const session_counts& counts) override;
    void session_ended(const session_counts& counts) override;

private:
    void add_alarm(const session_counts& counts);
    void flush();

    std::vector<armed_episode> armed_;
    text_writer write_;
    unit_names units_{};
    std::mutex writing_{};  // for what is below
    std::string text_{};
    std::uint64_t alarmed_ = 0;  // what was lost at the last alarm
};

}  // namespace spikeweave::live
