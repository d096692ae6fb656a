#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

namespace spikeweave::core {

/// The first few texts, and how many more there are: "a, b, c and 4 more".
inline std::string listed(std::span<const std::string> texts) {
    constexpr std::size_t most = 5;
    const auto first = texts.first(std::min(texts.size(), most));
    return fmt::format("{}{}", fmt::join(first, ", "),
                       texts.size() > most ? fmt::format(" and {} more", texts.size() - most) : "");
}

}  // namespace spikeweave::core
