#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "io/file_error.hpp"
#include "io/line_blocks.hpp"
#include "spikes/files/integer_units.hpp"
#include "spikes/files/readers.hpp"
#include "spikes/files/text_layout.hpp"
#include "spikes/files/time_scale.hpp"

namespace spikeweave::spikes {
namespace {

struct klustakwik_files {
    std::filesystem::path res;
    std::filesystem::path clu;
    std::filesystem::path xml;
};

// Returns BASE.res.N and BASE.clu.N for either of them, and BASE.xml beside them.
klustakwik_files files_of(const std::filesystem::path& path) {
    const std::string name = path.filename().string();
    std::size_t at = name.rfind(".res.");
    if (at == std::string::npos) at = name.rfind(".clu.");
    if (at == std::string::npos)
        throw io::file_error(path, "expected a file named BASE.res.N or BASE.clu.N");
    const std::string base = name.substr(0, at);
    const std::string number = name.substr(at + 5);
    const auto folder = path.parent_path();
    return {folder / (base + ".res." + number), folder / (base + ".clu." + number),
            folder / (base + ".xml")};
}

time_scale scale_from_xml(const std::filesystem::path& path) {
    constexpr std::string_view tag = "<samplingRate>";
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
        throw io::file_error(path,
                             "is not beside the spikes, expected it with the sample rate, or "
                             "`time_unit` samples:RATE");
    io::input_stream in(path);
    io::line_reader lines(in);
    for (std::string_view line; lines.next(line);) {
        const std::size_t at = line.find(tag);
        if (at == std::string_view::npos) continue;
        const std::string_view value = line.substr(at + tag.size());
        double rate = 0;
        const auto [end, code] =
            fast_float::from_chars(value.data(), value.data() + value.size(), rate);
        if (code != std::errc{} || !(rate > 0) || !std::isfinite(rate) ||
            end == value.data() + value.size() || *end != '<')
            throw io::file_error(
                path, fmt::format("line {}", lines.line_number()),
                fmt::format("found {}, expected a sample rate in Hz", io::shown(line)));
        return time_scale::samples(rate);
    }
    throw io::file_error(path, "has no <samplingRate>, expected the sample rate in Hz");
}

// A file with one whole number per line.
class number_lines {
public:
    explicit number_lines(const std::filesystem::path& path) : in_(path), lines_(in_) {}

    bool next(std::int64_t& value) {
        std::string_view line;
        while (lines_.next(line)) {
            const std::string_view field = split_fields(line, ' ').front();
            if (field.empty()) continue;
            const auto [end, code] =
                std::from_chars(field.data(), field.data() + field.size(), value);
            if (code != std::errc{} || end != field.data() + field.size())
                throw fail(fmt::format("found {}, expected a whole number", io::shown(line)));
            return true;
        }
        return false;
    }

    io_error fail(const std::string& why) const {
        return io::file_error(in_.path(), fmt::format("line {}", lines_.line_number()), why);
    }
    const io::input_stream& stream() const { return in_; }

private:
    io::input_stream in_;
    io::line_reader lines_;
};

}  // namespace

spike_file read_klustakwik(const reading& job) {
    const klustakwik_files paths = files_of(job.path);
    const time_scale scale =
        job.how.time_unit.empty() ? scale_from_xml(paths.xml) : time_scale::from(job.how.time_unit);
    number_lines times(paths.res);
    number_lines clusters(paths.clu);
    std::int64_t cluster_count = 0;  // first line of .clu; it is not used otherwise
    static_cast<void>(clusters.next(cluster_count));

    spike_file file;
    spike_sequence_builder builder;
    integer_units units(builder);
    const io::progress_meter meter = job.meter(times.stream().size());
    std::size_t unsorted = 0;
    std::int64_t sample = 0;
    std::int64_t cluster = 0;
    while (times.next(sample)) {
        if (!clusters.next(cluster))
            throw io::file_error(paths.clu,
                                 fmt::format("ends after {} clusters, expected one for each line "
                                             "of '{}'",
                                             builder.size(), paths.res.filename().string()));
        if (sample < 0 && !job.how.allow_negative)
            throw times.fail(found_before_zero(std::to_string(sample)));
        const auto us = scale.from_whole(sample);
        if (!us)
            throw times.fail(fmt::format("found {}, expected a time in {}", sample, scale.name()));
        builder.append(*us, units.find(cluster));
        unsorted += cluster == 0 || cluster == 1 ? 1 : 0;
        constexpr std::size_t between_reports = std::size_t{1} << 16;
        if (builder.size() % between_reports == 0) meter.at(times.stream().position());
    }
    if (clusters.next(cluster))
        throw clusters.fail(
            fmt::format("continues after {} spikes, expected one cluster for each "
                        "line of '{}'",
                        builder.size(), paths.res.filename().string()));
    if (unsorted > 0)
        file.warnings.push_back(
            fmt::format("{} of {} spikes are of clusters 0 (artefacts) and 1 (noise); they are "
                        "kept as units.",
                        unsorted, builder.size()));
    finish(file, builder, job);
    file.are_clusters = true;
    return file;
}

}  // namespace spikeweave::spikes
