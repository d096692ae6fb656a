#pragma once

#include <cstdint>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/export.hpp"

namespace spikeweave {

/// The cause of a change of a finding, from one condition to another or in the course of a
/// recording.
enum class change_kind : std::uint8_t {
    none,    ///< no significant change
    rate,    ///< it occurs more or less often, as the rates of the units explain
    excess,  ///< it follows its first unit more or less often beyond what rates predict
};

template <>
SPIKEWEAVE_API enum_table<change_kind> enum_names<change_kind>();

}  // namespace spikeweave
