#include <exception>

#include "bindings/core/values.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/version.hpp"

namespace spikeweave::python {
namespace {

void translate(const std::exception_ptr& error, void* /*unused*/) {
    try {
        std::rethrow_exception(error);
    } catch (const io_error& failure) {
        PyErr_SetString(PyExc_OSError, with_plain_names(failure.what()).c_str());
    } catch (const invalid_argument& refused) {
        PyErr_SetString(PyExc_ValueError, with_plain_names(refused.what()).c_str());
    } catch (const cancelled& stopped) {
        PyErr_SetString(PyExc_InterruptedError, stopped.what());
    }
}

nb::list list_devices() {
    using device = device_info;
    return dicts_of(
        devices(), "ordinal", &device::ordinal, "name", &device::name, "total_bytes",
        &device::total_bytes, "free_bytes", &device::free_bytes, "multiprocessors",
        &device::multiprocessors, "compute_capability",
        [](const auto& one) { return nb::make_tuple(one.compute_major, one.compute_minor); },
        "driver", &device::driver, "cuda", &device::driver_cuda);
}

}  // namespace
}  // namespace spikeweave::python

NB_MODULE(_core, m) {
    using namespace spikeweave::python;
    m.doc() = "What the Python files of spikeweave call; not for others.";
    nb::register_exception_translator(translate);
    const nb::exception<spikeweave::device_error> error(m, "DeviceError", PyExc_RuntimeError);
    m.def("version", &spikeweave::version);
    m.def("devices", &list_devices);
    m.def("device_unavailable_reason", &spikeweave::device_unavailable_reason);
    bind_spikes(m);
    bind_simulate(m);
    bind_episodes(m);
    bind_compare(m);
    bind_given_spikes(m);
    bind_live(m);
    bind_elephant(m);
    bind_spade(m);
    bind_replay(m);
    bind_track(m);
    bind_assemblies(m);
    bind_bursts(m);
    bind_recording(m);
    bind_reports(m);
    bind_sort(m);
}
