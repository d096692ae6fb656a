#include "spikeweave/spikes/epochs.hpp"

#include <fmt/format.h>

#include <vector>

#include "fuzz/harness.hpp"
#include "spikeweave/spikes/epoch_labels.hpp"

namespace spikeweave::fuzz {
namespace {

// Formats exactly at any size.
std::string seconds_text(duration time) {
    const std::int64_t us = time.count();
    const auto size = us < 0 ? 0 - static_cast<std::uint64_t>(us) : static_cast<std::uint64_t>(us);
    return fmt::format("{}{}.{:06}", us < 0 ? "-" : "", size / 1'000'000, size % 1'000'000);
}

}  // namespace

SPIKEWEAVE_FUZZ_TARGET(epochs, bytes, nullptr) {
    const auto first = read_epochs(folder.file("epochs.csv", bytes), one_thread());
    std::string text = "start_time\tstop_time\n";
    for (const time_span& epoch : first)
        text += fmt::format("{}\t{}\n", seconds_text(epoch.begin), seconds_text(epoch.end));
    require(read_epochs(folder.file("again.tsv", text), one_thread()) == first,
            "epochs come back as others");
    std::vector<epoch_label> labels;
    require(read_epochs(folder.file("labels.csv", bytes), "", labels, one_thread()) == first,
            "epochs with labels are others");
    require(labels.empty() || labels.size() == first.size(), "an epoch has no label");
}

}  // namespace spikeweave::fuzz
