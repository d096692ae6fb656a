#include "live/sources/open_ephys_messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

constexpr std::int64_t us_per_s = 1'000'000;

// Rounds half to even, as the readers of files do.
std::int64_t time_of_sample(std::int64_t sample, double rate_hz) {
    const auto whole = static_cast<std::int64_t>(rate_hz);
    if (static_cast<double>(whole) != rate_hz)
        return std::llrint(static_cast<long double>(sample) * us_per_s / rate_hz);
    __extension__ using wide = __int128;
    const wide product = static_cast<wide>(sample) * us_per_s;
    const wide us = product / whole;
    const wide rest = product % whole;
    const bool up = 2 * rest > whole || (2 * rest == whole && us % 2 != 0);
    return static_cast<std::int64_t>(us + (up ? 1 : 0));
}

}  // namespace

open_ephys_messages::open_ephys_messages(open_ephys_sender sender, std::string stream,
                                         std::vector<std::string> unit_names)
    : sender_(sender),
      is_named_(!stream.empty()),
      stream_(std::move(stream)),
      unit_names_(std::move(unit_names)) {
    for (std::size_t unit = 0; unit < unit_names_.size(); ++unit)
        units_.emplace(unit_names_[unit], unit_id{static_cast<std::uint32_t>(unit)});
}

std::optional<source_block> open_ephys_messages::complete() {
    if (complete_.empty()) return {};
    source_block block = std::move(complete_.front());
    complete_.pop_front();
    return block;
}

std::optional<source_block> open_ephys_messages::rest() {
    if (current_ == source_block{}) return {};
    return std::exchange(current_, {});
}

void open_ephys_messages::finish_block() {
    if (!(current_ == source_block{})) complete_.push_back(std::exchange(current_, {}));
}

// The clock has started again.
void open_ephys_messages::begin_epoch() {
    finish_block();
    current_.begins_epoch = true;
    last_us_.reset();
}

// It may have been a spike, of any time since the last watermark.
void open_ephys_messages::take_unreadable() {
    if (!current_.spikes.empty()) finish_block();
    ++current_.unreadable;
    ++unreadable_since_;
}

// Follows the number of a message. Returns whether it is to be read.
bool open_ephys_messages::observe(const open_ephys_header& header) {
    if (!header.message_number) return true;
    const std::uint64_t missing_before = numbers_.counts().missing;
    const message_place place = numbers_.observe(*header.message_number);
    const std::uint64_t unreadable = std::exchange(unreadable_since_, 0);
    if (place == message_place::repeated) {
        ++current_.repeated;
        return false;
    }
    if (place == message_place::belated) ++current_.belated;
    if (place == message_place::restarted) {
        begin_epoch();
        current_.unreadable += pending_.size();  // their rate will not come
        pending_.clear();
        rate_hz_ = 0;
    }
    if (place == message_place::after_gap) {
        // Messages that could not be read have had numbers, too.
        const std::uint64_t gap = numbers_.counts().missing - missing_before;
        if (gap <= unreadable) return true;
        if (!current_.spikes.empty()) finish_block();
        current_.missing += gap - unreadable;
    }
    return true;
}

bool open_ephys_messages::follows(const std::string& stream) {
    if (stream_.empty()) stream_ = stream;
    if (stream == stream_) return true;
    if (is_named_) return false;
    throw io_error(
        fmt::format("the streams '{}' and '{}' both have spikes, but each has a clock of its own: "
                    "name one of them (`stream`)",
                    stream_, stream));
}

std::optional<unit_id> open_ephys_messages::unit_of(const std::string& name) {
    if (const auto known = units_.find(name); known != units_.end()) return known->second;
    if (unit_names_.size() == most_units) return {};
    const unit_id unit{static_cast<std::uint32_t>(unit_names_.size())};
    units_.emplace(name, unit);
    unit_names_.push_back(name);
    current_.new_units.push_back(name);
    return unit;
}

std::int64_t open_ephys_messages::time_of(std::int64_t sample) const {
    return time_of_sample(sample, rate_hz_);
}

void open_ephys_messages::add_spike(std::int64_t sample, unit_id unit) {
    const std::int64_t time_us = time_of(sample);
    if (last_us_ && std::abs(time_us - *last_us_) > longest_leap_us) return take_unreadable();
    if (sender_ == open_ephys_sender::event_broadcaster) last_us_ = time_us;
    current_.spikes.push_back({time_us, unit});
}

void open_ephys_messages::take_spike(const open_ephys_header& header) {
    if (!follows(header.stream)) return;
    if (sender_ == open_ephys_sender::event_broadcaster) {
        if (rate_hz_ > 0 && header.rate_hz != rate_hz_) begin_epoch();
        rate_hz_ = header.rate_hz;
    }
    const auto unit = unit_of(header.unit);
    if (!unit) return take_unreadable();
    if (rate_hz_ > 0) return add_spike(header.sample, *unit);
    if (pending_.size() == most_pending) return take_unreadable();
    pending_.emplace_back(header.sample, *unit);
}

void open_ephys_messages::take_data(const open_ephys_header& header) {
    if (header.stream != stream_) return;
    if (rate_hz_ > 0 && header.rate_hz != rate_hz_) begin_epoch();
    rate_hz_ = header.rate_hz;
    for (const auto& [sample, unit] : std::exchange(pending_, {})) add_spike(sample, unit);
    const std::int64_t seen = header.sample + header.sample_count - unseen_samples;
    const std::int64_t watermark_us = seen > 0 ? time_of(seen) : 0;
    // Each channel of a block has data of its own.
    if (last_us_ == watermark_us) return;
    if (last_us_ && (watermark_us < *last_us_ || watermark_us - *last_us_ > longest_leap_us))
        begin_epoch();
    last_us_ = watermark_us;
    current_.watermark_us = watermark_us;
    finish_block();
}

void open_ephys_messages::take(std::span<const std::string_view> frames) {
    const open_ephys_header* header = nullptr;
    if (frames.size() >= 2)
        header = sender_ == open_ephys_sender::zmq_interface ? parser_.parse_interface(frames[1])
                                                             : parser_.parse_broadcast(frames[1]);
    if (header == nullptr) return take_unreadable();
    if (!observe(*header)) return;
    if (header->what == open_ephys_header::about::spike) take_spike(*header);
    if (header->what == open_ephys_header::about::data) take_data(*header);
}

}  // namespace spikeweave::live
