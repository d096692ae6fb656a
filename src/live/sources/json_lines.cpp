#include "live/sources/json_lines.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "io/file_error.hpp"
#include "live/sources/streams.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

static_assert(json_line_parser::padding >= simdjson::SIMDJSON_PADDING);

bool read_time(const simdjson::dom::element& value, std::int64_t& time_us) {
    constexpr std::int64_t most = json_line_parser::most_time_us;
    return value.get(time_us) == simdjson::SUCCESS && time_us >= -most && time_us <= most;
}

bool read_unit(const simdjson::dom::element& value, std::string& unit) {
    std::string_view text;
    std::uint64_t number = 0;
    if (value.get(text) == simdjson::SUCCESS) {
        unit = text;
        return io::is_printable_utf8(text);
    }
    if (value.get(number) != simdjson::SUCCESS) return false;
    unit = std::to_string(number);
    return true;
}

}  // namespace

struct json_line_parser::state {
    simdjson::dom::parser parser{};
    json_line line{};
};

json_line_parser::json_line_parser() : state_(std::make_unique<state>()) {}
json_line_parser::~json_line_parser() = default;

const json_line* json_line_parser::parse(std::string_view line) {
    simdjson::dom::object object;
    if (state_->parser.parse(line.data(), line.size(), false).get(object) != simdjson::SUCCESS)
        return nullptr;
    json_line& into = state_->line;
    into.has_spike = false;
    into.watermark_us.reset();
    simdjson::dom::element value;
    if (object["t_us"].get(value) == simdjson::SUCCESS) {
        if (!read_time(value, into.time_us)) return nullptr;
        if (object["unit"].get(value) != simdjson::SUCCESS) return nullptr;
        if (!read_unit(value, into.unit)) return nullptr;
        into.has_spike = true;
    }
    if (object["watermark_us"].get(value) == simdjson::SUCCESS) {
        std::int64_t watermark_us = 0;
        if (!read_time(value, watermark_us)) return nullptr;
        into.watermark_us = watermark_us;
    }
    return into.has_spike || into.watermark_us ? &into : nullptr;
}

json_lines::json_lines(const std::filesystem::path& path, std::vector<std::string> unit_names,
                       std::stop_token stop, duration lateness)
    : input_(path, "spikes", std::move(stop)),
      units_(std::move(unit_names)),
      buffer_(longest_line + json_line_parser::padding),
      clock_(lateness) {}

// Moves the beginning of a line to the front and adds what has come. The last line gets a line end
// if it has none.
byte_input::awaited json_lines::read_more() {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(at_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(filled_), buffer_.begin());
    filled_ -= std::exchange(at_, 0);
    if (is_over_) return byte_input::awaited::end;
    std::size_t got = 0;
    const auto came = input_.read(std::span(buffer_).subspan(filled_, longest_line - filled_), got);
    if (came != byte_input::awaited::bytes) return came;
    is_over_ = got == 0;
    if (is_over_ && filled_ == 0 && !is_too_long_) return byte_input::awaited::end;
    filled_ += got;
    if (is_over_) buffer_[filled_++] = '\n';
    return byte_input::awaited::bytes;
}

// The next line that is in the buffer; of a line that does not fit, the end.
std::optional<std::string_view> json_lines::next_line() {
    const char* const begin = buffer_.data() + at_;
    const void* const found = std::memchr(begin, '\n', filled_ - at_);
    if (found == nullptr) {
        if (at_ > 0 || filled_ < longest_line) return {};
        filled_ = 0;
        is_too_long_ = true;
        return {};
    }
    const auto length = static_cast<std::size_t>(static_cast<const char*>(found) - begin);
    at_ += length + 1;
    return std::string_view(begin, length);
}

// An unreadable line may have been a spike at the time before it, so it precedes the spikes.
json_lines::verdict json_lines::take_unreadable(std::string_view line, source_block& block) {
    if (!block.spikes.empty()) return verdict::begins_block;
    if (first_unreadable_.empty())
        first_unreadable_ = fmt::format(
            R"({}, line {}: found {}, expected a line such as {{"t_us":1000,"unit":"a"}})",
            input_.shown_name(), line_, io::shown(line));
    ++block.unreadable;
    return verdict::goes_on;
}

json_lines::verdict json_lines::take(std::string_view line, source_block& block) {
    if (std::exchange(is_too_long_, false)) return take_unreadable(line, block);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return verdict::goes_on;
    const json_line* const parsed = parser_.parse(line);
    if (parsed == nullptr) return take_unreadable(line, block);
    const std::int64_t time_us = parsed->has_spike ? parsed->time_us : *parsed->watermark_us;
    if (std::abs(parsed->watermark_us.value_or(time_us) - time_us) > stream_clock::longest_leap_us)
        return take_unreadable(line, block);
    if (clock_.begins_epoch(time_us)) {
        if (!block.spikes.empty()) return verdict::begins_block;
        block.begins_epoch = true;
    }
    if (parsed->has_spike) {
        const auto unit = units_.find_or_add(parsed->unit, block);
        if (!unit) return take_unreadable(line, block);
        block.spikes.push_back({parsed->time_us, *unit});
    }
    clock_.take(time_us);
    if (parsed->watermark_us && !clock_.begins_epoch(*parsed->watermark_us))
        clock_.take(*parsed->watermark_us);
    if (!parsed->watermark_us) return verdict::goes_on;
    block.watermark_us = parsed->watermark_us;
    return verdict::ends_block;
}

// A block is what has come, up to a watermark, because spikes after one that are earlier are late.
std::optional<source_block> json_lines::next() {
    source_block block;
    for (;;) {
        while (const auto line = next_line()) {
            const bool was_too_long = is_too_long_;
            ++line_;
            const verdict then = take(*line, block);
            if (then == verdict::begins_block) {
                at_ -= line->size() + 1;
                is_too_long_ = was_too_long;
                --line_;
            }
            if (then != verdict::goes_on) return block;
        }
        if (!(block == source_block{})) return block;
        const auto came = read_more();
        if (came == byte_input::awaited::end) return {};
        if (came == byte_input::awaited::silence) return block;
    }
}

std::unique_ptr<source> json_lines_stream(const std::string& path,
                                          const std::vector<std::string>& unit_names,
                                          const std::stop_token& stop, duration lateness) {
    return std::make_unique<json_lines>(path, unit_names, stop, lateness);
}

}  // namespace spikeweave::live
