#include "cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/output.hpp"
#include "spikeweave/core/time.hpp"

namespace spikeweave::cli {
namespace {

constexpr std::chrono::milliseconds redraw_every{100};
constexpr std::chrono::seconds log_every{5};

std::size_t terminal_width() {
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// Cuts a text to what fits into one row of the terminal.
std::string one_row(std::string text) {
    std::size_t size = std::min(text.size(), terminal_width() - 1);
    while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U)
        --size;  // within a character
    text.resize(size);
    return text;
}

std::string text_of(const progress_report& so_far, double seconds) {
    if (so_far.total == 0)
        return so_far.done == 0 ? std::string(so_far.task)
                                : fmt::format("{}: {}", so_far.task, so_far.done);
    const double part = static_cast<double>(so_far.done) / static_cast<double>(so_far.total);
    std::string text = fmt::format("{}: {:3.0f} %", so_far.task, 100 * part);
    // The first moments tell nothing about the rest.
    if (seconds > 1 && part > 0.01 && part < 1)
        text += fmt::format(", {} left", format_rough_time(seconds * (1 - part) / part));
    return text;
}

}  // namespace

progress_line::progress_line(progress_style style) : style_(style) {
    if (style == progress_style::automatic && !draws(STDERR_FILENO)) style_ = progress_style::none;
}

void progress_line::report(const progress_report& so_far) {
    if (!shown()) return;
    const std::lock_guard lock(drawing_);
    const auto time = clock::now();
    const bool new_task = so_far.task != task_;
    if (new_task) {
        task_ = so_far.task;
        began_ = time;
    }
    const bool line = style_ == progress_style::automatic;
    if (!new_task && time - drawn_ < (line ? clock::duration(redraw_every) : log_every)) return;
    drawn_ = time;
    std::string text = text_of(so_far, std::chrono::duration<double>(time - began_).count());
    if (line) {
        write_stderr("\r" + one_row(std::move(text)) + "\x1b[K");
        visible_ = true;
    } else {
        write_stderr(text + "\n");
    }
}

bool progress_line::hold(const std::string& note, std::string shown) {
    if (style_ != progress_style::automatic) return false;
    const std::lock_guard lock(drawing_);
    notes_ += note;
    write_stderr("\r" + one_row(std::move(shown)) + "\x1b[K\n");
    ++rows_;
    visible_ = false;
    return true;
}

void progress_line::remove_drawn() {
    if (rows_ > 0)
        write_stderr(fmt::format("\r\x1b[{}A\x1b[J", rows_));
    else if (visible_)
        write_stderr("\r\x1b[K");
    rows_ = 0;
    visible_ = false;
}

void progress_line::remove() {
    const std::lock_guard lock(drawing_);
    remove_drawn();
}

void progress_line::clear() {
    const std::lock_guard lock(drawing_);
    remove_drawn();
    write_stderr(std::exchange(notes_, {}));
}

}  // namespace spikeweave::cli

template <>
spikeweave::enum_table<spikeweave::cli::progress_style>
spikeweave::enum_names<spikeweave::cli::progress_style>() {
    using spikeweave::cli::progress_style;
    static constexpr std::array<named_value<progress_style>, 3> values{{
        {progress_style::automatic, "auto"},
        {progress_style::plain, "plain"},
        {progress_style::none, "none"},
    }};
    return {"style of progress", values};
}
