#pragma once

#include <nanobind/nanobind.h>

/// The extension `spikeweave._core`: the functions that the Python files of the package call.
/// Arguments and results are arrays, texts and dictionaries; the package's own files convert them
/// to their public form.
namespace spikeweave::python {

namespace nb = nanobind;
using nb::literals::operator""_a;

void bind_spikes(nb::module_& m);
void bind_simulate(nb::module_& m);
void bind_episodes(nb::module_& m);
void bind_compare(nb::module_& m);
void bind_given_spikes(nb::module_& m);
void bind_live(nb::module_& m);
void bind_elephant(nb::module_& m);
void bind_replay(nb::module_& m);
void bind_track(nb::module_& m);
void bind_assemblies(nb::module_& m);
void bind_bursts(nb::module_& m);
void bind_recording(nb::module_& m);
void bind_spade(nb::module_& m);
void bind_reports(nb::module_& m);
void bind_sort(nb::module_& m);

}  // namespace spikeweave::python
