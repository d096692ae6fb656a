#include "fuzz/features.hpp"

namespace spikeweave::fuzz {

SPIKEWEAVE_FUZZ_TARGET(phy_features, parts, nullptr) {
    write_parts(folder, bytes,
                {"params.py", "spike_times.npy", "spike_templates.npy", "spike_clusters.npy",
                 "channel_map.npy", "channel_positions.npy", "pc_features.npy",
                 "pc_feature_ind.npy", "cluster_group.tsv"});
    read_features_and_write_again(folder, folder.path(), {.mask = mask_rule::all});
}

}  // namespace spikeweave::fuzz
