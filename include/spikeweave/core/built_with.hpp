#pragma once

#include <span>
#include <string_view>

#include "spikeweave/core/export.hpp"

namespace spikeweave {

/// A part of the library that a build may lack.
struct build_part {
    std::string_view name;     ///< "GPUs", "MPI", "NWB" or "live"
    std::string_view purpose;  ///< its purpose, as one clause
    bool is_built = false;
    std::string_view details;  ///< with what it was built, or why it was not
};

/// The parts that this library was built with, and those that it lacks.
SPIKEWEAVE_API std::span<const build_part> built_with();

}  // namespace spikeweave
