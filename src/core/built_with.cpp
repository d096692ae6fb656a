#include "spikeweave/core/built_with.hpp"

#include <array>

namespace spikeweave {
namespace {

// CMake reports "yes: with what", or "no: why not" or "no (why not)".
constexpr build_part part_of(std::string_view name, std::string_view purpose,
                             std::string_view report) {
    constexpr std::string_view yes = "yes: ";
    constexpr std::string_view no = "no: ";
    const bool is_built = report.starts_with(yes);
    if (is_built) report.remove_prefix(yes.size());
    if (report.starts_with(no)) report.remove_prefix(no.size());
    return {name, purpose, is_built, report};
}

constexpr std::array parts{
    part_of("GPUs", "to search and sort on NVIDIA GPUs", SPIKEWEAVE_CUDA_REPORT),
    part_of("MPI", "to share work between processes that mpirun or srun starts",
            SPIKEWEAVE_MPI_REPORT),
    part_of("NWB", "to read and write NWB and other HDF5 files", SPIKEWEAVE_HDF5_REPORT),
    part_of("live", "to read streams and keep sessions", SPIKEWEAVE_LIVE_REPORT)};

}  // namespace

std::span<const build_part> built_with() {
    return parts;
}

}  // namespace spikeweave
