#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace spikeweave::io {

/// A sequential source of bytes: a file or an entry of an archive. It fills the whole span unless
/// the bytes end before, and returns their number.
using byte_source = std::function<std::size_t(std::span<char>)>;

}  // namespace spikeweave::io
