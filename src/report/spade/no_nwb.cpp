// Replaces nwb.cpp in a build without HDF5.

#include "io/file_error.hpp"
#include "report/spade/view.hpp"

namespace spikeweave::report {

void write_pattern_nwb(const std::filesystem::path& path, const pattern_view& /*p*/) {
    throw io::file_error(
        path, "this build of spikeweave has no NWB (it was configured with SPIKEWEAVE_HDF5=OFF)");
}

}  // namespace spikeweave::report
