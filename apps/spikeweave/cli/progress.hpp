#pragma once

#include <chrono>
#include <cstddef>
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

/// A line on stderr with the task, its progress and the time left, and above it the beginnings of
/// the notes that are written as a whole behind it. Threads may use it at the same time.
class progress_line {
public:
    explicit progress_line(progress_style style);

    bool shown() const { return style_ != progress_style::none; }
    void report(const progress_report& so_far);
    /// Shows a note, a line of text, above the line until it is written by `clear`.
    /// @param shown  the note without styles
    /// @return whether it is; without a terminal nothing is shown, and nothing will be written
    bool hold(const std::string& note, std::string shown);
    /// Removes the line and what is above it, so that a text can be written in front of the notes.
    void remove();
    /// Removes the line and writes the notes, so that other text can be written.
    void clear();

private:
    using clock = std::chrono::steady_clock;

    progress_style style_;
    std::mutex drawing_{};  // for what is below
    std::string task_{};
    clock::time_point began_{};
    clock::time_point drawn_{};
    bool visible_ = false;
    std::string notes_{};
    std::size_t rows_ = 0;  // of notes above the line

    void remove_drawn();
};

}  // namespace spikeweave::cli

template <>
spikeweave::enum_table<spikeweave::cli::progress_style>
spikeweave::enum_names<spikeweave::cli::progress_style>();
