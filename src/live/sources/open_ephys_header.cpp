#include "live/sources/open_ephys_header.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <iterator>

#include "io/file_error.hpp"

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

}  // namespace spikeweave::live
