#pragma once

#include <bit>
#include <concepts>
#include <cstring>
#include <string>

namespace spikeweave::io {

static_assert(std::endian::native == std::endian::little,
              "the binary formats are little-endian and read as they stand");

/// Reads a number at any address, aligned or not.
template <class T>
T load(const char* from) {
    T value{};
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <std::integral T>
void append(std::string& out, T value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out.append(bytes, sizeof value);
}

}  // namespace spikeweave::io
