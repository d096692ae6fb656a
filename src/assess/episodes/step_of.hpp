#pragma once

#include <cstddef>

#include "spikeweave/mine/episodes.hpp"

namespace spikeweave::assess {

/// The pair of units k and k + 1 of an episode, with the delay between them.
inline episode step_of(const episode& what, std::size_t k) {
    return {{what.units[k], what.units[k + 1]}, {what.delays[k]}};
}

}  // namespace spikeweave::assess
