#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "io/file_error.hpp"
#include "io/random_file.hpp"
#include "spikes/files/numpy_times.hpp"

// Spikes as the Open Ephys GUI saves them in its binary format: a folder for each group of
// electrodes (versions 0.4 and 0.5) or for each electrode (from 0.6 on), in `spikes/PROCESSOR` of a
// recording with a structure.oebin.

namespace spikeweave::spikes {
namespace {

namespace fs = std::filesystem;

struct names_of_arrays {
    const char* times;
    const char* electrodes;
    const char* clusters;
};
constexpr std::array<names_of_arrays, 2> versions{{
    {"spike_times.npy", "spike_electrode_indices.npy", "spike_clusters.npy"},
    {"sample_numbers.npy", "electrode_indices.npy", "clusters.npy"},
}};

const names_of_arrays* arrays_in(const fs::path& folder) {
    std::error_code ignored;
    for (const names_of_arrays& names : versions)
        if (fs::exists(folder / names.electrodes, ignored)) return &names;
    return nullptr;
}

// The folders with spikes, which may be `folder` itself, in natural order.
std::vector<fs::path> folders_with_spikes(const fs::path& folder) {
    if (arrays_in(folder) != nullptr) return {folder};
    constexpr int deepest = 2;  // spikes/PROCESSOR/ELECTRODE
    std::vector<fs::path> out;
    std::error_code ignored;
    for (auto at = fs::recursive_directory_iterator(folder, ignored);
         at != fs::recursive_directory_iterator(); at.increment(ignored)) {
        if (at.depth() == deepest - 1) at.disable_recursion_pending();
        if (at->is_directory(ignored) && arrays_in(at->path()) != nullptr)
            out.push_back(at->path());
    }
    std::ranges::sort(out, [](const fs::path& a, const fs::path& b) {
        return natural_less(a.string(), b.string());
    });
    return out;
}

nlohmann::json structure_in(const fs::path& path) {
    constexpr std::uint64_t largest = std::uint64_t{1} << 26;
    const io::random_file file(path);
    if (file.size() > largest) throw io::file_error(path, "is too large for a description");
    std::string text(static_cast<std::size_t>(file.size()), '\0');
    file.read_at(0, text);
    nlohmann::json found = nlohmann::json::parse(text, nullptr, false);
    if (!found.is_object()) throw io::file_error(path, "expected an object of JSON");
    return found;
}

// The rate that the description states for a folder of spikes, or of any other stream.
std::optional<double> rate_in(const nlohmann::json& structure, const std::string& folder) {
    std::optional<double> any;
    for (const char* kind : {"spikes", "continuous"}) {
        const auto streams = structure.find(kind);
        if (streams == structure.end() || !streams->is_array()) continue;
        for (const nlohmann::json& stream : *streams) {
            const auto rate = stream.is_object() ? stream.find("sample_rate") : stream.end();
            if (!stream.is_object() || rate == stream.end() || !rate->is_number()) continue;
            const auto name = stream.find("folder_name");
            std::string its_folder = name != stream.end() && name->is_string()
                                         ? name->get<std::string>()
                                         : std::string();
            while (its_folder.ends_with('/')) its_folder.pop_back();
            if (!its_folder.empty() && folder.ends_with("spikes/" + its_folder))
                return rate->get<double>();
            if (!any) any = rate->get<double>();
        }
    }
    return any;
}

time_scale scale_of(const fs::path& folder, const reading& job) {
    if (!job.how.time_unit.empty()) return time_scale::from(job.how.time_unit);
    std::error_code ignored;
    const fs::path whole = fs::absolute(folder, ignored).lexically_normal();
    constexpr int highest = 4;
    fs::path above = whole;
    for (int i = 0; i < highest && above.has_parent_path(); ++i) {
        above = above.parent_path();
        const fs::path description = above / "structure.oebin";
        if (!fs::exists(description, ignored)) continue;
        const auto rate = rate_in(structure_in(description), whole.generic_string());
        if (!rate || !(*rate > 0))
            throw io::file_error(description, "states no sample rate of the spikes");
        return time_scale::samples(*rate);
    }
    throw io::file_error(folder,
                         "has spikes of Open Ephys, but no structure.oebin is above it, which "
                         "states the sample rate: give `time_unit` samples:RATE");
}

std::vector<std::int64_t> read_numbers(const fs::path& path) {
    io::npy_reader array(io::open_bytes(path), fmt::format("'{}'", path.string()));
    if (!array.header().is_whole())
        throw io_error(fmt::format("{}: expected whole numbers", array.what()));
    return io::read_whole<std::int64_t>(array);
}

// The name of a unit, and its label: cluster 0 is what was not sorted.
std::pair<std::string, std::string> unit_of(std::int64_t electrode, std::int64_t cluster) {
    if (cluster == 0) return {std::to_string(electrode), "unsorted"};
    return {fmt::format("{}_{}", electrode, cluster), "sorted"};
}

// Appends the spikes of a folder; the names of its units follow `prefix`.
void append_folder(const fs::path& folder, const std::string& prefix,
                   spike_sequence_builder& builder, std::map<std::string, std::string>& labels,
                   const reading& job) {
    const names_of_arrays& names = *arrays_in(folder);
    const time_scale scale = scale_of(folder, job);
    const auto electrodes = read_numbers(folder / names.electrodes);
    const auto clusters = read_numbers(folder / names.clusters);
    const fs::path times_path = folder / names.times;
    io::npy_reader times(io::open_bytes(times_path), fmt::format("'{}'", times_path.string()));
    if (times.header().count() != electrodes.size() || electrodes.size() != clusters.size())
        throw io::file_error(
            folder,
            fmt::format("holds {} times, {} electrodes and {} clusters, expected equal numbers",
                        times.header().count(), electrodes.size(), clusters.size()));
    numpy_times to_us(scale, job);
    std::map<std::pair<std::int64_t, std::int64_t>, unit_id> units;
    std::vector<std::int64_t> block(numpy_block);
    std::size_t at = 0;
    while (const std::size_t n = to_us.read(times, block)) {
        core::throw_if_stopped(job.run.stop);
        for (std::size_t i = 0; i < n; ++i) {
            const auto key = std::pair(electrodes[at + i], clusters[at + i]);
            const auto [unit, fresh] = units.try_emplace(key);
            if (fresh) {
                const auto [name, label] = unit_of(key.first, key.second);
                unit->second = builder.unit(prefix + name);
                labels[prefix + name] = label;
            }
            builder.append(block[i], unit->second);
        }
        at += n;
    }
    times.expect_end();
}

}  // namespace

bool is_open_ephys_spikes(const fs::path& folder) {
    return !folders_with_spikes(folder).empty();
}

spike_file read_open_ephys(const reading& job) {
    const std::vector<fs::path> folders = folders_with_spikes(job.path);
    if (folders.empty())
        throw io::file_error(job.path,
                             "has no folder with electrode_indices.npy, expected spikes of Open "
                             "Ephys");
    spike_file file;
    spike_sequence_builder builder;
    std::map<std::string, std::string> labels;
    for (const fs::path& folder : folders) {
        const std::string prefix =
            folders.size() == 1 ? "" : folder.lexically_relative(job.path).generic_string() + "/";
        if (!io::is_printable_utf8(prefix + "0"))
            throw io::file_error(folder, "its name cannot be in the names of units");
        append_folder(folder, prefix, builder, labels, job);
    }
    finish(file, builder, job);
    const bool any_sorted =
        std::ranges::any_of(labels, [](const auto& of_unit) { return of_unit.second == "sorted"; });
    if (!any_sorted) return file;
    for (const std::string& unit : file.spikes.unit_names()) file.labels.push_back(labels[unit]);
    return file;
}

}  // namespace spikeweave::spikes
