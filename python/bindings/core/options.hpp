#pragma once

#include <nanobind/nanobind.h>

#include "bindings/core/call.hpp"
#include "spikeweave/core/options.hpp"

/// Described options as keyword arguments, and back.
namespace spikeweave::python {

/// Sets the options that were given as arguments; None leaves the default. Every call can also have
/// the arguments `threads`, unless that is one of the options, and `progress`.
/// @throws TypeError for a value of another kind or an argument that there is not, ValueError for a
/// value out of range, all with the argument's name.
call_options take_options(const nb::dict& arguments, const option_list& options);

/// Returns the arguments of a call that does the same: times in seconds, None if not set.
nb::dict arguments_of(const option_list& options);

/// Returns what signatures, docstrings, the documentation and tests need to know of the options, a
/// dictionary for each.
nb::list description_of(const option_list& options);
template <class Options>
nb::list description() {
    Options options;
    return description_of(describe(options));
}

}  // namespace spikeweave::python
