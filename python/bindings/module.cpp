#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <exception>

#include "bindings/bindings.hpp"
#include "bindings/core/arrays.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/version.hpp"

namespace nb = nanobind;

namespace {

void translate(const std::exception_ptr& error, void* /*unused*/) {
    try {
        std::rethrow_exception(error);
    } catch (const spikeweave::io_error& failure) {
        PyErr_SetString(PyExc_OSError, spikeweave::with_plain_names(failure.what()).c_str());
    } catch (const spikeweave::invalid_argument& refused) {
        PyErr_SetString(PyExc_ValueError, spikeweave::with_plain_names(refused.what()).c_str());
    } catch (const spikeweave::cancelled& stopped) {
        PyErr_SetString(PyExc_InterruptedError, stopped.what());
    }
}

nb::list list_devices() {
    using device = spikeweave::device_info;
    return spikeweave::python::dicts_of(
        spikeweave::devices(), "ordinal", &device::ordinal, "name", &device::name, "total_bytes",
        &device::total_bytes, "free_bytes", &device::free_bytes, "multiprocessors",
        &device::multiprocessors, "compute_capability",
        [](const auto& one) { return nb::make_tuple(one.compute_major, one.compute_minor); },
        "driver", &device::driver, "cuda", &device::driver_cuda);
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "What the Python files of spikeweave call; not for others.";
    nb::register_exception_translator(translate);
    const nb::exception<spikeweave::device_error> device_error(m, "DeviceError",
                                                               PyExc_RuntimeError);
    m.def("version", [] { return std::string(spikeweave::version()); });
    m.def("devices", &list_devices);
    m.def("device_unavailable_reason", &spikeweave::device_unavailable_reason);
    spikeweave::python::bind_spikes(m);
    spikeweave::python::bind_simulate(m);
    spikeweave::python::bind_episodes(m);
    spikeweave::python::bind_given_spikes(m);
    spikeweave::python::bind_live(m);
    spikeweave::python::bind_elephant(m);
    spikeweave::python::bind_elephant_relation(m);
    spikeweave::python::bind_spade(m);
    spikeweave::python::bind_recording(m);
    spikeweave::python::bind_sort(m);
}
