#pragma once

#include <string_view>
#include <vector>

namespace spikeweave::core {

/// The parts of a text between the delimiters: one more than there are delimiters.
/// @param by  not empty
inline std::vector<std::string_view> split(std::string_view text, std::string_view by) {
    std::vector<std::string_view> parts;
    for (std::size_t end = 0; (end = text.find(by)) != std::string_view::npos;) {
        parts.push_back(text.substr(0, end));
        text.remove_prefix(end + by.size());
    }
    parts.push_back(text);
    return parts;
}

}  // namespace spikeweave::core
