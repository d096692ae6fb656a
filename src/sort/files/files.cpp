#include "spikeweave/sort/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "io/file_error.hpp"
#include "io/foreign_file.hpp"
#include "io/npy.hpp"
#include "io/progress_meter.hpp"
#include "io/zip.hpp"
#include "sort/files/klustakwik_files.hpp"
#include "sort/files/readers.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {

using sort::append_masks;
using sort::beside;
using sort::check_samples;
using sort::number_table;
using sort::read_kwik;
using sort::read_phy_features;
using sort::read_rows;
using sort::read_table;
using sort::read_whole_numbers;
using sort::row_taker;
using sort::with_made_masks;

namespace {

constexpr std::size_t fewest_for_time_column = 20;

bool holds_times(const number_table& table) {
    if (table.columns < 2 || table.rows() < fewest_for_time_column) return false;
    double before = 0;
    for (std::size_t n = 0; n < table.rows(); ++n) {
        const double value = table.values[(n + 1) * table.columns - 1];
        if (value < before || std::trunc(value) != value) return false;
        before = value;
    }
    // A column that is 0 everywhere, or covers only a few spikes, is not a time column.
    return before >= static_cast<double>(table.rows());
}

std::vector<std::int64_t> take_last_column(number_table& table, const std::filesystem::path& path) {
    if (table.columns < 2)
        throw io::file_error(path, "has one column, expected features before the time");
    std::vector<std::int64_t> times;
    std::vector<double> rest;
    times.reserve(table.rows());
    rest.reserve(table.values.size() - table.rows());
    for (std::size_t n = 0; n < table.rows(); ++n) {
        const auto row = std::span{table.values}.subspan(n * table.columns, table.columns);
        constexpr double beyond = 9007199254740992.0;  // 2^53
        if (!(std::abs(row.back()) <= beyond) || std::trunc(row.back()) != row.back())
            throw io::file_error(path, fmt::format("line {}, column {}", n + 2, table.columns),
                                 fmt::format("found {}, expected a time in samples", row.back()));
        times.push_back(static_cast<std::int64_t>(row.back()));
        rest.insert(rest.end(), row.begin(), row.end() - 1);
    }
    table = {table.columns - 1, std::move(rest)};
    return times;
}

// Adds a warning for spikes whose masks carry no information. Invalid masks were refused before.
void warn_of_masks(feature_file& file) {
    std::size_t empty = 0;
    for (std::size_t n = 0; n < file.features.size(); ++n)
        empty += file.features.unmasked(n).empty() ? 1 : 0;
    if (empty > 0)
        file.warnings.push_back(fmt::format(
            "{} of {} spikes are masked on all features, which reveals nothing about their unit.",
            empty, file.features.size()));
}

std::filesystem::path masks_beside(const std::filesystem::path& path) {
    std::error_code unknown;
    for (const char* extension : {".fmask", ".mask"}) {
        const auto name = beside(path, extension);
        if (name && std::filesystem::exists(*name, unknown)) return *name;
    }
    return {};
}

spike_features with_masks_of(number_table table, bool time_column,
                             const std::filesystem::path& masks_path,
                             const std::filesystem::path& path, feature_file& file,
                             const execution& run) {
    spike_masks masks;
    const std::size_t widest = table.columns + (time_column ? 1 : 0);
    read_rows(
        masks_path,
        [&](std::span<const double> row, const std::string& place) {
            if (row.size() != table.columns && row.size() != widest)
                throw io::file_error(masks_path, "line 1",
                                     fmt::format("found {} columns, expected the {} of '{}'",
                                                 row.size(), widest, path.filename().string()));
            append_masks(masks, row.first(table.columns), place, masks_path);
        },
        run);
    if (masks.size() != table.rows())
        throw io::file_error(masks_path,
                             fmt::format("holds {} spikes, expected the {} of '{}'", masks.size(),
                                         table.rows(), path.filename().string()));
    file.masks_from = masks_path.string();
    file.files.push_back(masks_path);
    return {table.columns, std::move(table.values), std::move(masks)};
}

feature_file read_fet(const std::filesystem::path& path, const feature_read_options& how,
                      const execution& run) {
    feature_file file;
    file.files.push_back(path);
    number_table table = read_table(path, run);
    const bool timed = how.time_column.value_or(holds_times(table));
    if (timed) file.samples = take_last_column(table, path);
    if (timed && !how.time_column)
        file.warnings.push_back(fmt::format(
            "Column {} of '{}' never decreases and is read as the time, not as a feature.",
            table.columns + 1, path.filename().string()));

    std::filesystem::path masks = how.masks;
    if (masks.empty() && !how.mask) masks = masks_beside(path);
    if (masks.empty()) {
        file.features = with_made_masks(std::move(table), how.mask.value_or(mask_rule::mad),
                                        how.features_per_channel, file, run);
    } else {
        file.features = with_masks_of(std::move(table), timed, masks, path, file, run);
    }
    std::error_code unknown;
    const auto res = beside(path, ".res");
    if (res && std::filesystem::exists(*res, unknown)) {
        file.samples = read_whole_numbers(*res, run);
        file.files.push_back(*res);
    }
    if (!file.samples.empty()) check_samples(file, file.files.back() == res ? *res : path);
    return file;
}

io::npy_reader open_array(const io::zip_reader& archive, const std::filesystem::path& path,
                          const char* name) {
    return {archive.open(*archive.find(std::string(name) + ".npy")),
            fmt::format("'{}', array '{}'", path.string(), name)};
}

bool has(const io::zip_reader& archive, const char* name) {
    return archive.find(std::string(name) + ".npy") != nullptr;
}

void read_matrix(const io::zip_reader& archive, const std::filesystem::path& path, const char* name,
                 const row_taker& take, const execution& run) {
    io::npy_reader array = open_array(archive, path, name);
    const io::npy_header& header = array.header();
    constexpr std::uint64_t widest = std::uint64_t{1} << 20;
    if (header.shape.size() != 2 || header.shape[1] == 0 || header.shape[1] > widest ||
        header.fortran_order)
        throw io_error(fmt::format("{}: expected spikes x features (1 to {}) in C order",
                                   array.what(), widest));
    if (header.shape[0] == 0) throw io_error(fmt::format("{}: holds no spikes", array.what()));
    std::vector<double> row(header.shape[1]);
    const io::progress_meter meter(run, "reading " + path.filename().string(), header.shape[0]);
    constexpr std::uint64_t between_reports = 4096;
    for (std::uint64_t n = 1; array.read(std::span{row}) > 0; ++n) {
        const std::string place = fmt::format("array '{}', spike {}", name, n);
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (!std::isfinite(row[i]))
                throw io::file_error(path, fmt::format("{}, column {}", place, i + 1),
                                     fmt::format("found {}, expected a finite number", row[i]));
        }
        take(row, place);
        if (n % between_reports == 0) meter.at(n);
    }
    array.expect_end();
}

void read_times(const io::zip_reader& archive, const std::filesystem::path& path,
                feature_file& file) {
    if (has(archive, "samples")) {
        io::npy_reader array = open_array(archive, path, "samples");
        file.samples = io::read_whole<std::int64_t>(array);
        check_samples(file, path);
    }
    if (has(archive, "sample_rate")) {
        io::npy_reader array = open_array(archive, path, "sample_rate");
        std::array<double, 2> rate{};
        if (array.read(std::span{rate}) != 1 || !(rate[0] > 0) || !std::isfinite(rate[0]))
            throw io_error(fmt::format("{}: expected one rate in Hz", array.what()));
        file.sample_rate = rate[0];
    }
}

feature_file read_npz_features(const std::filesystem::path& path, const feature_read_options& how,
                               const execution& run) {
    const io::zip_reader archive(path);
    if (!has(archive, "features"))
        throw io::file_error(path, "has no array 'features', expected spikes x features");
    feature_file file;
    file.files.push_back(path);
    number_table table;
    // The header may be damaged, so no more memory is reserved than the file can fill.
    table.values.reserve(static_cast<std::size_t>(std::min<std::uintmax_t>(
        open_array(archive, path, "features").header().count(), std::filesystem::file_size(path))));
    read_matrix(
        archive, path, "features",
        [&](std::span<const double> row, const std::string& place) {
            static_cast<void>(place);
            table.columns = row.size();
            table.values.insert(table.values.end(), row.begin(), row.end());
        },
        run);
    if (how.mask || !has(archive, "masks")) {
        file.features = with_made_masks(std::move(table), how.mask.value_or(mask_rule::mad),
                                        how.features_per_channel, file, run);
    } else {
        spike_masks masks;
        std::size_t columns = 0;
        read_matrix(
            archive, path, "masks",
            [&](std::span<const double> row, const std::string& place) {
                columns = row.size();
                append_masks(masks, row, place, path);
            },
            run);
        if (columns != table.columns || masks.size() != table.rows())
            throw io::file_error(
                path, fmt::format("holds {} x {} masks, expected {} x {}", masks.size(), columns,
                                  table.rows(), table.columns));
        file.masks_from = path.string();
        file.features = {table.columns, std::move(table.values), std::move(masks)};
    }
    read_times(archive, path, file);
    return file;
}

template <class Item>
void write_array(io::zip_writer& archive, const char* name, io::npy_kind kind,
                 std::span<const Item> items) {
    archive.begin(fmt::format("{}.npy", name));
    archive.write(io::format_npy_header({kind, sizeof(Item), false, {items.size()}}));
    archive.write({reinterpret_cast<const char*>(items.data()), items.size_bytes()});
}

}  // namespace

namespace sort {

void check_samples(const feature_file& file, const std::filesystem::path& path) {
    if (file.samples.size() != file.features.size())
        throw io::file_error(path, fmt::format("holds {} times, expected {}, one per spike",
                                               file.samples.size(), file.features.size()));
    const auto negative =
        std::find_if(file.samples.begin(), file.samples.end(), [](auto t) { return t < 0; });
    if (negative != file.samples.end())
        throw io::file_error(path, fmt::format("spike {}", negative - file.samples.begin() + 1),
                             fmt::format("found the time {} before zero", *negative));
}

}  // namespace sort

feature_file read_features(const std::filesystem::path& path, const feature_read_options& how,
                           const execution& run) {
    const auto extension = path.extension();
    std::error_code unknown;
    const bool is_kwik = extension == ".kwik" || extension == ".kwx";
    const bool is_phy =
        path.filename() == "params.py" || std::filesystem::is_directory(path, unknown);
    const bool has_masks = extension == ".npz" || is_kwik;
    if ((has_masks || is_phy) && !how.masks.empty())
        throw invalid_argument(fmt::format(
            "'{}' {} masks, and '{}' was given", path.string(),
            is_phy ? "is a folder of Phy, which has no" : "brings its own", how.masks.string()));
    if (how.mask && !how.masks.empty())
        throw invalid_argument("masks are read from a file or made by a rule, not both");
    if (how.channel_group && !is_kwik)
        throw invalid_argument(fmt::format(
            "'{}' is not a .kwik or .kwx, which have groups of channels", path.string()));
    if (!is_kwik && !is_phy && extension != ".npz") {
        io::refuse_foreign_file(path);
        if (io::head_of(path).starts_with("\x89HDF\r\n\x1a\n"))
            throw io::file_error(
                path,
                "is HDF5, expected a recording in NWB or features (.kwik, .kwx); the Python "
                "package reads recordings of other programs: spikeweave.read_recording");
    }
    try {
        feature_file file = is_kwik               ? read_kwik(path, how, run)
                            : is_phy              ? read_phy_features(path, how, run)
                            : extension == ".npz" ? read_npz_features(path, how, run)
                                                  : read_fet(path, how, run);
        file.path = path;
        warn_of_masks(file);
        return file;
    } catch (const invalid_argument& error) {  // the features themselves are invalid
        throw io::file_error(path, error.what());
    }
}

void write_sorting(const std::filesystem::path& path, const sorting& sorted) {
    io::zip_writer archive(path);
    write_array<std::uint32_t>(archive, "labels", io::npy_kind::natural, sorted.labels);
    if (!sorted.samples.empty())
        write_array<std::int64_t>(archive, "samples", io::npy_kind::integer, sorted.samples);
    if (!sorted.fractions.empty())
        write_array<float>(archive, "fractions", io::npy_kind::real, sorted.fractions);
    if (sorted.sample_rate > 0)
        write_array<double>(archive, "sample_rate", io::npy_kind::real, {&sorted.sample_rate, 1});
    if (const double begin = to_seconds(sorted.begin); begin != 0)
        write_array<double>(archive, "t_start", io::npy_kind::real, {&begin, 1});
    archive.commit();
}

}  // namespace spikeweave
