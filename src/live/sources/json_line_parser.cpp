#include "live/sources/json_line_parser.hpp"

#include <simdjson.h>

#include "io/file_error.hpp"

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

}  // namespace spikeweave::live
