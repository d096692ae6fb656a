#include "report/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/stop.hpp"
#include "parallel/ordered_for.hpp"
#include "report/text.hpp"

namespace spikeweave::report {
namespace {

template <class... Cases>
struct cases : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
cases(Cases...) -> cases<Cases...>;

bool is_time(const column_value& value) {
    return std::holds_alternative<known_ms>(value) ||
           std::holds_alternative<std::optional<duration>>(value);
}

// A column of GraphML: an interval has two, and the ends of an edge are no columns.
struct graphml_column {
    std::string name;
    std::string_view type;
    std::optional<std::string> value{};
};

std::vector<graphml_column> graphml_columns(const column& one,
                                            std::span<const std::string> unit_names) {
    const std::string& name = one.name;
    const auto known = [&](unit_id unit) { return xml_escaped(unit_names[to_index(unit)]); };
    using columns = std::vector<graphml_column>;
    const auto text = [&](std::optional<std::string> value) {
        return columns{{name, "string", std::move(value)}};
    };
    return std::visit(
        cases{[](unit_id) { return columns{}; },
              [&](const std::vector<unit_id>& units) {
                  return text(units.empty() ? std::nullopt : std::optional(known(units[0])));
              },
              [&](std::string_view choice) { return text(std::string(choice)); },
              [&](const std::string& words) { return text(xml_escaped(words)); },
              [&](const delay_interval& delay) {
                  return columns{{name + "_low_ms", "double", milliseconds(delay.low)},
                                 {name + "_high_ms", "double", milliseconds(delay.high)}};
              },
              [&](bool flag) {
                  return columns{{name, "boolean", flag ? "true" : "false"}};
              },
              [&](std::uint64_t count) {
                  return columns{{name, "long", std::to_string(count)}};
              },
              [&](double value) {
                  return columns{{name, "double", number_text(value)}};
              },
              [&](const std::optional<double>& value) {
                  return columns{
                      {name, "double", value ? std::optional(number_text(*value)) : std::nullopt}};
              },
              [&](const std::optional<std::uint64_t>& count) {
                  return columns{
                      {name, "long", count ? std::optional(std::to_string(*count)) : std::nullopt}};
              },
              [&](const known_ms& time) {
                  return columns{
                      {name + "_ms", "double",
                       time.value ? std::optional(number_text(*time.value)) : std::nullopt}};
              },
              [](const auto& /*list*/) { return columns{}; }},
        one.value);
}

constexpr std::string_view graphml_head = R"(<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"
         xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
         xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
)";

// The names of the columns of nodes are among those of edges, but identifiers must differ.
std::string graphml_id(std::string_view name, std::string_view of) {
    return of == "node" ? fmt::format("node_{}", name) : std::string(name);
}

std::string graphml_keys(const row& columns, std::string_view of) {
    std::string out;
    for (const column& one : columns)
        for (const graphml_column& column : graphml_columns(one, {}))
            out += fmt::format("  <key id=\"{}\" for=\"{}\" attr.name=\"{}\" attr.type=\"{}\"/>\n",
                               graphml_id(column.name, of), of, column.name, column.type);
    return out;
}

// The values that are known.
std::string graphml_data(const row& values, std::span<const std::string> unit_names,
                         std::string_view of) {
    std::string out;
    for (const column& one : values)
        for (const graphml_column& column : graphml_columns(one, unit_names))
            if (column.value)
                out += fmt::format(R"(<data key="{}">{}</data>)", graphml_id(column.name, of),
                                   *column.value);
    return out;
}

template <class Items, class Text>
std::string joined(const Items& items, std::string_view by, const Text& text) {
    std::string out;
    bool is_first = true;
    for (const auto& item : items) {
        if (!is_first) out += by;
        out += text(item);
        is_first = false;
    }
    return out;
}

std::string interval_text(const delay_interval& delay) {
    return fmt::format("({},{}]", milliseconds(delay.low), milliseconds(delay.high));
}

// Appends the cells of a row.
class cell_text {
public:
    cell_text(std::span<const std::string> unit_names, std::string_view none)
        : unit_names_(unit_names), none_(none) {}

    std::string operator()(unit_id unit) const { return unit_names_[to_index(unit)]; }
    std::string operator()(const std::vector<unit_id>& units) const {
        return units.empty() ? std::string(none_) : (*this)(units[0]);
    }
    template <class Item>
    std::string operator()(const joined_list<Item>& list) const {
        return joined(list.items, list.joined_by, *this);
    }
    std::string operator()(duration time) const { return milliseconds(time); }
    std::string operator()(std::string_view text) const { return std::string(text); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const delay_interval& delay) const {
        return format_delay_interval(delay);
    }
    std::string operator()(const std::vector<delay_interval>& delays) const {
        return delays.empty() ? "-" : joined(delays, " ", interval_text) + " ms";
    }
    std::string operator()(bool flag) const { return std::string(yes_no(flag)); }
    std::string operator()(const std::optional<bool>& flag) const {
        return flag ? (*this)(*flag) : std::string(none_);
    }
    std::string operator()(std::uint64_t count) const { return std::to_string(count); }
    std::string operator()(double value) const { return number_text(value); }
    std::string operator()(const fixed_number& number) const {
        return fmt::format("{:.{}f}", number.value, number.decimals);
    }
    std::string operator()(const std::optional<double>& value) const {
        return value ? number_text(*value) : std::string(none_);
    }
    std::string operator()(const std::optional<std::uint64_t>& count) const {
        return count ? std::to_string(*count) : std::string(none_);
    }
    std::string operator()(const known_ms& time) const { return (*this)(time.value); }
    std::string operator()(const std::optional<duration>& time) const {
        return time ? milliseconds(*time) : std::string(none_);
    }
    std::string operator()(const exact_time& time) const {
        return time.value ? fmt::format("{:.6f}", to_seconds(*time.value)) : std::string(none_);
    }

private:
    std::span<const std::string> unit_names_;
    std::string_view none_;
};

json finite(double value) {
    return std::isfinite(value) ? json(value) : json();
}

// A value where numbers have no unit. @param unit  makes a value of a unit
template <class Unit>
json json_value(const column_value& value, const Unit& unit) {
    const auto all = [](const auto& items, const auto& make) {
        json out = json::array();
        for (const auto& item : items) out.push_back(make(item));
        return out;
    };
    const cases cell{
        unit,
        [&](const std::vector<unit_id>& units) { return all(units, unit); },
        [&](const joined_list<unit_id>& list) { return all(list.items, unit); },
        [&](const joined_list<double>& list) { return all(list.items, finite); },
        [](const joined_list<std::uint64_t>& list) { return json(list.items); },
        [](const joined_list<std::string>& list) { return json(list.items); },
        [&](const joined_list<duration>& list) {
            return all(list.items, [](duration time) { return ms(time); });
        },
        [](const delay_interval& delay) { return ms(delay); },
        [](const std::vector<delay_interval>& delays) { return ms(delays); },
        [](double number) { return finite(number); },
        [](const fixed_number& number) { return finite(number.value); },
        [](const std::optional<double>& number) { return number ? finite(*number) : json(); },
        []<class Value>(const std::optional<Value>& known) { return or_null(known); },
        [](const known_ms& time) { return time.value ? finite(*time.value) : json(); },
        [](const std::optional<duration>& time) { return time ? json(ms(*time)) : json(); },
        [](const exact_time& time) { return time.value ? json(to_seconds(*time.value)) : json(); },
        [](const auto& plain) { return json(plain); }};
    return std::visit(cell, value);
}

constexpr auto index_of_unit = [](unit_id unit) { return json(to_index(unit)); };

// Threads make the text of some rows each by add(text, row); take(text) gets them in order.
template <class Text, class Add, class Take>
void in_pieces(std::size_t rows, const execution& run, const Add& add, const Take& take) {
    constexpr std::size_t rows_a_piece = 4096;
    parallel::for_each_in_order((rows + rows_a_piece - 1) / rows_a_piece, run, "writing tables",
                                [&](std::size_t piece) {
                                    Text out;
                                    const std::size_t first = piece * rows_a_piece;
                                    for (std::size_t i = first;
                                         i < std::min(rows, first + rows_a_piece); ++i)
                                        add(out, i);
                                    return out;
                                },
                                [&](std::size_t, const Text& text) { take(text); });
}

std::string json_name(const column& one) {
    const bool has_unit = is_time(one.value) || std::holds_alternative<delay_interval>(one.value) ||
                          std::holds_alternative<std::vector<delay_interval>>(one.value);
    return has_unit ? one.name + "_ms" : one.name;
}

}  // namespace

std::string tsv_name(const column& of) {
    return is_time(of.value) ? of.name + "_ms" : of.name;
}

std::string tsv_heading(const row& of) {
    return joined(of, "\t", tsv_name);
}

std::string cell_of(const column_value& value, std::span<const std::string> unit_names,
                    std::string_view none) {
    return std::visit(cell_text(unit_names, none), value);
}

std::string tsv_line(const row& values, std::span<const std::string> unit_names,
                     std::string_view none) {
    const cell_text cell(unit_names, none);
    std::string out;
    bool is_first = true;
    for (const column& one : values) {
        if (!is_first) out += '\t';
        out += std::visit(cell, one.value);
        is_first = false;
    }
    return out;
}

void write_lines(const result_table& table, std::span<const std::string> unit_names,
                 const std::function<void(std::string_view)>& write, const execution& run) {
    write(tsv_heading(table.names) + '\n');
    const auto lines = [&](std::string& out, std::size_t i) {
        out += tsv_line(table.at(i), unit_names, table.none);
        out += '\n';
    };
    in_pieces<std::string>(table.size, run, lines, write);
}

std::string tsv_of(const result_table& table, std::span<const std::string> unit_names) {
    std::string out;
    write_lines(table, unit_names, [&](std::string_view piece) { out += piece; });
    return out;
}

json json_of(const row& values, std::span<const std::string> unit_names) {
    json out = json::object();
    for (const column& one : values)
        out[json_name(one)] =
            json_value(one.value, [&](unit_id unit) { return json(unit_names[to_index(unit)]); });
    return out;
}

json rows_of(const result_table& table, std::span<const std::string> unit_names) {
    json out = json::array();
    for (std::size_t i = 0; i < table.size; ++i) out.push_back(json_of(table.at(i), unit_names));
    return out;
}

json columns_of(const result_table& table, std::size_t most, const execution& run) {
    std::vector<json> columns(table.names.size(), json::array());
    for (std::size_t i = 0; i < std::min(table.size, most); ++i) {
        core::stop_at_times(i, run.stop);
        const row values = table.at(i);
        for (std::size_t k = 0; k < columns.size(); ++k)
            columns[k].push_back(json_value(values[k].value, index_of_unit));
    }
    json out{{"total", table.total.value_or(table.size)}};
    for (std::size_t k = 0; k < columns.size(); ++k)
        out[json_name(table.names[k])] = std::move(columns[k]);
    return out;
}

void write_columns(const result_table& table, const std::function<void(std::string_view)>& write,
                   const execution& run) {
    using columns_text = std::vector<std::string>;
    columns_text columns(table.names.size());
    const auto add_row = [&](columns_text& out, std::size_t i) {
        out.resize(columns.size());
        const row values = table.at(i);
        for (std::size_t k = 0; k < out.size(); ++k) {
            if (i > 0) out[k] += ',';
            out[k] += compact(json_value(values[k].value, index_of_unit));
        }
    };
    in_pieces<columns_text>(table.size, run, add_row, [&](const columns_text& piece) {
        for (std::size_t k = 0; k < columns.size(); ++k) columns[k] += piece[k];
    });
    write(fmt::format(R"({{"total":{})", table.total.value_or(table.size)));
    for (std::size_t k = 0; k < columns.size(); ++k) {
        write(fmt::format(",\n{}:[", json(json_name(table.names[k])).dump()));
        write(columns[k]);
        write("]");
    }
    write("}");
}

std::string graphml_of(std::string_view id, std::span<const std::string> unit_names,
                       const result_table& nodes, const result_table& edges, const execution& run) {
    const auto named = [](std::string name, row columns) {
        columns.insert(columns.begin(), {"name", std::move(name)});
        return columns;
    };
    std::string out(graphml_head);
    out += graphml_keys(named({}, nodes.names), "node") + graphml_keys(edges.names, "edge");
    out += fmt::format("  <graph id=\"{}\" edgedefault=\"directed\">\n", id);
    for (std::size_t u = 0; u < unit_names.size(); ++u)
        out += fmt::format("    <node id=\"u{}\">{}</node>\n", u,
                           graphml_data(named(unit_names[u], nodes.at(u)), unit_names, "node"));
    const auto add_edge = [&](std::string& lines, std::size_t i) {
        const row edge = edges.at(i);
        lines += fmt::format(R"(    <edge source="u{}" target="u{}">{}</edge>)",
                             to_index(std::get<unit_id>(edge[0].value)),
                             to_index(std::get<unit_id>(edge[1].value)),
                             graphml_data(edge, unit_names, "edge"));
        lines += '\n';
    };
    in_pieces<std::string>(edges.size, run, add_edge,
                           [&](const std::string& piece) { out += piece; });
    return out + "  </graph>\n</graphml>\n";
}

}  // namespace spikeweave::report
