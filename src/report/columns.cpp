#include "report/columns.hpp"

#include <fmt/format.h>

#include <utility>

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
    return std::holds_alternative<known_ms>(value);
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
    return std::visit(
        cases{[](unit_id) { return columns{}; },
              [&](const std::vector<unit_id>& units) {
                  return columns{{name, "string",
                                  units.empty() ? std::nullopt : std::optional(known(units[0]))}};
              },
              [&](std::string_view choice) {
                  return columns{{name, "string", std::string(choice)}};
              },
              [&](const delay_interval& delay) {
                  return columns{{name + "_low_ms", "double", milliseconds(delay.low)},
                                 {name + "_high_ms", "double", milliseconds(delay.high)}};
              },
              [&](std::uint64_t count) {
                  return columns{{name, "long", std::to_string(count)}};
              },
              [&](double value) {
                  return columns{{name, "double", number_text(value)}};
              },
              [&](const std::optional<std::uint64_t>& count) {
                  return columns{
                      {name, "long", count ? std::optional(std::to_string(*count)) : std::nullopt}};
              },
              [&](const known_ms& time) {
                  return columns{
                      {name + "_ms", "double",
                       time.value ? std::optional(number_text(*time.value)) : std::nullopt}};
              }},
        one.value);
}

}  // namespace

std::string tsv_heading(const row& of) {
    std::string out;
    for (const auto& [name, value] : of)
        out += fmt::format("{}{}{}", out.empty() ? "" : "\t", name, is_time(value) ? "_ms" : "");
    return out;
}

std::string tsv_line(const row& values, std::span<const std::string> unit_names,
                     std::string_view none) {
    const auto known = [&](unit_id unit) { return unit_names[to_index(unit)]; };
    const auto number = [&](const std::optional<double>& value) {
        return value ? number_text(*value) : std::string(none);
    };
    const cases cell{known,
                     [&](const std::vector<unit_id>& units) {
                         return units.empty() ? std::string(none) : known(units[0]);
                     },
                     [](std::string_view text) { return std::string(text); },
                     [](const delay_interval& delay) { return format_delay_interval(delay); },
                     [](std::uint64_t count) { return std::to_string(count); },
                     [](double value) { return number_text(value); },
                     number,
                     [&](const std::optional<std::uint64_t>& count) {
                         return count ? std::to_string(*count) : std::string(none);
                     },
                     [&](const known_ms& time) { return number(time.value); }};
    std::string out;
    for (const auto& [name, value] : values)
        out += fmt::format("{}{}", out.empty() ? "" : "\t", std::visit(cell, value));
    return out;
}

json json_of(const row& values, std::span<const std::string> unit_names) {
    const cases cell{
        [&](unit_id unit) { return json(unit_names[to_index(unit)]); },
        [&](const std::vector<unit_id>& units) { return names_json(unit_names, units); },
        [](const delay_interval& delay) { return ms(delay); },
        [](const std::optional<double>& value) { return value ? json(*value) : json(); },
        [](const std::optional<std::uint64_t>& count) { return count ? json(*count) : json(); },
        [](const known_ms& time) { return time.value ? json(*time.value) : json(); },
        [](const auto& value) { return json(value); }};
    json out;
    for (const auto& [name, value] : values) {
        const bool has_unit = is_time(value) || std::holds_alternative<delay_interval>(value);
        out[has_unit ? name + "_ms" : name] = std::visit(cell, value);
    }
    return out;
}

std::string graphml_keys(const row& of) {
    std::string out;
    for (const column& one : of)
        for (const graphml_column& column : graphml_columns(one, {}))
            out += fmt::format(
                "  <key id=\"{0}\" for=\"edge\" attr.name=\"{0}\" attr.type=\"{1}\"/>\n",
                column.name, column.type);
    return out;
}

std::string graphml_data(const row& values, std::span<const std::string> unit_names) {
    std::string out;
    for (const column& one : values)
        for (const graphml_column& column : graphml_columns(one, unit_names))
            if (column.value)
                out += fmt::format(R"(<data key="{}">{}</data>)", column.name, *column.value);
    return out;
}

}  // namespace spikeweave::report
