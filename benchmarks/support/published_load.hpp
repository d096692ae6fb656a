#pragma once

#include <cstdint>
#include <vector>

#include "spikeweave/mine/episodes.hpp"

/// The load of the published comparison: 43,656 candidates of size 4 on 64 units.
inline constexpr std::uint32_t published_units = 64;

/// Makes walks of three steps in a random graph in which each unit has nine partners, cut to the
/// published number. All steps have the given delay.
std::vector<spikeweave::episode> published_candidates(const spikeweave::delay_interval& step);
