#pragma once

#include <nanobind/nanobind.h>

/// The extension `spikeweave._core`: what the Python files of the package call. Arguments and
/// results are arrays, texts and dictionaries; the package's own files give them their public
/// shape.
namespace spikeweave::python {

void bind_spikes(nanobind::module_& m);
void bind_simulate(nanobind::module_& m);
void bind_episodes(nanobind::module_& m);
void bind_given_spikes(nanobind::module_& m);
void bind_live(nanobind::module_& m);
void bind_elephant(nanobind::module_& m);
void bind_elephant_relation(nanobind::module_& m);
void bind_recording(nanobind::module_& m);
void bind_spade(nanobind::module_& m);
void bind_sort(nanobind::module_& m);

}  // namespace spikeweave::python
