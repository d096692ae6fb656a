#pragma once

#include <cstddef>
#include <cstdint>

namespace spikeweave::io::zip {

/// Bytes of a file's local header without its name.
constexpr std::size_t local_size = 30;
/// What a field of 32 bits holds where the number stands in the ZIP64 part.
constexpr std::uint32_t in_zip64 = 0xFFFFFFFF;

}  // namespace spikeweave::io::zip
