#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "spikeweave/core/export.hpp"

namespace spikeweave {

/// The name that was most likely meant: the same one except for capital letters (of ASCII), or one
/// that differs in at most a third of its letters, where two swapped letters count once. The first
/// of several; none if no name is near. Numbers and names of fewer than four letters are compared
/// only without regard to capital letters.
SPIKEWEAVE_API std::optional<std::string> nearest_name(std::string_view typed,
                                                       std::span<const std::string> known);

/// "; did you mean NAME?", or nothing.
SPIKEWEAVE_API std::string did_you_mean(const std::optional<std::string>& near);

}  // namespace spikeweave
