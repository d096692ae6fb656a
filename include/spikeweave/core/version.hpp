#pragma once

#include <string_view>

namespace spikeweave {

/// The library's version, such as "0.1.0", followed by a plus sign and the commit if the build
/// knows it.
std::string_view version();

}  // namespace spikeweave
