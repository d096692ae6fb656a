#include "io/hdf5_schemas.hpp"

#include <fmt/format.h>

#include <cmath>

#include "io/file_error.hpp"

namespace spikeweave::io {

double read_kwik_rate(const hdf5::reader& kwik) {
    for (const char* name : {"recordings/0", "application_data/spikedetekt"}) {
        if (!kwik.exists(name)) continue;
        const auto rate = kwik.number_attributes(name, "sample_rate");
        if (rate.size() != 1) continue;
        if (rate[0] > 0 && std::isfinite(rate[0])) return rate[0];
        throw file_error(kwik.path(), fmt::format("/{}@sample_rate", name),
                         fmt::format("found {}, expected a rate in Hz", rate[0]));
    }
    return 0;
}

}  // namespace spikeweave::io
