#pragma once

#include <span>
#include <string>
#include <vector>

namespace spikeweave::episodes {

/// Makes a warning, as one sentence, for each of these devices that was never measured.
std::vector<std::string> warnings_of_hybrid(std::span<const int> devices);

}  // namespace spikeweave::episodes
