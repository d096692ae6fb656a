#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "live/sinks/delivery.hpp"
#include "spikeweave/live/run.hpp"

namespace spikeweave::live {

/// Gives lines to what may be slow, stuck or broken, without letting the analysis wait: what is not
/// taken at once, also by a full disk, waits here, and a thread gives it later. Text that
/// cannot be given counts as lost.
class line_queue {
public:
    /// Most bytes that wait.
    static constexpr std::size_t most_bytes = std::size_t{64} << 20;

    /// @param take    see `line_taker`; its exceptions end the delivery
    /// @param stop    the user has no patience any more: at the end, a second without anything
    /// taken is enough
    /// @param may_wait  whether the caller of `write` waits if `most_bytes` wait already, which is
    /// right if spikes come as fast as they are analysed; otherwise the lines are lost
    line_queue(line_taker take, std::shared_ptr<delivery_report> report, std::stop_token stop,
               bool may_wait);
    /// Like `finish`, without patience.
    ~line_queue();
    line_queue(const line_queue&) = delete;
    line_queue& operator=(const line_queue&) = delete;

    /// @param lines  whole ones. Several threads may call it.
    void write(std::string_view lines);
    /// Waits until all was taken or is lost.
    void finish();

private:
    void give_at_once(std::string_view& lines);
    void keep(std::string_view lines, std::unique_lock<std::mutex>& lock);
    void lose(std::uint64_t lines, const std::string& reason);
    void forget_given(std::size_t bytes);
    void serve();
    std::string_view waiting() const { return std::string_view(kept_).substr(given_); }
    std::string why_it_waits() const;
    bool gives_up(std::chrono::steady_clock::time_point taken) const;

    line_taker take_;
    std::shared_ptr<delivery_report> report_;
    std::stop_token stop_;
    bool may_wait_;
    std::mutex mutex_{};  // for what follows
    std::condition_variable changed_{};
    std::string kept_{};
    std::size_t given_ = 0;  // of what is kept
    bool is_broken_ = false;
    std::string trouble_{};  // of the last try, if there is only no room; otherwise empty
    std::optional<std::chrono::steady_clock::time_point> ended_{};
    bool is_in_haste_ = false;
    std::thread thread_;
};

/// A writer into a file, or into a pipe whose reader may come later.
/// @param overwrite  false: a file of that name is an error
/// @throws io_error if the file cannot be opened
line_taker file_taker(const std::filesystem::path& path, bool overwrite);

}  // namespace spikeweave::live
