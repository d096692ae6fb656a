#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/execution.hpp"

namespace spikeweave::cli {

enum class progress_style : std::uint8_t {
    automatic,  ///< a line if stderr is a terminal, else nothing
    plain,      ///< a new line every few seconds, for logs
    none,
};

/// A line on stderr with the task, its progress and the time left. Threads may use
/// it at the same time.
class progress_line {
public:
    explicit progress_line(progress_style style);

    bool shown() const { return style_ != progress_style::none; }
    void report(const progress_report& so_far);
    /// Removes the line, so that other text can be written.
    void clear();

private:
    using clock = std::chrono::steady_clock;

    progress_style style_;
    std::mutex drawing_{};  // for what is below
    std::string task_{};
    clock::time_point began_{};
    clock::time_point drawn_{};
    bool visible_ = false;
};

}  // namespace spikeweave::cli

template <>
spikeweave::enum_table<spikeweave::cli::progress_style>
spikeweave::enum_names<spikeweave::cli::progress_style>();
