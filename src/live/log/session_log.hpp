#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "live/log/entries.hpp"
#include "live/log/header.hpp"
#include "live/log/row_writer.hpp"

namespace spikeweave::live {

/// Bytes on their way from one thread to another, without locks.
class byte_ring {
public:
    /// @param capacity  in bytes; a power of two
    explicit byte_ring(std::size_t capacity);

    std::size_t capacity() const { return capacity_; }

    /// Number of bytes that can be given now. Only the giving thread may ask.
    std::size_t room() const;
    /// Gives as many of the bytes as there is room for, and returns their number.
    std::size_t give(std::span<const char> bytes);

    /// Appends all bytes that have come, and returns their number. For the other thread.
    std::size_t take(std::string& into);

private:
    std::size_t capacity_;
    std::unique_ptr<char[]> bytes_;
    // Numbers of all bytes that were ever given and taken, on cache lines of their own.
    alignas(64) std::atomic<std::size_t> given_{0};
    alignas(64) std::atomic<std::size_t> taken_{0};
};

/// The reaction to a ring that is full because the disk has been too slow.
enum class when_full : std::uint8_t {
    wait,       ///< the analysis waits for the disk, so nothing is lost
    leave_out,  ///< the entry is left out, and counted in the file
};

struct session_log_options {
    /// Memory for what is not written yet; a power of two.
    std::size_t ring_bytes = std::size_t{1} << 26;
    std::chrono::milliseconds commit_every{10};
    when_full full = when_full::wait;
    /// Whether what was committed survives a power failure. It always survives the end of the
    /// process, however that comes.
    bool survive_power_failure = true;
};

struct session_log_counts {
    std::uint64_t waits = 0;     ///< times that the analysis waited for the disk
    std::uint64_t left_out = 0;  ///< entries that were left out

    friend bool operator==(const session_log_counts&, const session_log_counts&) = default;
};

/// Records a session in a file, in the order in which it is processed. A thread of its own writes;
/// those that record wait for it only if the ring is full.
///
/// Entries that have arrived are committed together, so the file of a program that was killed
/// contains the first of them, each once.
class session_log {
public:
    /// Begins a session. @throws io_error if there is a file of this name or it cannot be written.
    session_log(const std::filesystem::path& path, const session_header& header,
                const session_log_options& options = {});
    /// Goes on with a session that was interrupted.
    session_log(const std::filesystem::path& path, analysed_spikes part,
                const session_log_options& options = {});
    /// Writes what was recorded; the session can then be resumed.
    ~session_log();
    session_log(const session_log&) = delete;
    session_log& operator=(const session_log&) = delete;

    /// Records a block before it is processed. @throws io_error if writing has failed;
    /// invalid_argument if the name of a unit cannot stand in a file.
    void record(const source_block& block);
    /// Records a result of the last block. @throws io_error if writing has failed.
    void record(const detection& what, std::int64_t epoch);
    /// Records a change of what is armed, which takes effect in the last block, or in the one
    /// given.
    /// @throws io_error if writing has failed.
    void record(const arming_change& change, std::int64_t input);
    /// Also from another thread than the other functions. @throws io_error if writing has failed.
    void record(const mined_window& window);
    /// Records the templates that were learned, an archive, before the block that names their
    /// units.
    /// @throws io_error if writing has failed.
    void record_templates(std::string archive);
    /// The results that follow are those of the end: without it a session that goes on would not
    /// have them, so they are in the file together or not at all. @throws io_error
    void begin_end();
    /// Ends the session, and writes everything. @throws io_error
    void end(const session_counts& counts);
    /// The end is to be recorded with these full sentences.
    void set_warnings(const std::vector<std::string>& sentences);

    /// The number of blocks that were recorded, and of those that are on the disk.
    std::int64_t recorded_inputs() const { return inputs_; }
    std::int64_t durable_inputs() const { return durable_.load(std::memory_order_acquire); }
    const session_log_counts& counts() const { return counts_; }

private:
    bool give(std::span<const char> entry, bool may_leave_out);
    void throw_if_failed() const;
    void stop();
    void write(const std::stop_token& over);
    std::size_t write_entries(std::string_view bytes);
    void write_entry(entry_kind kind, std::string_view entry, const entry_parts& parts);
    void commit();
    void fail();

    session_log_options options_;
    std::mutex giving_{};  // for what those that record use
    byte_ring ring_;
    entry_encoder encoder_{};
    session_log_counts counts_{};
    std::string warnings_{};        // lines
    std::uint64_t unrecorded_ = 0;  // since the last block
    std::int64_t inputs_ = 0;
    std::int64_t epoch_ = 0;
    // These belong to the thread.
    std::unique_ptr<row_writer> rows_;
    bool has_begun_ = false;  // rows that must be committed
    bool is_ending_ = false;
    std::atomic<std::int64_t> durable_{0};
    std::atomic<bool> has_failed_{false};
    std::exception_ptr failure_{};  // set before `has_failed_`
    std::jthread thread_{};         // the last member: it ends before what it uses
};

}  // namespace spikeweave::live
