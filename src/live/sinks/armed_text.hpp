#pragma once

#include <span>
#include <string>
#include <vector>

#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/mine/spade/detector.hpp"

namespace spikeweave::live {

/// An episode as it stands in a file of episodes: n0 4-6ms "unit b".
std::string armed_text(const episode& what, std::span<const std::string> names);
/// The units of a pattern, with the time after the first one: n0, n3 after 5 ms.
std::string armed_text(std::span<const pattern_spike> pattern, duration bin,
                       std::span<const std::string> names);

}  // namespace spikeweave::live
