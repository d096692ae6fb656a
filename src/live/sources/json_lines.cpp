#include "live/sources/json_lines.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <simdjson.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <system_error>
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

namespace {

[[noreturn]] void fail_to_read_lines(const std::string& name, int code) {
    throw io_error(fmt::format("cannot read {}: {}", name, std::generic_category().message(code)));
}

int open_lines(const std::filesystem::path& path, const std::string& name) {
    if (path != "-") {
        // Opening a named pipe does not wait for its writer, so that it can be stopped.
        const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (descriptor < 0) fail_to_read_lines(name, errno);
        return descriptor;
    }
    if (::isatty(STDIN_FILENO) != 0)
        throw io_error("standard input is a terminal, expected spikes from a file or a pipe");
    return STDIN_FILENO;
}

bool is_regular_file(int descriptor) {
    struct stat about {};
    return ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
}

}  // namespace

json_lines::json_lines(const std::filesystem::path& path, std::vector<std::string> unit_names,
                       std::stop_token stop, duration lateness)
    : shown_name_(path == "-" ? "standard input" : path.string()),
      descriptor_(open_lines(path, shown_name_)),
      is_file_(is_regular_file(descriptor_)),
      stop_(std::move(stop)),
      units_(std::move(unit_names)),
      buffer_(longest_line + json_line_parser::padding),
      clock_(lateness) {}

json_lines::~json_lines() {
    if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

// A request to stop is an end.
json_lines::awaited json_lines::wait_for_bytes() {
    constexpr int between_looks_ms = arrival_bound::between_looks.count();
    const auto end = std::chrono::steady_clock::now() + longest_silence;
    while (!stop_.stop_requested()) {
        pollfd input{.fd = descriptor_, .events = POLLIN, .revents = 0};
        const int ready = ::poll(&input, 1, between_looks_ms);
        if (ready > 0) return awaited::bytes;
        if (ready == 0) arrived_.looked(true);
        if (ready < 0 && errno != EINTR) fail_to_read_lines(shown_name_, errno);
        if (std::chrono::steady_clock::now() >= end) return awaited::silence;
    }
    return awaited::end;
}

// Moves the beginning of a line to the front and adds what has come. The last line gets a line end
// if it has none.
json_lines::awaited json_lines::read_more() {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(at_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(filled_), buffer_.begin());
    filled_ -= std::exchange(at_, 0);
    while (!is_over_) {
        const awaited came = wait_for_bytes();
        if (came != awaited::bytes) return came;
        const std::size_t most = longest_line - filled_;
        arrived_.begin_read();
        const ssize_t got = ::read(descriptor_, buffer_.data() + filled_, most);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0) fail_to_read_lines(shown_name_, errno);
        is_over_ = got == 0;
        if (is_over_ && filled_ == 0 && !is_too_long_) return awaited::end;
        if (is_over_)
            buffer_[filled_++] = '\n';
        else
            filled_ += static_cast<std::size_t>(got);
        arrived_.looked(is_file_ || static_cast<std::size_t>(got) < most);
        return awaited::bytes;
    }
    return awaited::end;
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
            shown_name_, line_, io::shown(line));
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
        const awaited came = read_more();
        if (came == awaited::end) return {};
        if (came == awaited::silence) return block;
    }
}

std::unique_ptr<source> json_lines_stream(const std::string& path,
                                          const std::vector<std::string>& unit_names,
                                          const std::stop_token& stop, duration lateness) {
    return std::make_unique<json_lines>(path, unit_names, stop, lateness);
}

}  // namespace spikeweave::live
