#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "io/file_error.hpp"
#include "io/hdf5_output.hpp"
#include "io/hdf5_schemas.hpp"
#include "report/spade/view.hpp"
#include "spikeweave/core/version.hpp"

namespace spikeweave::report {
namespace {

namespace h5 = io::hdf5;
namespace nwb = io::nwb;

constexpr auto table_path = "/analysis/spade_patterns";

// Columns in the order of the patterns' numbers. Columns with several values per pattern are
// ragged: `…_ends` holds the end of each pattern's part.
struct columns {
    std::vector<std::int64_t> ids{};
    std::vector<std::string> units{};
    std::vector<double> lags{};
    std::vector<std::uint64_t> item_ends{};
    std::vector<double> starts{};
    std::vector<std::uint64_t> start_ends{};
    std::vector<std::int64_t> counts{};
    std::vector<double> durations{};
    std::vector<double> p{};
    std::vector<double> q{};
    std::vector<double> intensional{};
    std::vector<double> extensional{};
};

columns columns_of(const pattern_view& p) {
    columns out;
    const pattern_table& table = p.report.table;
    for (const std::size_t i : p.order) {
        out.ids.push_back(static_cast<std::int64_t>(p.number[i]));
        for (const pattern_item item : table.pattern(i)) {
            out.units.push_back(p.name(item));
            out.lags.push_back(to_seconds(p.lag(item)));
        }
        out.item_ends.push_back(out.units.size());
        for (const std::uint32_t start : table.occurrences_of(i))
            out.starts.push_back(p.report.axes.timed ? to_seconds(p.report.axes.time_of(start))
                                                     : static_cast<double>(start));
        out.start_ends.push_back(out.starts.size());
        out.counts.push_back(table.counts[i]);
        out.durations.push_back(to_seconds(p.report.axes.bin * table.duration(i)));
        if (p.tests[i] != nullptr) {
            out.p.push_back(p.tests[i]->p);
            out.q.push_back(p.tests[i]->q);
        }
        if (!p.report.stabilities.empty()) {
            out.intensional.push_back(p.report.stabilities[i].intensional);
            out.extensional.push_back(p.report.stabilities[i].extensional);
        }
    }
    return out;
}

nwb::digest identity_of(const columns& all) {
    nwb::digest out;
    for (const std::string& unit : all.units) out.add(unit);
    const auto add = [&](const std::vector<double>& values) {
        for (const double value : values) out.add(fmt::format("{}", value));
    };
    for (const auto* values : {&all.lags, &all.starts, &all.p, &all.q, &all.intensional})
        add(*values);
    for (const std::uint64_t end : all.item_ends) out.add(end);
    for (const std::uint64_t end : all.start_ends) out.add(end);
    return out;
}

void write_numbers(const nwb::table& table, const char* name, const std::vector<double>& values,
                   const char* description) {
    const h5::handle column = table.new_column(name, H5T_IEEE_F64LE, {values.size()}, description);
    h5::write_block(column.get(), 0, values.size(), H5T_NATIVE_DOUBLE, values.data());
}

void write_table(hid_t file, const pattern_view& p, const columns& all,
                 const nwb::digest& identity) {
    const bool stable = !p.report.stabilities.empty();
    const std::string starts = p.report.axes.timed ? "occurrence_times" : "windows";
    std::vector<std::string> names{"units", "lags", starts, "count", "duration"};
    if (p.tested()) names.insert(names.end(), {"p", "q"});
    if (stable) names.insert(names.end(), {"stability_intensional", "stability_extensional"});
    const nwb::table table(
        file, table_path, "hdmf-common", "DynamicTable", identity,
        fmt::format("Spatio-temporal spike patterns (SPADE), bins of {} ms, windows of {} bins, {}",
                    milliseconds(p.report.axes.bin), p.report.axes.window_bins, p.how_tested()),
        names);
    table.write_ids(all.ids);
    table.write_texts("units", all.units, "the unit of each spike of the pattern, in time order");
    table.write_index("units", all.item_ends, "where each pattern's units end");
    write_numbers(table, "lags", all.lags,
                  "time of each spike after the first of the pattern, in seconds");
    table.write_index("lags", all.item_ends, "where each pattern's lags end");
    write_numbers(table, starts.c_str(), all.starts,
                  p.report.axes.timed
                      ? "when the pattern occurs, in seconds: the left edge of its first bin"
                      : "the windows that hold the pattern, numbered from 0");
    table.write_index(starts, all.start_ends, "where each pattern's occurrences end");
    const h5::handle counts =
        table.new_column("count", H5T_STD_I64LE, {all.counts.size()}, "number of occurrences");
    h5::write_block(counts.get(), 0, all.counts.size(), H5T_NATIVE_INT64, all.counts.data());
    write_numbers(table, "duration", all.durations, "from the first spike to the last, in seconds");
    if (p.tested()) {
        write_numbers(table, "p", all.p, "p-value of the pattern's signature");
        write_numbers(table, "q", all.q, "p corrected for all signatures tested");
    }
    if (stable) {
        write_numbers(table, "stability_intensional", all.intensional, "intensional stability");
        write_numbers(table, "stability_extensional", all.extensional, "extensional stability");
    }
}

}  // namespace

void write_pattern_nwb(const std::filesystem::path& path, const pattern_view& p) {
    const h5::quiet no_printing;
    const columns all = columns_of(p);
    const nwb::digest identity = identity_of(all);
    try {
        h5::output file(path);
        nwb::write_root(file.get(), identity,
                        fmt::format("Patterns found by spikeweave {}.", version()));
        write_table(file.get(), p, all, identity);
        file.commit();
    } catch (const io_error& error) {
        const std::string_view what = error.what();
        if (what.starts_with('\'')) throw;  // the message already names the file
        throw io::file_error(path, fmt::format("cannot be written: {}", what));
    }
}

}  // namespace spikeweave::report
