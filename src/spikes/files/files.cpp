#include "spikeweave/spikes/files.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "spikeweave/spikes/unit_groups.hpp"
#include "spikeweave/spikes/units_left_out.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <type_traits>
#include <utility>

#include "core/stop.hpp"
#include "core/text.hpp"
#include "io/file_error.hpp"
#include "spikes/files/readers.hpp"
#include "spikes/wells.hpp"

namespace spikeweave {

using spikes::detect_format;
using spikes::read_alf;
using spikes::read_hdf5;
using spikes::read_klustakwik;
using spikes::read_meabench;
using spikes::read_npy;
using spikes::read_npz;
using spikes::read_open_ephys;
using spikes::read_phy;
using spikes::read_session;
using spikes::read_text;
using spikes::read_wagenaar;
using spikes::reading;
using spikes::write_npz;
using spikes::write_nwb;
using spikes::write_text;
using spikes::writing;

namespace {

// Spikes outside the recorded span that a file states are kept, and the span is extended.
void check_span(spike_file& file, const time_span& stated) {
    const auto times = file.spikes.times_us();
    const auto first = std::lower_bound(times.begin(), times.end(), stated.begin.count());
    const auto last = std::upper_bound(first, times.end(), stated.end.count());
    const auto outside = static_cast<std::size_t>((first - times.begin()) + (times.end() - last));
    if (outside == 0) return;
    const time_span& taken = file.spikes.span();
    file.warnings.push_back(fmt::format(
        "{} of {} spikes lie outside of {} to {}, the recorded span that the file states; {} to {} "
        "is used instead.",
        core::grouped(outside), core::grouped(times.size()), format_duration(stated.begin),
        format_duration(stated.end), format_duration(taken.begin), format_duration(taken.end)));
}

spike_file read_as(spike_format format, const reading& job) {
    switch (format) {
        case spike_format::wagenaar:
            return read_wagenaar(job);
        case spike_format::meabench:
            return read_meabench(job);
        case spike_format::npy:
            return read_npy(job);
        case spike_format::npz:
            return read_npz(job);
        case spike_format::phy:
            return read_phy(job);
        case spike_format::klustakwik:
            return read_klustakwik(job);
        case spike_format::nwb:
        case spike_format::kwik:
        case spike_format::eglen:
            return read_hdf5(job);
        case spike_format::alf:
            return read_alf(job);
        case spike_format::open_ephys:
            return read_open_ephys(job);
        case spike_format::session:
            return read_session(job);
        default:
            return read_text(job);
    }
}

// The file is used with a part of its units.
void keep_units(spike_file& file, spike_sequence kept) {
    const auto keep = [&](auto& of_units) {
        if (of_units.empty()) return;
        std::remove_reference_t<decltype(of_units)> kept_ones;
        for (const std::string& name : kept.unit_names())
            kept_ones.push_back(std::move(of_units[to_index(file.spikes.unit(name))]));
        of_units = std::move(kept_ones);
    };
    keep(file.snr);
    keep(file.labels);
    file.spikes = std::move(kept);
}

// The same spikes, with their units in the order of these names, which are all there are.
spike_sequence with_units_in_order(const spike_sequence& spikes,
                                   const std::vector<std::string>& names) {
    std::vector<unit_id> renumbered(spikes.unit_count());
    for (std::size_t u = 0; u < names.size(); ++u)
        renumbered[to_index(spikes.unit(names[u]))] = unit_id{static_cast<std::uint32_t>(u)};
    std::vector<std::pair<std::int64_t, unit_id>> listed;
    listed.reserve(spikes.size());
    for (std::size_t i = 0; i < spikes.size(); ++i)
        listed.emplace_back(spikes.times_us()[i], renumbered[to_index(spikes.units()[i])]);
    return taken_from(spikes, sequence_of(std::move(listed), names, spikes.span()));
}

// Programs write the four labels that are known here as "Good", "MUA " or "nan".
std::string plain_label(std::string_view label) {
    std::string lower(core::trimmed(label));
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (lower == "nan" || lower == "none" || !io::is_printable_utf8(label)) return "unsorted";
    for (const std::string_view known : {"good", "mua", "noise", "unsorted"})
        if (lower == known) return lower;
    return std::string(label);
}

void take_labels(spike_file& file, const reading& job) {
    for (std::string& label : file.labels) label = plain_label(label);
    file.are_clusters = file.are_clusters || !file.labels.empty();
    if (file.labels.empty() && job.how.labels.empty()) return;
    if (file.labels.empty() && job.how.labels != std::vector<std::string>{"all"})
        throw io::file_error(job.path,
                             "has no labels of units, which `labels` needs; the files that "
                             "spikeweave sort writes have them");
    const units_by_label chosen = choose_by_label(file.labels, job.how.labels);
    if (chosen.message.empty()) return;
    std::vector<std::string> kept;
    for (const std::size_t u : chosen.used) kept.push_back(file.spikes.unit_names()[u]);
    for (std::size_t u = 0, next = 0; u < file.labels.size(); ++u)
        if (next < chosen.used.size() && chosen.used[next] == u)
            ++next;
        else
            file.left_out_by_label.emplace_back(file.spikes.unit_names()[u], file.labels[u]);
    keep_units(file, select_units(file.spikes, kept));
    file.warnings.insert(file.warnings.begin(), chosen.message);
}

// The names of the units that `only_units` names, alone or by their group or well.
std::vector<std::string> units_asked_for(const spike_file& file, const spike_read_options& how,
                                         const unit_groups& groups) {
    const auto& units = file.spikes.unit_names();
    if (how.only_units.empty()) return units;
    const auto asked = spikes::with_units_of_wells(units, how.only_units);
    std::vector<std::string> out;
    for (const std::string& unit : units) {
        const auto group = groups.find(unit);
        const std::string& name = group == groups.end() ? unit : group->second;
        if (std::ranges::count(asked, name) > 0) out.push_back(unit);
    }
    return out;
}

void drop_duplicates(spike_file& file, const std::vector<std::string>& among) {
    const spike_sequence compared = select_units(file.spikes, among);
    file.dropped = drop_duplicates_of_units(compared, find_shared_spikes(compared)).dropped;
    std::vector<std::string> kept;
    for (const std::string& unit : file.spikes.unit_names())
        if (std::ranges::count(file.dropped, unit, &dropped_unit::name) == 0) kept.push_back(unit);
    keep_units(file, select_units(file.spikes, kept));
}

void take_groups(spike_file& file, const unit_groups& groups, const spike_read_options& how) {
    std::vector<std::string> left_out;
    for (const auto& [unit, reason] : units_left_out(file)) left_out.push_back(unit);
    remaining_groups remaining = without_units(groups, left_out);
    std::ranges::move(remaining.warnings, std::back_inserter(file.warnings));
    file.empty_groups = std::move(remaining.empty);
    grouped_spikes grouped = group_units(file.spikes, remaining.groups, how.group_window);
    file.spikes = std::move(grouped.spikes);
    file.groups = grouped.groups;
    file.merged = grouped.merged;
    file.snr.clear();
    file.labels.clear();
}

// Clusters of a sorter have numbers, which are no names of electrodes.
void take_places(spike_file& file, const spike_read_options& how) {
    const std::vector<std::string>& units = file.spikes.unit_names();
    if (how.layout.empty()) {
        if (file.spikes.places().empty() && !file.are_clusters)
            file.spikes.set_places(places_of_electrodes(units));
        return;
    }
    unit_places places = read_layout(how.layout);
    if (std::ranges::none_of(units, [&](const auto& name) { return places.contains(name); }))
        throw invalid_argument("layout",
                               fmt::format("'{}' has the position of no unit: it has {}, …, and "
                                           "the units are {}, …",
                                           how.layout.string(), places.begin()->first,
                                           units.empty() ? "none" : units.front()));
    file.spikes.set_places(std::move(places));
}

// Leaves out of a file what the options exclude.
void take_options(spike_file& file, const reading& job) {
    const spike_read_options& how = job.how;
    take_labels(file, job);
    if (how.cleaning.min_snr && file.snr.empty())
        throw io::file_error(job.path,
                             "has no signal-to-noise ratios of units, which `min_snr` needs; the "
                             "folder phy that spikeweave sort writes has them");
    const unit_groups groups = how.groups.empty() ? unit_groups{} : read_unit_groups(how.groups);
    if (how.drop_duplicates_of_units) drop_duplicates(file, units_asked_for(file, how, groups));
    if (how.cleaning.drop_synchronous || how.cleaning.max_rate || how.cleaning.min_snr) {
        cleaned_spikes kept = clean_spikes(file.spikes, how.cleaning, file.snr);
        keep_units(file, std::move(kept.spikes));
        file.left_out = std::move(kept.left_out);
    }
    if (!how.groups.empty()) take_groups(file, groups, how);
    if (!how.only_units.empty()) {
        chosen_units chosen = choose_units(file, how.only_units);
        keep_units(file, std::move(chosen.spikes));
        std::ranges::move(chosen.warnings, std::back_inserter(file.warnings));
    }
    take_places(file, how);
}

// Units that the options name are not in a file, whose name then is in the message.
void take_options_of(spike_file& file, const reading& job) {
    try {
        take_options(file, job);
    } catch (const invalid_argument& error) {
        const std::string text = error.what();
        const std::string field = error.field().empty() ? "" : '`' + error.field() + "`: ";
        const std::string said = text.substr(text.starts_with(field) ? field.size() : 0);
        const std::string with_file = fmt::format("'{}': {}", job.path.string(), said);
        if (error.field().empty()) throw invalid_argument(with_file);
        throw invalid_argument(error.field(), with_file);
    }
}

// The file of spikes in a folder of `spikeweave sort`.
std::filesystem::path spikes_of_result(const std::filesystem::path& given) {
    std::error_code ignored;
    for (const char* file : {"sorting.npz", "spikes.npz"})
        if (!std::filesystem::exists(given / file, ignored)) return given;
    return given / "spikes.npz";
}

// Adds the columns that name the others of doubtful pairs, if there are any.
std::vector<unit_column> with_doubtful_pairs(const spike_sequence& spikes,
                                             std::span<const unit_column> columns) {
    std::vector<unit_column> out(columns.begin(), columns.end());
    for (const unit_doubt why : unit_doubts) {
        unit_column made{std::string(column_of(why)),
                         why == unit_doubt::one_neuron
                             ? "units that may have spikes of the same neuron"
                             : "units of whose spikes these may be left, or the other way round",
                         {},
                         cells_of(spikes.doubtful_pairs(), spikes.unit_names(), why)};
        if (!std::ranges::all_of(made.texts, &std::string::empty)) out.push_back(std::move(made));
    }
    return out;
}

// NWB files are HDF5 files.
bool is_nwb(const std::filesystem::path& written) {
    return written.extension() == ".nwb" || written.extension() == ".h5";
}

}  // namespace

template <>
enum_table<spike_format> enum_names<spike_format>() {
    using enum spike_format;
    static constexpr named_value<spike_format> values[]{
        {automatic, "auto"},    {text, "text"},
        {wagenaar, "wagenaar"}, {meabench, "meabench"},
        {npy, "npy"},           {npz, "npz"},
        {phy, "phy"},           {klustakwik, "klustakwik"},
        {nwb, "nwb"},           {session, "session"},
        {alf, "alf"},           {open_ephys, "open-ephys"},
        {kwik, "kwik"},         {eglen, "eglen"}};
    return {"format of spike files", values};
}

spike_file read_spikes(const std::filesystem::path& given, const spike_read_options& how,
                       const execution& run) {
    check_options(how);
    core::throw_if_stopped(run.stop);
    const std::filesystem::path path = spikes_of_result(given);
    // Detecting the format reads the beginning, which a pipe could not return again.
    std::error_code unknown;
    const auto kind = std::filesystem::status(path, unknown).type();
    if (std::filesystem::exists(path, unknown) && kind != std::filesystem::file_type::regular &&
        kind != std::filesystem::file_type::directory)
        throw io::file_error(path,
                             "is a pipe or a device; expected a file or a folder, save it first");
    const spike_format format =
        how.format == spike_format::automatic ? detect_format(path) : how.format;
    const reading job{path, how, run};
    spike_file file = read_as(format, job);
    if (file.format == spike_format::automatic) file.format = format;
    take_options_of(file, job);
    return file;
}

spike_file take_units(const std::filesystem::path& path, const listed_units& units,
                      const spike_read_options& how, const execution& run) {
    check_options(how);
    const reading job{path, how, run};
    std::vector<std::string> names;
    spike_file file = spikes::read_listed(units, job, &names);
    keep_units(file, with_units_in_order(file.spikes, names));
    take_options_of(file, job);
    return file;
}

void write_spikes(const std::filesystem::path& path, const spike_sequence& spikes,
                  const execution& run, bool overwrite) {
    std::string name = path.filename().string();
    const std::vector<unit_column> columns = with_doubtful_pairs(spikes, {});
    const writing job{path, spikes, run, columns, overwrite};
    if (name.ends_with(".npz")) return write_npz(job);
    if (is_nwb(path)) return write_nwb(job);
    if (name.ends_with(".gz")) name.resize(name.size() - 3);
    for (const std::string_view extension : {".tsv", ".txt", ".csv"})
        if (name.ends_with(extension)) return write_text(job);
    throw invalid_argument(fmt::format(
        "'{}': spikes are written as .tsv, .txt, .csv (each also with .gz), .npz or .nwb "
        "(NWB, also as .h5)",
        path.string()));
}

unit_column label_column(const std::filesystem::path& path, std::vector<std::string> labels) {
    return {.name = is_nwb(path) ? "quality" : "label",
            .description = "good, mua (several neurons), noise or unsorted",
            .texts = std::move(labels)};
}

void write_units(const std::filesystem::path& path, const spike_sequence& spikes,
                 std::span<const unit_column> columns, const execution& run, bool overwrite) {
    for (const unit_column& column : columns) {
        const std::size_t values = std::max(column.values.size(), column.texts.size());
        if (values != spikes.unit_count())
            throw invalid_argument(fmt::format("column '{}' has {} values for {} units",
                                               column.name, values, spikes.unit_count()));
    }
    const std::vector<unit_column> all = with_doubtful_pairs(spikes, columns);
    const writing job{path, spikes, run, all, overwrite};
    if (is_nwb(path)) return write_nwb(job);
    if (path.extension() == ".npz") return write_npz(job);
    throw invalid_argument(
        fmt::format("'{}': columns of units are written to .npz and .nwb", path.string()));
}

namespace spikes {

void finish(spike_file& file, spike_sequence_builder& builder, const reading& job,
            const time_span* span, std::string_view trial_column) {
    if (builder.size() == 0 && file.stimulus_us.empty() && span == nullptr)
        throw io::file_error(job.path, "holds no spikes");
    core::throw_if_stopped(job.run.stop);
    file.has_recorded_span = span != nullptr;
    file.spikes = span == nullptr ? builder.finish() : builder.finish(*span);
    if (span != nullptr) check_span(file, *span);
    file.duplicates = builder.duplicates();
    file.out_of_order = builder.order().out_of_order();
    std::string warning = warning_of_trials(builder.order().begins(), trial_column);
    if (!warning.empty()) file.warnings.push_back(std::move(warning));
}

std::string found_before_zero(std::string_view time) {
    return fmt::format(
        "found the time {} before zero, expected none (recordings aligned to an event have them: "
        "`allow_negative`)",
        time);
}

void check_exact_in_seconds(const writing& job) {
    const auto& unit_names = job.spikes.unit_names();
    const auto refused =
        std::find_if_not(unit_names.begin(), unit_names.end(), io::is_printable_utf8);
    if (refused != unit_names.end())
        throw invalid_argument(fmt::format("'{}': the unit {} cannot be written to a file",
                                           job.path.string(), io::shown(*refused)));
    // Beyond this, a time in seconds as a double is not accurate to the microsecond.
    constexpr std::int64_t largest_exact_us = std::int64_t{1} << 51;
    if (job.spikes.span().begin.count() < -largest_exact_us ||
        job.spikes.span().end.count() > largest_exact_us)
        throw invalid_argument(
            fmt::format("'{}': times beyond 71 years are not exact in seconds; "
                        "write text",
                        job.path.string()));
}

bool is_plain_integer(std::string_view name) {
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), value);
    return code == std::errc{} && end == name.data() + name.size() && std::to_string(value) == name;
}

}  // namespace spikes

}  // namespace spikeweave
