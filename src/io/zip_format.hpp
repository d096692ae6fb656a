#pragma once

#include <cstddef>
#include <cstdint>

namespace spikeweave::io::zip {

/// Bytes of a local file header without the name.
constexpr std::size_t local_size = 30;
/// The value of a 32-bit field whose number is in the ZIP64 part.
constexpr std::uint32_t in_zip64 = 0xFFFFFFFF;

}  // namespace spikeweave::io::zip
