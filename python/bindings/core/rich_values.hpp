#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

#include "spikeweave/core/options.hpp"

/// Options whose values are lists, mappings or arrays in Python, and texts elsewhere.
namespace spikeweave::python {

namespace nb = nanobind;

/// Returns the name of the type in python/spikeweave/_values/types.py; it is empty if the option's
/// value is as simple as it is elsewhere.
std::string_view rich_type(const option& one);
/// Takes the value of an option that has a rich type.
void take_rich(const option& one, nb::handle value);
nb::object show_rich(const option& one);

}  // namespace spikeweave::python
