#include "spikeweave/sort/phy.hpp"

#include "spikeweave/pipeline/sort.hpp"

namespace spikeweave {

void write_phy(const std::filesystem::path& folder, const sort_result& result,
               const execution& run) {
    write_phy(folder,
              {.features = result.features,
               .sorted = result.sorted,
               .units = result.units,
               .features_per_channel = result.features_per_channel,
               .channels = result.channels,
               .waveforms = result.waveforms.group_count() > 0 ? &result.waveforms : nullptr,
               .raw = result.raw,
               .raw_offset_bytes = result.raw_offset_bytes},
              run);
}

}  // namespace spikeweave
