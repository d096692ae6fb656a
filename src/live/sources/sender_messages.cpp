#include "live/sources/sender_messages.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "io/file_error.hpp"
#include "io/little_endian.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

using message_json = nlohmann::json;

constexpr std::string_view frame_mark = "SWS1";
constexpr std::size_t frame_head_bytes = 28;
constexpr std::size_t sent_spike_bytes = 16;
constexpr std::uint32_t last_frame_flag = 1;
constexpr std::int64_t no_watermark = INT64_MIN;
constexpr std::uint64_t hello_version = 1;
// Numbers of frames are kept as signed numbers in the file of a session.
constexpr std::uint64_t most_frames = std::uint64_t{1} << 62;

void check_sent_time(std::int64_t time_us) {
    if (time_us < -spike_frame::most_time_us || time_us > spike_frame::most_time_us)
        throw invalid_argument(fmt::format("the time {} us is out of range", time_us));
}

std::uint64_t frame_number(const message_json& value, const char* key) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most_frames)
        throw invalid_argument(fmt::format("'{}' is no number of a frame", key));
    return value.get<std::uint64_t>();
}

message_json parse_object(std::string_view message) {
    message_json read = message_json::parse(message, nullptr, false);
    if (!read.is_object()) throw invalid_argument("it is no JSON object");
    return read;
}

std::string sent_name(const message_json& value, const char* what) {
    if (!value.is_string()) throw invalid_argument(fmt::format("'{}' is no text", what));
    return value.get<std::string>();
}

void check_sent_name(const std::string& name, const char* what) {
    if (name.size() > sender_hello::longest_name || !io::is_printable_utf8(name))
        throw invalid_argument(fmt::format("'{}': {} is no name", what, io::shown(name)));
}

// It is shown to whoever sends.
std::string error_in(const message_json& value) {
    if (!value.is_string()) return "it says no reason";
    const auto& text = value.get_ref<const std::string&>();
    return io::is_printable_utf8(text) ? text : io::shown(text);
}

const message_json& member_of(const message_json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end()) throw invalid_argument(fmt::format("'{}' is missing", key));
    return *found;
}

}  // namespace

std::size_t spike_frame::size() const {
    return spikes.size() / sent_spike_bytes;
}

spike_event spike_frame::operator[](std::size_t i) const {
    const char* const at = spikes.data() + i * sent_spike_bytes;
    return {io::load<std::int64_t>(at), io::load<unit_id>(at + sizeof(std::int64_t))};
}

spike_frame read_spike_frame(std::string_view message) {
    if (!message.starts_with(frame_mark))
        throw invalid_argument("it begins neither like a hello nor like a frame");
    if (message.size() < frame_head_bytes)
        throw invalid_argument(fmt::format("a frame of {} bytes, expected at least {}",
                                           message.size(), frame_head_bytes));
    const char* at = message.data() + frame_mark.size();
    const auto take = [&at]<class T>(T& into) {
        into = io::load<T>(at);
        at += sizeof into;
    };
    spike_frame frame;
    std::int64_t watermark_us = 0;
    std::uint32_t count = 0, flags = 0;
    take(frame.number);
    take(watermark_us);
    take(count);
    take(flags);
    if (count > spike_frame::most_spikes ||
        message.size() != frame_head_bytes + count * sent_spike_bytes)
        throw invalid_argument(
            fmt::format("a frame of {} bytes with {} spikes", message.size(), count));
    if (frame.number == 0 || frame.number > most_frames)
        throw invalid_argument(fmt::format("a frame has the number {}", frame.number));
    if (flags > last_frame_flag)
        throw invalid_argument(fmt::format("a frame has the flags {}", flags));
    frame.is_last = flags == last_frame_flag;
    if (watermark_us != no_watermark || count > 0 || !frame.is_last) {
        check_sent_time(watermark_us);
        frame.watermark_us = watermark_us;
    }
    frame.spikes = message.substr(frame_head_bytes);
    for (std::size_t i = 0; i < count; ++i) {
        check_sent_time(frame[i].time_us);
        if (io::load<std::uint32_t>(frame.spikes.data() + i * sent_spike_bytes + 12) != 0)
            throw invalid_argument("the last four bytes of a spike are not 0");
    }
    return frame;
}

std::string spike_frame_message(std::uint64_t number, std::optional<std::int64_t> watermark_us,
                                bool is_last, std::span<const std::int64_t> times_us,
                                std::span<const unit_id> units) {
    std::string message(frame_mark);
    message.reserve(frame_head_bytes + times_us.size() * sent_spike_bytes);
    io::append(message, number);
    io::append(message, watermark_us.value_or(no_watermark));
    io::append(message, static_cast<std::uint32_t>(times_us.size()));
    io::append(message, is_last ? last_frame_flag : 0U);
    for (std::size_t i = 0; i < times_us.size(); ++i) {
        io::append(message, times_us[i]);
        io::append(message, std::uint64_t{to_index(units[i])});
    }
    return message;
}

void check_hello(const sender_hello& hello) {
    check_sent_name(hello.source, "source");
    check_sent_name(hello.clock, "clock");
    for (const std::string& name : hello.units) check_sent_name(name, "units");
}

sender_hello read_hello(std::string_view message) {
    if (message.size() > sender_hello::longest_message)
        throw invalid_argument(fmt::format("a hello of {} bytes", message.size()));
    const message_json read = parse_object(message);
    if (member_of(read, "hello") != hello_version)
        throw invalid_argument(fmt::format("'hello' is not {}", hello_version));
    sender_hello hello{.source = sent_name(member_of(read, "source"), "source"),
                       .clock = sent_name(member_of(read, "clock"), "clock")};
    const message_json& units = member_of(read, "units");
    if (!units.is_array()) throw invalid_argument("'units' is no list");
    for (const message_json& name : units) hello.units.push_back(sent_name(name, "units"));
    if (const auto next = read.find("next"); next != read.end()) {
        hello.next = frame_number(*next, "next");
        if (hello.next == 0) throw invalid_argument("'next' is 0");
    }
    check_hello(hello);
    return hello;
}

std::string hello_message(const sender_hello& hello) {
    message_json message{{"hello", hello_version},
                         {"source", hello.source},
                         {"clock", hello.clock},
                         {"units", hello.units}};
    if (hello.next) message["next"] = *hello.next;
    return message.dump();
}

sender_answer read_answer(std::string_view message) {
    const message_json read = parse_object(message);
    if (const auto error = read.find("error"); error != read.end())
        return {.error = error_in(*error)};
    if (read.contains("say")) return {.asks_for_hello = true};
    sender_answer answer{.acknowledged = frame_number(member_of(read, "ack"), "ack"),
                         .credit = frame_number(member_of(read, "credit"), "credit")};
    if (const auto next = read.find("next"); next != read.end())
        answer.next = frame_number(*next, "next");
    return answer;
}

std::string answer_message(const sender_answer& answer) {
    if (!answer.error.empty())
        return message_json{{"error", answer.error}}.dump(-1, ' ', false,
                                                          message_json::error_handler_t::replace);
    if (answer.asks_for_hello) return R"({"say":"hello"})";
    std::string text = fmt::format(R"({{"ack":{},"credit":{})", answer.acknowledged, answer.credit);
    if (answer.next) fmt::format_to(std::back_inserter(text), R"(,"next":{})", *answer.next);
    return text + "}";
}

}  // namespace spikeweave::live
