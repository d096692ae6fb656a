#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <exception>

#include "bindings.hpp"
#include "synfire/core/error.hpp"
#include "synfire/core/version.hpp"

namespace nb = nanobind;

namespace {

void translate(const std::exception_ptr& error, void* /*unused*/) {
    try {
        std::rethrow_exception(error);
    } catch (const synfire::io_error& failure) {
        PyErr_SetString(PyExc_OSError, failure.what());
    } catch (const synfire::cancelled& stopped) {
        PyErr_SetString(PyExc_InterruptedError, stopped.what());
    }
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "What the Python files of synfire call; not for others.";
    nb::register_exception_translator(translate);
    const nb::exception<synfire::device_error> device_error(m, "DeviceError", PyExc_RuntimeError);
    m.def("version", [] { return std::string(synfire::version()); });
    synfire::python::bind_devices(m);
    synfire::python::bind_spikes(m);
    synfire::python::bind_simulate(m);
    synfire::python::bind_episodes(m);
    synfire::python::bind_elephant(m);
    synfire::python::bind_spade(m);
    synfire::python::bind_recording(m);
    synfire::python::bind_sort(m);
}
