#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace spikeweave::io {

/// Where bytes come from, one after another: a file or an entry of an archive. Fills the whole span
/// unless the bytes end before; returns how many there were.
using byte_source = std::function<std::size_t(std::span<char>)>;

}  // namespace spikeweave::io
