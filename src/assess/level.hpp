#pragma once

#include <string>

#include "spikeweave/core/options.hpp"

namespace spikeweave::assess {

/// @throws invalid_argument with this name if a significance level is not above 0 and at most 1, as
/// options of commands say it.
inline void check_level(const std::string& name, double level) {
    if (level > 0 && level <= 1) return;
    option_list list;
    list.add(name, level, "").above(0).at_most(1);
    list.check();
}

}  // namespace spikeweave::assess
