#pragma once

#include <span>
#include <string>
#include <vector>

#include "live/session.hpp"
#include "live/sinks/json_results.hpp"
#include "live/sinks/unit_names.hpp"

namespace spikeweave::live {

/// Writes the episodes of all windows as a table, a line for each episode in each window.
class window_table : public sink {
public:
    explicit window_table(text_writer write);

    void units_added(std::span<const std::string> names) override;
    void detected(const detection&) override {}
    void mined(const mined_window& window) override;
    void epoch_ended() override {}
    void block_ended(const session_counts&) override {}
    void session_ended(const session_counts&) override {}

private:
    text_writer write_;
    unit_names units_{};
};

}  // namespace spikeweave::live
