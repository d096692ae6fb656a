#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "spikeweave/core/device.hpp"

namespace nb = nanobind;

namespace spikeweave::python {

void bind_devices(nb::module_& m) {
    m.def("devices", [] {
        nb::list all;
        for (const device_info& one : devices()) {
            nb::dict device;
            device["ordinal"] = one.ordinal;
            device["name"] = one.name;
            device["total_bytes"] = one.total_bytes;
            device["free_bytes"] = one.free_bytes;
            device["multiprocessors"] = one.multiprocessors;
            device["compute_capability"] = nb::make_tuple(one.compute_major, one.compute_minor);
            device["driver"] = one.driver;
            device["cuda"] = one.driver_cuda;
            all.append(device);
        }
        return all;
    });
    m.def("device_unavailable_reason", &device_unavailable_reason);
}

}  // namespace spikeweave::python
