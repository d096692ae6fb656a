// Replaces read_nwb.cpp and write_nwb.cpp in a build without HDF5.

#include "io/file_error.hpp"
#include "spikes/files/readers.hpp"
#include "spikeweave/spikes/epoch_labels.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave::spikes {
namespace {

constexpr auto no_nwb =
    "this build of spikeweave has no NWB (it was configured with SPIKEWEAVE_HDF5=OFF)";

}  // namespace

spike_file read_hdf5(const reading& job) {
    throw io::file_error(job.path, no_nwb);
}

void write_nwb(const writing& job) {
    throw io::file_error(job.path, no_nwb);
}

}  // namespace spikeweave::spikes

namespace spikeweave {

std::vector<time_span> read_nwb_intervals(const std::filesystem::path& path,
                                          const std::string& /*table*/, const execution& /*run*/,
                                          std::vector<std::string>* /*warnings*/) {
    throw io::file_error(path, spikes::no_nwb);
}

std::vector<std::int64_t> read_nwb_begins(const std::filesystem::path& path,
                                          const std::string& /*table*/, const execution& /*run*/,
                                          std::vector<std::string>* /*warnings*/) {
    throw io::file_error(path, spikes::no_nwb);
}

std::vector<epoch_label> read_nwb_labels(const std::filesystem::path& path,
                                         const std::string& /*table*/,
                                         const std::string& /*column*/, const execution& /*run*/) {
    throw io::file_error(path, spikes::no_nwb);
}

}  // namespace spikeweave
