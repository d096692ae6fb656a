#pragma once

#include "bindings/core/options.hpp"
#include "bindings/core/values.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::python {

/// A sequence that a long call may go on reading without the interpreter's lock.
struct shared_spikes {
    std::shared_ptr<const spike_sequence> sequence;
    /// Whether the span is the recorded one, and not only that from the first spike to the last.
    bool has_recorded_span = true;
    /// Whether whoever reads the warnings of these spikes has seen those of `check_spikes`.
    bool checked = false;
    /// Whether the units are clusters of a sorter, and so no electrodes.
    bool are_clusters = false;
};

shared_spikes share(spike_sequence spikes, bool has_recorded_span = true);

/// Times in seconds as the library has them.
/// @throws invalid_argument if one is not finite.
std::vector<std::int64_t> microseconds_of(const array_in<double>& seconds);
std::vector<unit_id> ids_of(const array_in<std::uint32_t>& units);

/// Puts the warnings of `check_spikes` and then `more` into `out` as "warnings"; "told" is the
/// number of the first that were reported before.
void add_warnings(nb::dict& out, const shared_spikes& spikes, const std::vector<std::string>& more);

/// Adds these, the options of the run as arguments, and its time in seconds.
template <class Result, class Options>
void add_run(nb::dict& out, const shared_spikes& spikes, const Result& found, Options options) {
    out["parameters"] = arguments_of(describe(options));
    add_warnings(out, spikes, found.warnings);
    out["seconds"] = found.seconds;
}

}  // namespace spikeweave::python
