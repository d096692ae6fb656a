#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/core/time.hpp"

namespace spikeweave::core {

/// Warns of a time in the options that is far longer than any interval between spikes of neurons.
/// Numbers are seconds, and it is easy to give milliseconds instead.
/// @param what  the beginning of the sentence, such as "The bins are"
inline void check_given_time(std::string_view what, duration given,
                             std::vector<std::string>& warnings) {
    constexpr duration suspect = std::chrono::seconds{1};
    if (given >= suspect)
        warnings.push_back(fmt::format("{} {} long: were milliseconds given for seconds?", what,
                                       format_duration(given)));
}

}  // namespace spikeweave::core
