#pragma once

#include <cstddef>
#include <string_view>

/// The number of times that `what` occurs in `text`.
inline std::size_t count_of(std::string_view what, std::string_view text) {
    std::size_t n = 0;
    for (std::size_t at = text.find(what); at != std::string_view::npos;
         at = text.find(what, at + 1))
        ++n;
    return n;
}
