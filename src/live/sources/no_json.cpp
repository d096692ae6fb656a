// Stands for json_line_parser.cpp in a build without simdjson.

#include "live/sources/json_line_parser.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {

struct json_line_parser::state {};

json_line_parser::json_line_parser() {
    throw invalid_argument(
        "this build of spikeweave cannot read streams of JSON: it was built without simdjson "
        "(libsimdjson-dev)");
}

json_line_parser::~json_line_parser() = default;

const json_line* json_line_parser::parse(std::string_view) {
    return nullptr;
}

}  // namespace spikeweave::live
