#include <algorithm>

#include "fuzz/harness.hpp"
#include "spikeweave/sort/sorting_model.hpp"

namespace spikeweave::fuzz {

SPIKEWEAVE_FUZZ_TARGET(model, parts, nullptr) {
    const auto path = folder.file(
        "model.npz", bytes.starts_with("PK") ? std::string(bytes) : zip_of(parts_of(bytes)));
    const sorting_model first = read_model(path);
    const auto again = folder.path() / "again.npz";
    write_model(again, first);
    const std::string written = read_bytes(again);
    write_model(again, read_model(again));
    require(read_bytes(again) == written, "a model comes back as another");

    const std::size_t features = first.feature_count();
    if (features == 0 || first.units().empty()) return;
    spike_masks masks;
    const std::vector<double> row(features, 0.5);
    masks.append(row);
    const assignment_result assigned =
        first.assign(spike_features(features, row, std::move(masks)), one_thread());
    const std::uint32_t label = assigned.labels.front();
    require(label == 0 ||
                std::find(first.units().begin(), first.units().end(), label) != first.units().end(),
            "a spike is assigned to no unit of the model");
}

}  // namespace spikeweave::fuzz
