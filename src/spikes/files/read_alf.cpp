#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_error.hpp"
#include "io/random_file.hpp"
#include "spikes/files/numpy_times.hpp"

namespace spikeweave::spikes {
namespace {

namespace fs = std::filesystem;

// The files of an attribute of the spikes: "spikes.times.npy", "_ibl_spikes.times.probe.npy".
std::vector<fs::path> files_of_attribute(const fs::path& folder, std::string_view attribute) {
    std::vector<fs::path> out;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        const std::string name = entry.path().filename().string();
        const std::string wanted = fmt::format("spikes.{}.", attribute);
        const std::size_t at = name.find(wanted);
        const bool has_namespace = at != std::string::npos && at > 0 && name.front() == '_';
        if ((at == 0 || has_namespace) && name.ends_with(".npy")) out.push_back(entry.path());
    }
    std::ranges::sort(out);
    return out;
}

fs::path file_of_attribute(const fs::path& folder, std::string_view attribute) {
    const std::vector<fs::path> files = files_of_attribute(folder, attribute);
    if (files.size() == 1) return files.front();
    std::vector<std::string> names;
    for (const fs::path& file : files) names.push_back(io::shown(file.filename().string()));
    throw io::file_error(
        folder, files.empty()
                    ? fmt::format("has no spikes.{}.npy, expected one beside the other files of "
                                  "ALF",
                                  attribute)
                    : fmt::format("has several files of ALF with the {} of spikes ({}), expected "
                                  "one: put those of each probe into a folder of its own",
                                  attribute, fmt::join(names, ", ")));
}

}  // namespace

bool is_alf(const fs::path& folder) {
    return !files_of_attribute(folder, "times").empty();
}

spike_file read_alf(const reading& job) {
    spike_file file;
    spike_sequence_builder builder;
    const fs::path times_path = file_of_attribute(job.path, "times");
    const io::npy_reader times(io::open_bytes(times_path),
                               fmt::format("'{}'", times_path.string()));
    read_array_files(times_path, file_of_attribute(job.path, "clusters"), numpy_times(times, job),
                     builder, file, job);
    finish(file, builder, job);
    file.are_clusters = true;
    return file;
}

}  // namespace spikeweave::spikes
