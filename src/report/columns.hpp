#pragma once

#include <concepts>
#include <cstdint>
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
#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/members.hpp"
#include "spikeweave/mine/episodes.hpp"

/// A struct that has a description (`members_of`) as a row of named columns, which are equal in
/// every form in which a result is written.
namespace spikeweave::report {

/// A time that may be unknown. The names of its columns end in `_ms`.
struct known_ms {
    std::optional<double> value{};
};
/// A choice is the name of an enumeration's value. An interval is a cell "(1,4] ms" in a table, and
/// `[1, 4]` under a name with `_ms` where numbers have no unit.
using column_value =
    std::variant<unit_id, std::vector<unit_id>, std::string_view, delay_interval, std::uint64_t,
                 double, std::optional<double>, std::optional<std::uint64_t>, known_ms>;
struct column {
    std::string name;
    column_value value;
};
using row = std::vector<column>;

template <class Struct>
requires is_described<Struct> row described_row(const Struct& value);

/// Adds a member to a row. An estimate takes three columns: `gain`, `gain_low` and `gain_high`. A
/// struct with a description takes its own.
template <class Value>
void add_column(row& to, const std::string& name, const Value& value) {
    if constexpr (std::is_same_v<Value, estimate>) {
        to.push_back({name, value.value});
        to.push_back({name + "_low", value.low});
        to.push_back({name + "_high", value.high});
    } else if constexpr (std::is_same_v<Value, std::optional<delay_estimate>>) {
        const auto ms_of = [&](double delay_estimate::*us) {
            return value ? known_ms{(*value).*us / 1000} : known_ms{};
        };
        to.push_back({name, ms_of(&delay_estimate::mean_us)});
        to.push_back({name + "_low", ms_of(&delay_estimate::low_us)});
        to.push_back({name + "_high", ms_of(&delay_estimate::high_us)});
    } else if constexpr (is_described<Value>) {
        for (column& own : described_row(value)) to.push_back(std::move(own));
    } else if constexpr (std::is_integral_v<Value>) {
        to.push_back({name, std::uint64_t{value}});
    } else if constexpr (std::is_enum_v<Value> && !std::is_same_v<Value, unit_id>) {
        to.push_back({name, to_string(value)});
    } else {
        to.push_back({name, value});
    }
}

template <class Struct>
requires is_described<Struct> row described_row(const Struct& value) {
    row out;
    each_member(value,
                [&](const char* name, const auto& member) { add_column(out, name, member); });
    return out;
}

/// The names of the columns, separated by tabs.
std::string tsv_heading(const row& of);
/// The cells, separated by tabs. Of several units it has the first one.
/// @param none  the cell of what is unknown or missing
std::string tsv_line(const row& values, std::span<const std::string> unit_names = {},
                     std::string_view none = "-");
/// An object; what is unknown is null.
json json_of(const row& values, std::span<const std::string> unit_names = {});
/// The declarations of the columns as GraphML has them, for all columns but those of the edge's
/// ends.
std::string graphml_keys(const row& of);
/// The values that are known, for the same columns.
std::string graphml_data(const row& values, std::span<const std::string> unit_names);

}  // namespace spikeweave::report
