#include "fuzz/spikes.hpp"

namespace spikeweave::fuzz {

SPIKEWEAVE_FUZZ_TARGET(alf, parts, nullptr) {
    write_parts(folder, bytes, {"spikes.times.npy", "spikes.clusters.npy"});
    read_and_write_again(folder, folder.path(), spike_format::alf, bytes);
}

SPIKEWEAVE_FUZZ_TARGET(open_ephys_spikes, parts, nullptr) {
    write_parts(folder, bytes,
                {"structure.oebin", "spikes/A/E/sample_numbers.npy",
                 "spikes/A/E/electrode_indices.npy", "spikes/A/E/clusters.npy"});
    read_and_write_again(folder, folder.path() / "spikes", spike_format::open_ephys, bytes);
}

}  // namespace spikeweave::fuzz
