#include "fuzz/spikes.hpp"

namespace spikeweave::fuzz {

SPIKEWEAVE_FUZZ_TARGET(phy, parts, nullptr) {
    write_parts(
        folder, bytes,
        {"params.py", "spike_times.npy", "spike_clusters.npy", "spike_templates.npy",
         "cluster_group.tsv", "cluster_group.csv", "cluster_info.tsv", "cluster_KSLabel.tsv"});
    read_and_write_again(folder, folder.path(), spike_format::phy, bytes);
}

}  // namespace spikeweave::fuzz
