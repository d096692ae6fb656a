#include "live/sources/open_ephys_messages.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "io/file_error.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

using simdjson::SUCCESS;
using simdjson::dom::object;

bool read_sample(const object& from, const char* key, std::int64_t& into) {
    return from[key].get(into) == SUCCESS && into >= 0 &&
           into < open_ephys_header_parser::most_samples;
}

bool read_rate(const object& from, double& into) {
    return from["sample_rate"].get(into) == SUCCESS &&
           into >= open_ephys_header_parser::least_rate_hz &&
           into <= open_ephys_header_parser::most_rate_hz;
}

bool read_stream(const object& from, std::string& into) {
    std::string_view text;
    if (from["stream"].get(text) != SUCCESS) return false;
    into = text;
    return true;
}

// A spike that no sorter has numbered has the identity 0, or none.
bool read_spike(const object& from, const char* sample_key, open_ephys_header& into) {
    into.what = open_ephys_header::about::spike;
    std::string_view name;
    std::int64_t sorted = 0;
    if (!read_stream(from, into.stream) || !read_sample(from, sample_key, into.sample) ||
        from["electrode"].get(name) != SUCCESS || !io::is_printable_utf8(name))
        return false;
    if (from["sorted_id"].get(sorted) != SUCCESS) sorted = 0;
    into.unit = name;
    if (sorted != 0) fmt::format_to(std::back_inserter(into.unit), "#{}", sorted);
    return true;
}

bool read_data(const object& message, open_ephys_header& into) {
    into.what = open_ephys_header::about::data;
    object content;
    if (message["content"]["channel_num"].get(into.channel) != SUCCESS) into.channel = -1;
    return message["content"].get(content) == SUCCESS && read_stream(content, into.stream) &&
           read_sample(content, "sample_num", into.sample) &&
           read_sample(content, "num_samples", into.sample_count) &&
           read_rate(content, into.rate_hz);
}

}  // namespace

struct open_ephys_header_parser::state {
    simdjson::dom::parser parser{};
    open_ephys_header header{};

    bool parse(std::string_view json, object& into) {
        header.what = open_ephys_header::about::something_else;
        header.message_number.reset();
        return parser.parse(json.data(), json.size()).get(into) == SUCCESS;
    }
};

open_ephys_header_parser::open_ephys_header_parser() : state_(std::make_unique<state>()) {}
open_ephys_header_parser::~open_ephys_header_parser() = default;

const open_ephys_header* open_ephys_header_parser::parse_interface(std::string_view json) {
    object message;
    if (!state_->parse(json, message)) return nullptr;
    open_ephys_header& into = state_->header;
    std::uint64_t number = 0;
    if (message["message_num"].get(number) == SUCCESS) {
        if (number > open_ephys_header_parser::most_messages) return nullptr;
        into.message_number = number;
    }
    std::string_view type;
    if (message["type"].get(type) != SUCCESS) return nullptr;
    if (type == "data") return read_data(message, into) ? &into : nullptr;
    if (type != "spike") return &into;
    object spike;
    if (message["spike"].get(spike) != SUCCESS) return nullptr;
    return read_spike(spike, "sample_num", into) ? &into : nullptr;
}

const open_ephys_header* open_ephys_header_parser::parse_broadcast(std::string_view json) {
    object message;
    if (!state_->parse(json, message)) return nullptr;
    open_ephys_header& into = state_->header;
    std::string_view type;
    if (message["event_type"].get(type) != SUCCESS) return nullptr;
    if (type != "spike") return &into;
    return read_spike(message, "sample_number", into) && read_rate(message, into.rate_hz) ? &into
                                                                                          : nullptr;
}

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
      units_(std::move(unit_names)) {}

std::optional<source_block> open_ephys_messages::complete() {
    if (complete_.empty()) return {};
    source_block block = std::move(complete_.front());
    complete_.pop_front();
    has_given_ = true;
    return block;
}

std::optional<source_block> open_ephys_messages::rest() {
    if (current_ == source_block{}) return {};
    has_given_ = true;
    return std::exchange(current_, {});
}

void open_ephys_messages::finish_block() {
    if (!(current_ == source_block{})) complete_.push_back(std::exchange(current_, {}));
}

// The clock has started again.
void open_ephys_messages::begin_epoch() {
    if (current_.begins_epoch && current_.spikes.empty()) return;  // it has only just begun
    finish_block();
    current_.begins_epoch = true;
    last_us_.reset();
}

// The sender numbers from the start again, or is another one.
void open_ephys_messages::restart() {
    begin_epoch();
    current_.unreadable += pending_.size();  // their rate will not come
    pending_.clear();
    rate_hz_ = 0;
    unexplained_ = 0;
}

// It may have been a spike, of any time since the last watermark.
void open_ephys_messages::take_unreadable() {
    if (!current_.spikes.empty()) finish_block();
    ++current_.unreadable;
}

// Nor is the number known that it had.
void open_ephys_messages::take_unknown() {
    ++unexplained_;
    readable_since_ = 0;
    take_unreadable();
}

void open_ephys_messages::add_missing(std::uint64_t count) {
    if (count == 0) return;
    if (!current_.spikes.empty()) finish_block();
    current_.missing += count;
    told_missing_ += count;
}

// Messages that could not be read have had numbers, too, so they are not missing as well.
void open_ephys_messages::count_gap(std::uint64_t missing) {
    const std::uint64_t explained = std::min(missing, unexplained_);
    unexplained_ -= explained;
    add_missing(missing - explained);
}

// A message that is belated has been told as missing, or is now: those from before the first one
// have not been, nor has one that was taken for an unreadable one.
void open_ephys_messages::count_belated(std::uint64_t not_told) {
    add_missing(not_told);
    if (told_missing_ == 0) {
        add_missing(1);
        ++unexplained_;
        readable_since_ = 0;
    }
    ++current_.belated;
    --told_missing_;
}

message_place open_ephys_messages::observe(std::uint64_t number) {
    const message_counts before = numbers_.counts();
    const bool after_break = std::exchange(is_after_break_, false);
    const message_place place = numbers_.observe(number, after_break);
    const std::uint64_t missing = numbers_.counts().missing;
    if (before.received == 0) unexplained_ = 0;  // they were sent before the first one
    if (++readable_since_ > message_numbers::memory) unexplained_ = 0;
    switch (place) {
        case message_place::next:
            break;
        case message_place::after_gap:
            if (after_break) restart();
            count_gap(missing - before.missing);
            break;
        case message_place::belated:
            count_belated(missing + 1 - before.missing);
            break;
        case message_place::repeated:
            ++current_.repeated;
            break;
        case message_place::restarted:
            restart();
            break;
        case message_place::impossible:
            break;
    }
    return place;
}

bool open_ephys_messages::follows(const std::string& stream) {
    if (stream_.empty()) stream_ = stream;
    if (stream == stream_) return true;
    if (is_named_ || has_given_) return false;
    throw io_error(
        fmt::format("the streams {} and {} both have spikes, but each has a clock of its own: "
                    "name one of them (`stream`)",
                    io::shown(stream_), io::shown(stream)));
}

std::int64_t open_ephys_messages::time_of(std::int64_t sample) const {
    return time_of_sample(sample, rate_hz_);
}

void open_ephys_messages::add_spike(std::int64_t sample, unit_id unit) {
    const std::int64_t time_us = time_of(sample);
    const bool has_block = sender_ == open_ephys_sender::zmq_interface;
    if (!has_block && last_us_ && time_us < *last_us_ - longest_block_us) begin_epoch();
    if (last_us_ && std::abs(time_us - *last_us_) > longest_leap_us) return take_unreadable();
    if (!has_block) last_us_ = time_us;
    current_.spikes.push_back({time_us, unit});
}

void open_ephys_messages::take_spike(const open_ephys_header& header) {
    if (!follows(header.stream)) {
        if (is_named_) return;
        if (first_unreadable_.empty())
            first_unreadable_ = fmt::format(
                "a spike of the stream {}, but the session is of {} (`stream` names another one)",
                io::shown(header.stream), io::shown(stream_));
        return take_unreadable();
    }
    if (sender_ == open_ephys_sender::event_broadcaster) {
        const bool is_after_break = std::exchange(is_after_break_, false);
        if (is_after_break || (rate_hz_ > 0 && header.rate_hz != rate_hz_)) begin_epoch();
        rate_hz_ = header.rate_hz;
    }
    const auto unit = units_.find_or_add(header.unit, current_);
    if (!unit) return take_unreadable();
    if (rate_hz_ > 0) return add_spike(header.sample, *unit);
    if (pending_.size() == most_pending) return take_unreadable();
    pending_.emplace_back(header.sample, *unit);
}

void open_ephys_messages::take_data(const open_ephys_header& header, bool is_belated) {
    if (header.stream != stream_ || (is_belated && last_us_)) return;
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
    if (header == nullptr) return take_unknown();
    const message_place place =
        header->message_number ? observe(*header->message_number) : message_place::next;
    if (place == message_place::impossible) return take_unknown();
    if (place == message_place::repeated) return;
    if (header->what == open_ephys_header::about::spike) take_spike(*header);
    if (header->what == open_ephys_header::about::data)
        take_data(*header, place == message_place::belated);
}

}  // namespace spikeweave::live
