#include "cli/json_document.hpp"

#include <nlohmann/json.hpp>

namespace spikeweave::cli {

std::string json_document(std::initializer_list<std::pair<const char*, json_value>> members) {
    nlohmann::ordered_json document;
    for (const auto& member : members)
        std::visit([&](const auto& one) { document[member.first] = one; }, member.second);
    // A path may have any bytes.
    constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;
    return document.dump(2, ' ', false, replace) + "\n";
}

}  // namespace spikeweave::cli
