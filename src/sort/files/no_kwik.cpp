// Replaces read_kwik.cpp and write_kwik.cpp in a build without HDF5.

#include "io/file_error.hpp"
#include "sort/files/readers.hpp"

namespace spikeweave {
namespace {

constexpr auto no_kwik =
    "this build of spikeweave has no .kwik (it was configured with SPIKEWEAVE_HDF5=OFF)";

}  // namespace

namespace sort {

feature_file read_kwik(const std::filesystem::path& path, const feature_read_options& /*how*/,
                       const execution& /*run*/) {
    throw io::file_error(path, no_kwik);
}

}  // namespace sort

void write_kwik(const std::filesystem::path& path, const kwik_content& /*content*/) {
    throw io::file_error(path, no_kwik);
}

}  // namespace spikeweave
