#pragma once

#include <cstddef>

namespace spikeweave::core {

/// The first place from `at` on for which `holds` is false, at most `size`; it is true up to some
/// place and false from there on. When two trains are merged, the distance is as good as random, so
/// that a loop mispredicts its end nearly each time. A few places are therefore examined at once.
template <class Holds>
std::size_t skip_while(std::size_t at, std::size_t size, const Holds& holds) {
    constexpr std::size_t at_once = 4;
    if (at + at_once <= size) {
        std::size_t true_ones = 0;
        for (std::size_t k = 0; k < at_once; ++k) true_ones += holds(at + k) ? 1 : 0;
        at += true_ones;
        if (true_ones < at_once) return at;
    }
    while (at < size && holds(at)) ++at;
    return at;
}

}  // namespace spikeweave::core
