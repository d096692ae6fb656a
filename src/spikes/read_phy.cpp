#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "io/file_error.hpp"
#include "io/line_blocks.hpp"
#include "io/random_file.hpp"
#include "spikes/numpy_times.hpp"
#include "spikes/text_layout.hpp"

namespace synfire {
namespace {

// params.py is Python, but in practice lines of NAME = VALUE.
double read_sample_rate(const std::filesystem::path& path) {
    io::input_stream in(path);
    io::line_reader lines(in);
    for (std::string_view line; lines.next(line);) {
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos) continue;
        if (split_fields(line.substr(0, equals), ' ').front() != "sample_rate") continue;
        std::string value(split_fields(line.substr(equals + 1), ' ').front());
        std::erase(value, '_');
        double rate = 0;
        const auto [end, code] =
            fast_float::from_chars(value.data(), value.data() + value.size(), rate);
        const std::string_view rest(end,
                                    static_cast<std::size_t>(value.data() + value.size() - end));
        if (code != std::errc{} || (!rest.empty() && !rest.starts_with('#')) || !(rate > 0) ||
            !std::isfinite(rate))
            throw io::file_error(path, fmt::format("line {}", lines.line_number()),
                                 fmt::format("found {}, expected a sample rate in Hz, such as "
                                             "sample_rate = 30000.0",
                                             io::shown(line)));
        return rate;
    }
    throw io::file_error(path, "has no line 'sample_rate = RATE'");
}

// Clusters that a person marked as noise.
std::set<std::int64_t> read_noise_clusters(const std::filesystem::path& path) {
    std::set<std::int64_t> out;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return out;
    io::input_stream in(path);
    io::line_reader lines(in);
    for (std::string_view line; lines.next(line);) {
        const auto fields = split_fields(line, '\t');
        if (fields.size() < 2 || lines.line_number() == 1) continue;
        std::int64_t cluster = 0;
        const auto [end, code] =
            std::from_chars(fields[0].data(), fields[0].data() + fields[0].size(), cluster);
        if (code != std::errc{} || end != fields[0].data() + fields[0].size())
            throw io::file_error(path, fmt::format("line {}", lines.line_number()),
                                 fmt::format("found {}, expected a cluster's number and its group",
                                             io::shown(line)));
        if (fields[1] == "noise") out.insert(cluster);
    }
    return out;
}

}  // namespace

spike_file read_phy(const reading& job) {
    std::error_code ignored;
    const bool is_folder = std::filesystem::is_directory(job.path, ignored);
    const std::filesystem::path folder = is_folder ? job.path : job.path.parent_path();
    // The caller's unit of time is only asked for where the folder does not say it.
    const bool has_params = std::filesystem::exists(folder / "params.py", ignored);
    if (!has_params && job.how.time_unit.empty())
        throw io::file_error(folder,
                             "has no params.py with the sample rate, expected one, or to be told "
                             "the unit of time as samples:RATE");
    const time_scale scale = job.how.time_unit.empty()
                                 ? time_scale::samples(read_sample_rate(folder / "params.py"))
                                 : time_scale::from(job.how.time_unit);
    // Phy writes merges and splits to spike_clusters; templates are what the sorter found.
    const bool curated = std::filesystem::exists(folder / "spike_clusters.npy", ignored);
    const std::filesystem::path times_path = folder / "spike_times.npy";
    const std::filesystem::path units_path =
        folder / (curated ? "spike_clusters.npy" : "spike_templates.npy");
    io::npy_reader times(io::open_bytes(times_path), fmt::format("'{}'", times_path.string()));
    io::npy_reader units(io::open_bytes(units_path), fmt::format("'{}'", units_path.string()));
    if (times.header().count() != units.header().count())
        throw io::file_error(folder, fmt::format("holds {} times and {} clusters, expected as many",
                                                 times.header().count(), units.header().count()));
    spike_file file;
    spike_sequence_builder builder;
    integer_units numbers(builder);
    numpy_times to_us(scale, job);
    read_spike_arrays(times, units, to_us, numbers, builder,
                      job.meter(times.header().count() *
                                (times.header().item_bytes + units.header().item_bytes)));
    times.expect_end();
    units.expect_end();
    finish(file, builder, job);

    const auto noise = read_noise_clusters(folder / "cluster_group.tsv");
    const auto& names = file.spikes.unit_names();
    const auto labelled = static_cast<std::size_t>(
        std::count_if(file.spikes.units().begin(), file.spikes.units().end(), [&](unit_id unit) {
            return !noise.empty() && noise.contains(std::stoll(names[index(unit)]));
        }));
    if (labelled > 0)
        file.warnings.push_back(
            fmt::format("{} of {} spikes are of clusters that are labelled noise in "
                        "cluster_group.tsv; they are kept.",
                        labelled, file.spikes.size()));
    return file;
}

}  // namespace synfire
