#pragma once

#include "given.hpp"
#include "spikeweave/assess/pattern_search.hpp"

namespace spikeweave::python {

/// The arguments of `spade`.
pattern_request take_request(given& how);
/// As the arguments of a call that does the same: what was settled on the way takes the place of
/// what left it to be settled.
nb::dict arguments_of(pattern_request request, call_options call, const prepared_windows& prepared,
                      const pattern_findings& found);
nb::dict default_spade_arguments();

}  // namespace spikeweave::python
