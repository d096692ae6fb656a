#pragma once

#include "keyword_arguments.hpp"
#include "spikeweave/assess/pattern_search.hpp"

namespace spikeweave::python {

/// The arguments of `spade`.
spade_options take_request(keyword_arguments& how);
/// As the arguments of a call that does the same: what was settled on the way takes the place of
/// what left it to be settled.
nb::dict arguments_of(spade_options request, call_options call, const spade_input& prepared,
                      const spade_result& found);
nb::dict default_spade_arguments();

}  // namespace spikeweave::python
