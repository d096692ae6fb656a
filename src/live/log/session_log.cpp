#include "live/log/session_log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "spikeweave/core/error.hpp"

namespace spikeweave::live {

byte_ring::byte_ring(std::size_t capacity) : capacity_(capacity) {
    if (!std::has_single_bit(capacity))
        throw invalid_argument("ring_bytes", "it is not a power of two");
    bytes_ = std::make_unique<char[]>(capacity);
}

std::size_t byte_ring::room() const {
    return capacity_ -
           (given_.load(std::memory_order_relaxed) - taken_.load(std::memory_order_acquire));
}

std::size_t byte_ring::give(std::span<const char> bytes) {
    const std::size_t count = std::min(bytes.size(), room());
    const std::size_t given = given_.load(std::memory_order_relaxed);
    const std::size_t at = given & (capacity_ - 1);
    const std::size_t before_end = std::min(count, capacity_ - at);
    std::memcpy(bytes_.get() + at, bytes.data(), before_end);
    std::memcpy(bytes_.get(), bytes.data() + before_end, count - before_end);
    given_.store(given + count, std::memory_order_release);
    return count;
}

std::size_t byte_ring::take(std::string& into) {
    const std::size_t taken = taken_.load(std::memory_order_relaxed);
    const std::size_t count = given_.load(std::memory_order_acquire) - taken;
    const std::size_t at = taken & (capacity_ - 1);
    const std::size_t before_end = std::min(count, capacity_ - at);
    into.append(bytes_.get() + at, before_end);
    into.append(bytes_.get(), count - before_end);
    taken_.store(taken + count, std::memory_order_release);
    return count;
}

namespace {

constexpr std::chrono::milliseconds until_there_is_room{1};

std::int64_t now_us() {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

}  // namespace

session_log::session_log(const std::filesystem::path& path, const session_header& header,
                         const session_log_options& options)
    : options_(options),
      ring_(options.ring_bytes),
      rows_(std::make_unique<row_writer>(path, header, options.survive_power_failure)),
      thread_([this](const std::stop_token& over) { write(over); }) {}

session_log::session_log(const std::filesystem::path& path, analysed_spikes part,
                         const session_log_options& options)
    : options_(options),
      ring_(options.ring_bytes),
      inputs_(part.inputs),
      epoch_(part.epoch),
      rows_(std::make_unique<row_writer>(path, std::move(part), options.survive_power_failure)),
      durable_(inputs_),
      thread_([this](const std::stop_token& over) { write(over); }) {}

session_log::~session_log() {
    stop();
}

void session_log::stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

void session_log::throw_if_failed() const {
    if (has_failed_.load(std::memory_order_acquire)) std::rethrow_exception(failure_);
}

bool session_log::give(std::span<const char> entry, bool may_leave_out) {
    throw_if_failed();
    if (may_leave_out && options_.full == when_full::leave_out && ring_.room() < entry.size()) {
        ++counts_.left_out;
        ++unrecorded_;
        return false;
    }
    entry = entry.subspan(ring_.give(entry));
    if (!entry.empty()) ++counts_.waits;
    while (!entry.empty()) {
        std::this_thread::sleep_for(until_there_is_room);
        throw_if_failed();
        entry = entry.subspan(ring_.give(entry));
    }
    return true;
}

void session_log::record(const source_block& block) {
    for (const std::string& name : block.new_units) check_unit_name(name);
    if (block.begins_epoch) ++epoch_;
    const std::lock_guard lock(giving_);
    for (const motion_step& step : block.motion) {
        encoder_.begin(entry_kind::motion);
        encoder_.add(fmt::format("{}\t{}\t{}\n", epoch_, step.time_us,
                                 fmt::join(step.displacement_um, "\t")));
        give(encoder_.finish(), false);
    }
    encoder_.begin(entry_kind::block);
    encoder_.add(now_us());
    encoder_.add(epoch_);
    encoder_.add(block.missing);
    encoder_.add(block.belated);
    encoder_.add(block.repeated);
    encoder_.add(block.unreadable);
    encoder_.add(unrecorded_);
    encoder_.add(std::uint64_t{block.watermark_us.has_value()});
    encoder_.add(block.watermark_us.value_or(0));
    encoder_.add(block.spikes);
    encoder_.add(std::uint64_t{block.new_units.size()});
    for (const std::string& name : block.new_units) encoder_.add(name);
    encoder_.add(std::uint64_t{block.senders.size()});
    for (const sender_progress& one : block.senders) {
        encoder_.add(one.name);
        encoder_.add(one.clock);
        encoder_.add(one.last);
        encoder_.add(std::uint64_t{one.has_finished});
    }
    // The numbers of later units depend on those of a block with new ones, and senders are told
    // that what they have sent is in the file.
    if (!give(encoder_.finish(), block.new_units.empty() && block.senders.empty())) return;
    ++inputs_;
    unrecorded_ = 0;
}

void session_log::record(const detection& what, std::int64_t epoch) {
    const std::lock_guard lock(giving_);
    encoder_.begin(entry_kind::detection);
    encoder_.add(inputs_);
    encoder_.add(epoch);
    encoder_.add(std::uint64_t{what.armed});
    encoder_.add(what.begin_us);
    encoder_.add(what.end_us);
    encoder_.add(static_cast<std::int64_t>(what.suppressed));
    encoder_.add(std::string_view(reinterpret_cast<const char*>(what.times_us.data()),
                                  what.times_us.size_bytes()));
    give(encoder_.finish(), true);
}

void session_log::record(const mined_window& window) {
    auto copy = std::make_unique<mined_window>(window);
    const std::lock_guard lock(giving_);
    encoder_.begin(entry_kind::window);
    encoder_.add(std::bit_cast<std::uint64_t>(copy.get()));
    if (give(encoder_.finish(), true)) static_cast<void>(copy.release());
}

void session_log::record(const arming_change& change, std::int64_t input) {
    auto copy = std::make_unique<placed_change>(placed_change{change, input});
    const std::lock_guard lock(giving_);
    encoder_.begin(entry_kind::arming);
    encoder_.add(std::bit_cast<std::uint64_t>(copy.get()));
    if (give(encoder_.finish(), true)) static_cast<void>(copy.release());
}

void session_log::record_templates(std::string archive) {
    auto copy = std::make_unique<std::string>(std::move(archive));
    const std::lock_guard lock(giving_);
    encoder_.begin(entry_kind::templates);
    encoder_.add(std::bit_cast<std::uint64_t>(copy.get()));
    if (give(encoder_.finish(), false)) static_cast<void>(copy.release());
}

void session_log::begin_end() {
    const std::lock_guard lock(giving_);
    encoder_.begin(entry_kind::begin_end);
    give(encoder_.finish(), false);
}

void session_log::set_warnings(const std::vector<std::string>& sentences) {
    warnings_ = fmt::format("{}", fmt::join(sentences, "\n"));
}

void session_log::end(const session_counts& counts) {
    {
        const std::lock_guard lock(giving_);
        encoder_.begin(entry_kind::end);
        encoder_.add(unrecorded_);
        encoder_.add(json_of(counts));
        encoder_.add(warnings_);
        give(encoder_.finish(), false);
    }
    stop();
    throw_if_failed();
}

void session_log::write(const std::stop_token& over) {
    std::mutex mutex;
    std::condition_variable_any wakened;
    std::string pending;
    while (true) {
        const bool is_last = over.stop_requested();
        try {
            ring_.take(pending);
        } catch (...) {  // there is no memory
            fail();
            break;
        }
        pending.erase(0, write_entries(pending));
        if (is_last) break;
        std::unique_lock lock(mutex);
        wakened.wait_for(lock, over, options_.commit_every, [] { return false; });
    }
    rows_.reset();
}

// Returns how many bytes were whole entries. After a failure nothing is written, so that the file
// holds the first part of the entries.
std::size_t session_log::write_entries(std::string_view bytes) {
    std::string_view rest = bytes;
    entry_kind kind{};
    std::string_view entry;
    while (split_entry(rest, kind, entry)) {
        const entry_parts parts = parts_of(kind, entry);
        if (failure_) continue;
        try {
            write_entry(kind, entry, parts);
        } catch (...) {
            fail();
        }
    }
    try {
        if (!is_ending_ && !failure_) commit();
    } catch (...) {
        fail();
    }
    if (!failure_) durable_.store(rows_->inputs(), std::memory_order_release);
    return bytes.size() - rest.size();
}

void session_log::write_entry(entry_kind kind, std::string_view entry, const entry_parts& parts) {
    if (kind == entry_kind::begin_end) {
        commit();
        is_ending_ = true;
        return;
    }
    if (!std::exchange(has_begun_, true)) rows_->begin();
    rows_->write(kind, entry, parts);
    if (kind == entry_kind::end) commit();
}

void session_log::commit() {
    if (std::exchange(has_begun_, false)) rows_->commit();
}

void session_log::fail() {
    failure_ = std::current_exception();
    has_failed_.store(true, std::memory_order_release);
}

}  // namespace spikeweave::live
