#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "report/run_json.hpp"
#include "spikeweave/assess/episodes/circuit.hpp"
#include "spikeweave/assess/label_permutation.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/members.hpp"
#include "spikeweave/mine/episodes.hpp"

/// The tables of results. A table is described once, as rows of named columns; its file for people
/// (TSV), `--json`, `result.json` and the page follow from that, under the same names.
namespace spikeweave::report {

/// An estimated time that may be unknown. The names of its columns end in `_ms`, as those of an
/// exact one, a duration.
struct known_ms {
    std::optional<double> value{};
};
/// A time in seconds, which files for people have to the microsecond. Its name ends in `_s`.
struct exact_time {
    std::optional<duration> value{};
};
/// A number that files for people have with so many decimals.
struct fixed_number {
    double value = 0;
    int decimals = 0;
};
/// Several values of a row, which files for people join by a text; times are in milliseconds.
template <class Item>
struct joined_list {
    std::vector<Item> items;
    std::string_view joined_by;
};
/// A choice is the name of an enumeration's value. An interval is a cell "(1,4] ms" in a file for
/// people, and `[1, 4]` under a name with `_ms` where numbers have no unit; so are the delays of an
/// episode, "(1,4] (1,4] ms".
using column_value =
    std::variant<unit_id, std::vector<unit_id>, std::string_view, std::string, delay_interval,
                 std::vector<delay_interval>, bool, std::optional<bool>, std::uint64_t, double,
                 std::optional<double>, std::optional<std::uint64_t>, known_ms,
                 std::optional<duration>, exact_time, fixed_number, joined_list<unit_id>,
                 joined_list<std::string>, joined_list<double>, joined_list<std::uint64_t>,
                 joined_list<duration>>;
struct column {
    std::string name;
    column_value value;
    /// Its explanation, in Markdown; empty: it is explained with the column before.
    std::string_view help{};
};
using row = std::vector<column>;

/// Where a table is: documents (`result.json` and the page) and the file for people.
enum class table_use : std::uint8_t { everywhere, document_only, file_only };

/// A table of a result.
struct result_table {
    std::string name;  ///< in documents; that of its file without ".tsv"
    std::size_t size = 0;
    /// Returns a row. What it refers to belongs to the result.
    std::function<row(std::size_t)> at;
    /// Any row: the names of the columns.
    row names;
    std::string_view none = "-";  ///< unknown values in its file
    table_use use = table_use::everywhere;
    /// The number of all rows, if some are left out here.
    std::optional<std::uint64_t> total{};
};

template <class Struct>
requires is_described<Struct> row described_row(const Struct& value);

/// Adds a member to a row. An estimate takes three columns: `gain`, `gain_low` and `gain_high`. A
/// struct with a description takes its own.
template <class Value>
void add_column(row& to, const std::string& name, const Value& value, std::string_view help) {
    if constexpr (std::is_same_v<Value, estimate> || std::is_same_v<Value, interval_estimate>) {
        to.push_back({name, value.value, help});
        to.push_back({name + "_low", value.low});
        to.push_back({name + "_high", value.high});
    } else if constexpr (std::is_same_v<Value, std::optional<delay_estimate>>) {
        const auto ms_of = [&](double delay_estimate::*us) {
            return value ? known_ms{(*value).*us / 1000} : known_ms{};
        };
        to.push_back({name, ms_of(&delay_estimate::mean_us), help});
        to.push_back({name + "_low", ms_of(&delay_estimate::low_us)});
        to.push_back({name + "_high", ms_of(&delay_estimate::high_us)});
    } else if constexpr (is_described<Value>) {
        for (column& own : described_row(value)) to.push_back(std::move(own));
    } else if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
        to.push_back({name, std::uint64_t{value}, help});
    } else if constexpr (std::is_enum_v<Value> && !std::is_same_v<Value, unit_id>) {
        to.push_back({name, to_string(value), help});
    } else {
        to.push_back({name, value, help});
    }
}

template <class Struct>
requires is_described<Struct> row described_row(const Struct& value) {
    row out;
    members_of<Struct>::list([&](const char* name, const auto& member, std::string_view help = {}) {
        add_column(out, name, std::invoke(member, value), help);
    });
    return out;
}

/// The table of a list of described structs.
/// @param values  has to outlive the table
template <class Struct>
requires is_described<Struct> result_table described_table(std::string name,
                                                           const std::vector<Struct>& values) {
    return {std::move(name), values.size(),
            [&values](std::size_t i) { return described_row(values[i]); }, described_row(Struct{})};
}

/// A cell of a file for people.
std::string cell_of(const column_value& value, std::span<const std::string> unit_names,
                    std::string_view none = "-");
/// The name of a column in a file for people.
std::string tsv_name(const column& of);
/// The names of the columns, separated by tabs.
std::string tsv_heading(const row& of);
/// The cells, separated by tabs. Of several units that explain an edge it has the first one.
/// @param none  the cell of what is unknown or missing
std::string tsv_line(const row& values, std::span<const std::string> unit_names = {},
                     std::string_view none = "-");
/// Passes on the file for people in pieces, because it may have millions of lines. @throws
/// cancelled
void write_lines(const result_table& table, std::span<const std::string> unit_names,
                 const std::function<void(std::string_view)>& write, const execution& run = {});
std::string tsv_of(const result_table& table, std::span<const std::string> unit_names = {});
/// An object; what is unknown is null.
json json_of(const row& values, std::span<const std::string> unit_names = {});
/// An array of objects.
json rows_of(const result_table& table, std::span<const std::string> unit_names = {});
/// A browser lists more rows slowly, and nobody reads them.
inline constexpr std::size_t most_rows_of_a_page = 10'000;
/// An object of arrays, with the number of all rows as `total`. Units are their numbers from 0.
/// @param most  rows after so many are left out
/// @throws cancelled
json columns_of(const result_table& table, std::size_t most, const execution& run = {});
/// Passes on the same of all rows as text, which takes less memory.
void write_columns(const result_table& table, const std::function<void(std::string_view)>& write,
                   const execution& run);
/// A directed graph as GraphML, for networkx, Gephi and Cytoscape.
/// @param nodes  the columns of each unit besides its name
/// @param edges  rows that begin with the units `from` and `to`
std::string graphml_of(std::string_view id, std::span<const std::string> unit_names,
                       const result_table& nodes, const result_table& edges,
                       const execution& run = {});

}  // namespace spikeweave::report
