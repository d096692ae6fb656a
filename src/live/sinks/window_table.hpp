#pragma once

#include <span>
#include <string>
#include <vector>

#include "live/sinks/json_results.hpp"
#include "live/sinks/sink.hpp"
#include "live/sinks/unit_names.hpp"

namespace spikeweave::live {

/// Writes the episodes of all windows as a table, a line for each episode in each window.
class window_table : public sink {
public:
    explicit window_table(text_writer write);

    void take(const event& what) override;

private:
    void write(const mined_window& window);

    text_writer write_;
    unit_names units_{};
};

}  // namespace spikeweave::live
