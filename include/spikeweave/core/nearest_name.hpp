#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "spikeweave/core/export.hpp"

namespace spikeweave {

/// The name that was most likely meant: at most a third of its letters differ, where two letters
/// that changed places count once. The first of several; none if no name is near, or what was typed
/// is a number or has fewer than four letters.
SPIKEWEAVE_API std::optional<std::string> nearest_name(std::string_view typed,
                                                       std::span<const std::string> known);

/// "; did you mean NAME?", or nothing.
SPIKEWEAVE_API std::string did_you_mean(const std::optional<std::string>& near);

}  // namespace spikeweave
