#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace spikeweave::cli {

using json_value = std::variant<std::uint64_t, double, std::string, std::vector<std::string>>;

/// What a command has done, as one JSON document with these members.
std::string json_document(std::initializer_list<std::pair<const char*, json_value>> members);

}  // namespace spikeweave::cli
