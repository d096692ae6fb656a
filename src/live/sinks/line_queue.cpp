#include "live/sinks/line_queue.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "io/file_error.hpp"
#include "io/name_aside.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

using steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds between_tries{5};
constexpr auto does_not_read = "its reader is too slow, or does not read";
constexpr std::chrono::seconds patience_after_stop{1};

std::uint64_t lines_in(std::string_view text) {
    return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

// It may have room again later.
struct disk_is_full : io_error {
    using io_error::io_error;
};

// An open file, or the pipe of a reader that may not have come yet.
class open_place {
public:
    open_place(std::filesystem::path path, bool overwrite) : path_(std::move(path)) {
        std::error_code unknown;
        const bool is_file = !std::filesystem::is_other(std::filesystem::status(path_, unknown));
        if (is_file) io::make_folder_of(path_);
        flags_ = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK;
        flags_ |= is_file && !overwrite ? O_EXCL : O_TRUNC;
        open();
    }
    ~open_place() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    open_place(const open_place&) = delete;
    open_place& operator=(const open_place&) = delete;

    std::size_t take(std::string_view text) {
        if (descriptor_ < 0) open();
        if (descriptor_ < 0) return 0;
        ssize_t done = -1;
        do {
            done = ::write(descriptor_, text.data(), text.size());
        } while (done < 0 && errno == EINTR);
        if (done >= 0) return static_cast<std::size_t>(done);
        if (errno == EAGAIN) return 0;
        if (errno == ENOSPC || errno == EDQUOT)
            throw disk_is_full(io::system_error(path_, "cannot be written").what());
        throw io::system_error(path_, "cannot be written");
    }

private:
    void open() {
        constexpr mode_t readable_by_all = 0666;  // reduced by the umask
        descriptor_ = ::open(path_.c_str(), flags_, readable_by_all);
        const bool has_no_reader_yet = descriptor_ < 0 && errno == ENXIO;
        if (descriptor_ < 0 && !has_no_reader_yet)
            throw io::system_error(path_, "cannot be written");
    }

    std::filesystem::path path_;
    int flags_ = 0;
    int descriptor_ = -1;
};

}  // namespace

line_queue::line_queue(line_taker take, std::shared_ptr<delivery_report> report,
                       std::stop_token stop, bool may_wait)
    : take_(std::move(take)),
      report_(std::move(report)),
      stop_(std::move(stop)),
      may_wait_(may_wait),
      thread_([this] { serve(); }) {}

line_queue::~line_queue() {
    {
        const std::lock_guard lock(mutex_);
        is_in_haste_ = true;
    }
    finish();
}

void line_queue::write(std::string_view lines) {
    std::unique_lock lock(mutex_);
    if (waiting().empty() && !is_broken_) give_at_once(lines);
    if (!lines.empty()) keep(lines, lock);
}

// The rest of `lines` was not taken, and begins within a line if a part of it was.
void line_queue::give_at_once(std::string_view& lines) {
    try {
        while (!lines.empty()) {
            const std::size_t taken = take_(lines);
            trouble_.clear();
            if (taken == 0) return;
            report_->tell_delivered(lines_in(lines.substr(0, taken)));
            lines.remove_prefix(taken);
        }
    } catch (const disk_is_full& error) {
        if (trouble_.empty()) report_->tell_trouble(error.what());
        trouble_ = error.what();
    } catch (const std::exception& error) {
        lose(lines_in(lines), error.what());
        lines = {};
    }
}

void line_queue::keep(std::string_view lines, std::unique_lock<std::mutex>& lock) {
    const auto has_room = [this] { return waiting().size() < most_bytes || is_broken_; };
    while (may_wait_ && !has_room() && !stop_.stop_requested())
        changed_.wait_for(lock, between_tries);
    if (is_broken_) return report_->tell_lost(report_->reason(), lines_in(lines));
    if (!has_room()) return report_->tell_lost(why_it_waits(), lines_in(lines));
    kept_ += lines;
    changed_.notify_all();
}

// Nothing more is given, because what was given may end within a line.
void line_queue::lose(std::uint64_t lines, const std::string& reason) {
    is_broken_ = true;
    report_->tell_lost(reason, lines);
    kept_ = {};
    given_ = 0;
    changed_.notify_all();
}

std::string line_queue::why_it_waits() const {
    return trouble_.empty() ? does_not_read : trouble_;
}

bool line_queue::gives_up(steady::time_point taken) const {
    return ended_ && (is_in_haste_ || stop_.stop_requested() || !trouble_.empty()) &&
           steady::now() - std::max(taken, *ended_) > patience_after_stop;
}

void line_queue::forget_given(std::size_t bytes) {
    given_ += bytes;
    if (2 * given_ < kept_.size()) return;
    kept_.erase(0, given_);
    given_ = 0;
}

void line_queue::serve() {
    std::unique_lock lock(mutex_);
    auto taken = steady::now();
    while (true) {
        changed_.wait(lock, [this] { return !waiting().empty() || ended_; });
        if (waiting().empty()) return;
        std::string_view left = waiting();
        give_at_once(left);
        if (is_broken_) continue;
        if (left.size() < waiting().size()) {
            taken = steady::now();
            forget_given(waiting().size() - left.size());
            changed_.notify_all();
        } else if (gives_up(taken)) {
            lose(lines_in(waiting()), why_it_waits());
        } else {
            changed_.wait_for(lock, between_tries);
        }
    }
}

void line_queue::finish() {
    {
        const std::lock_guard lock(mutex_);
        ended_ = steady::now();
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

line_taker file_taker(const std::filesystem::path& path, bool overwrite) {
    return [place = std::make_shared<open_place>(path, overwrite)](std::string_view text) {
        return place->take(text);
    };
}

}  // namespace spikeweave::live
