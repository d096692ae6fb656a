// Replaces read_nwb.cpp in a build without HDF5.

#include "io/file_error.hpp"
#include "record/files/readers.hpp"

namespace spikeweave::record {

opened read_nwb_recording(const opening& job) {
    throw io::file_error(
        job.path,
        "this build of spikeweave has no NWB (it was configured with SPIKEWEAVE_HDF5=OFF)");
}

bool is_nwb_recording(const std::filesystem::path& /*path*/, const std::stop_token& /*stop*/) {
    return false;
}

}  // namespace spikeweave::record
