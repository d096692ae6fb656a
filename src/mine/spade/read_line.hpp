#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>

#include "spikeweave/core/error.hpp"

namespace spikeweave::mine {

/// Makes a fault in a line an error of the file.
template <class Read>
auto read_line(const std::filesystem::path& table, std::size_t number, const Read& read) {
    try {
        return read();
    } catch (const invalid_argument& error) {
        throw io_error(fmt::format("{}, line {}: {}", table.string(), number, error.what()));
    }
}

}  // namespace spikeweave::mine
