#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "live/session.hpp"
#include "live/sinks/unit_names.hpp"

namespace spikeweave::live {

using text_writer = std::function<void(std::string_view)>;

/// Writes results as lines of JSON, those of a block at once. docs/live.md describes them.
class json_results : public sink {
public:
    /// @param armed  and the patterns are those of the session
    json_results(std::vector<armed_episode> armed, text_writer write, armed_patterns patterns = {});

    void units_added(std::span<const std::string> names) override;
    void detected(const detection& what) override;
    void mined(const mined_window& window) override;
    void epoch_ended() override;
    void chance_measured(const chance_rates& rates) override;
    void block_ended(const session_counts& counts) override;
    void tallied(std::span<const armed_tally> armed) override;
    void session_ended(const session_counts& counts) override;

private:
    void add_units_of(const episode& what);
    void describe_armed();
    void add_alarm(const session_counts& counts);
    void flush();

    std::vector<armed_episode> armed_;
    armed_patterns patterns_;
    text_writer write_;
    unit_names units_{};
    std::vector<std::string> names_{};  // as JSON
    std::string text_{};
    std::uint64_t alarmed_ = 0;  // what was lost at the last alarm
    std::vector<std::string> armed_texts_{};
    bool told_chance_ = false;
    std::string tallies_{};  // as JSON; empty if nothing is armed
};

}  // namespace spikeweave::live
