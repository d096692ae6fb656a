#include "pipeline/sort/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

constexpr std::uint32_t largest_number = std::numeric_limits<std::uint32_t>::max();

bool is_archive(const std::filesystem::path& path) {
    return path.extension() == ".npz";
}

// Numbers in a .clu begin with 0 (artefacts), 1 (noise) and units from 2; labels begin with noise.
std::uint32_t label_of(std::int64_t cluster) {
    return cluster <= 1 ? 0 : static_cast<std::uint32_t>(cluster - 1);
}

std::vector<std::uint32_t> read_archive(const std::filesystem::path& path, std::size_t spikes) {
    std::vector<std::uint32_t> labels = read_sorting(path).labels;
    if (labels.size() != spikes)
        throw io_error(fmt::format("'{}' holds labels of {} spikes, expected {}", path.string(),
                                   labels.size(), spikes));
    return labels;
}

std::vector<std::uint32_t> read_clu(const std::filesystem::path& path, std::size_t spikes,
                                    const execution& run) {
    std::vector<std::uint32_t> labels;
    labels.reserve(spikes);
    for (const std::int64_t cluster : read_clusters(path, spikes, run)) {
        if (cluster < 0 || cluster > largest_number)
            throw io_error(fmt::format("'{}', spike {}: found {}, expected a cluster from 0 to {}",
                                       path.string(), labels.size() + 1, cluster, largest_number));
        labels.push_back(label_of(cluster));
    }
    return labels;
}

std::string name_of(const start_clusters& start) {
    return start.file.empty() ? "the given labels" : fmt::format("'{}'", start.file.string());
}

// Labels above a limit are refused, because other labels are kept and tables have a row for each
// number up to the largest.
void check_numbers(const start_clusters& start, const std::vector<std::uint32_t>& labels) {
    constexpr std::uint32_t most = 65'535;
    if (std::ranges::any_of(labels, [](std::uint32_t label) { return label > most; }))
        throw invalid_argument(fmt::format(
            "{} has clusters with numbers above {}, which `only_clusters` does not keep",
            name_of(start), most));
}

// The label of a cluster that users know by the number in its file.
class cluster_numbers {
public:
    cluster_numbers(const start_clusters& start, const feature_file& from)
        : is_own_(!start.file.empty() && start.file == from.path),
          are_labels_(start.file.empty() || is_archive(start.file)),
          numbers_(from.label_numbers) {}

    // If there is no such cluster, a label that no spike has.
    std::uint32_t label(std::uint32_t cluster) const {
        if (!is_own_) return are_labels_ ? cluster : label_of(cluster);
        const auto at = std::ranges::lower_bound(numbers_, std::int64_t{cluster});
        const bool is_there = at != numbers_.end() && *at == cluster;
        return is_there ? static_cast<std::uint32_t>(at - numbers_.begin()) + 1 : largest_number;
    }

private:
    bool is_own_;
    bool are_labels_;
    const std::vector<std::int64_t>& numbers_;
};

std::vector<std::uint32_t> labels_of(const start_clusters& start, feature_file& from,
                                     const execution& run) {
    const std::size_t spikes = from.features.size();
    if (start.file.empty()) {
        if (start.labels.size() != spikes)
            throw invalid_argument("start", fmt::format("expected labels of {} spikes, found {}",
                                                        spikes, start.labels.size()));
        return start.labels;
    }
    if (start.file != from.path)
        return is_archive(start.file) ? read_archive(start.file, spikes)
                                      : read_clu(start.file, spikes, run);
    if (from.labels.empty())
        throw io_error(fmt::format("'{}' holds no clusters to begin with", start.file.string()));
    return std::move(from.labels);
}

}  // namespace

option_value option_codec<start_clusters>::show(const start_clusters& field) {
    if (field.empty()) return nullptr;
    return field.file.empty() ? std::string("labels") : field.file.string();
}

start_clusters option_codec<start_clusters>::read(const option_value& value) {
    return {.file = option_codec<std::filesystem::path>::read(value)};
}

namespace pipeline {

start_labels read_start(feature_file& from, const sort_options& options, const execution& run) {
    start_labels out;
    if (options.start.empty()) return out;
    out.labels = labels_of(options.start, from, run);
    if (options.only_clusters.empty()) return out;
    check_numbers(options.start, out.labels);
    const cluster_numbers numbers(options.start, from);
    for (const std::uint32_t cluster : options.only_clusters) {
        out.only.push_back(numbers.label(cluster));
        if (std::ranges::find(out.labels, out.only.back()) == out.labels.end())
            throw invalid_argument(fmt::format("no spike of {} belongs to cluster {}",
                                               name_of(options.start), cluster));
    }
    return out;
}

}  // namespace pipeline

}  // namespace spikeweave
