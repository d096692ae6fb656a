#pragma once

#include <string_view>

namespace spikeweave {

/// "0.1.0", and with the commit behind a plus sign when the build knows it.
std::string_view version();

}  // namespace spikeweave
