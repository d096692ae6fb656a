#pragma once

// The code that readers of tables of units share: files of HDF5, and spikes that others have read.

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/spikes/files.hpp"

namespace spikeweave::spikes {

/// Returns why names cannot be those of units: "has names that repeat"; empty if they can.
std::string why_no_names(const std::vector<std::string>& names);

/// Names the rows of a table by `names` if they can be used, else by `ids`, else by numbers from 0,
/// with a warning if it has others. Both may be empty.
std::vector<std::string> names_of_rows(const std::vector<std::string>& names,
                                       const std::vector<std::string>& ids, std::size_t count,
                                       std::vector<std::string>& warnings);

/// The labels among columns of texts: the first of `label_columns` that is one. Empty if none is.
std::vector<std::string> labels_in(const std::map<std::string, std::vector<std::string>>& columns);

/// The doubtful pairs of units among columns of texts.
/// @param rows  the names of the units that the columns have texts of
std::vector<doubtful_pair> doubtful_pairs_in(
    const std::map<std::string, std::vector<std::string>>& columns,
    std::span<const std::string> rows);
/// The columns of texts that are looked for: those of labels and of doubtful pairs.
std::vector<std::string> columns_of_texts();

/// The span of observed intervals, each a begin and an end in seconds; nothing if there are none.
/// Several become one, with a warning.
/// @param fail  reports a row that is no interval, by a text such as "row 1: found …"
std::optional<time_span> span_of_intervals(std::span<const double> ends,
                                           std::vector<std::string>& warnings,
                                           const std::function<void(const std::string&)>& fail);

/// Values of rows in the order of the units that these became; a default for other units.
template <class Value>
std::vector<Value> in_order_of_units(const std::vector<Value>& values,
                                     const std::vector<std::string>& rows,
                                     const std::vector<std::string>& units) {
    if (values.empty()) return {};
    std::map<std::string_view, const Value*> of_unit;
    for (std::size_t row = 0; row < rows.size(); ++row) of_unit[rows[row]] = &values[row];
    std::vector<Value> out;
    out.reserve(units.size());
    for (const std::string& unit : units) {
        const auto found = of_unit.find(unit);
        out.push_back(found == of_unit.end() ? Value{} : *found->second);
    }
    return out;
}

}  // namespace spikeweave::spikes
