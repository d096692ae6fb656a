#include "described_arguments.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>

#include "spikeweave/mine/episode.hpp"

namespace spikeweave::python {
namespace {

delay_interval interval_of(const char* name, nb::handle value) {
    constexpr const char* expected = "delay intervals such as (0.001, 0.005) or '1-5ms'";
    if (nb::isinstance<nb::str>(value)) return parse_delay_interval(nb::cast<std::string>(value));
    if (keyword_arguments::length(value) != 2U) refuse_type(name, expected, value);
    const nb::list bounds = keyword_arguments::items(name, value);
    return {keyword_arguments::time(name, bounds[0]), keyword_arguments::time(name, bounds[1])};
}

// One interval stands for a list of one.
bool is_interval(nb::handle value) {
    if (keyword_arguments::length(value) != 2U) return false;
    const nb::object first = value[nb::int_(0)];
    return !keyword_arguments::length(first);
}

void take(const char* name, nb::handle value, std::vector<delay_interval>& into) {
    if (nb::isinstance<nb::str>(value)) {
        into = parse_delays(nb::cast<std::string>(value));
        return;
    }
    into.clear();
    if (is_interval(value)) return into.push_back(interval_of(name, value));
    for (const nb::handle one : keyword_arguments::items(name, value))
        into.push_back(interval_of(name, one));
}

void take(const char* name, nb::handle value, std::vector<std::string>& into) {
    into.clear();
    for (const nb::handle one : keyword_arguments::items(name, value))
        into.push_back(keyword_arguments::text(name, one));
}

nb::object shown(const std::vector<delay_interval>& delays) {
    nb::list out;
    for (const delay_interval& delay : delays)
        out.append(nb::make_tuple(to_seconds(delay.low), to_seconds(delay.high)));
    return out;
}

nb::object shown(const std::vector<std::string>& names) {
    return names.empty() ? nb::object(nb::none()) : nb::cast(names);
}

// Calls `work` with the field if it has one of the types that Python has a richer form of.
template <class Work>
bool with_rich_field(const option& one, Work work) {
    const auto as = [&]<class Field>(Field* /*type*/) {
        auto* const* const field = std::any_cast<Field*>(&one.field);
        if (field != nullptr) work(**field);
        return field != nullptr;
    };
    return as(static_cast<std::vector<delay_interval>*>(nullptr)) ||
           as(static_cast<std::vector<std::string>*>(nullptr));
}

std::string_view type_name(const std::vector<delay_interval>& /*delays*/) {
    return "Delays";
}
std::string_view type_name(const std::vector<std::string>& /*names*/) {
    return "Units";
}

// The option's type for signatures, by the names of python/spikeweave/_values/types.py.
std::string_view type_of(const option& one) {
    std::string_view rich;
    if (with_rich_field(one, [&](const auto& field) { rich = type_name(field); })) return rich;
    switch (one.kind) {
        case option_kind::flag:
            return "bool";
        case option_kind::whole:
        case option_kind::memory:
            return "int";
        case option_kind::number:
            return "float";
        case option_kind::time:
            return "Time";
        case option_kind::choice:
        case option_kind::text:
            return "str";
    }
    return "";
}

option_value value_of(const option& one, nb::handle value) {
    const char* const name = one.name.c_str();
    switch (one.kind) {
        case option_kind::flag: {
            bool flag = false;
            keyword_arguments::read(name, value, flag);
            return flag;
        }
        case option_kind::whole:
        case option_kind::memory:
            return keyword_arguments::whole(name, value, 0,
                                            std::numeric_limits<std::uint64_t>::max());
        case option_kind::number:
            return keyword_arguments::number(name, value);
        case option_kind::time:
            return keyword_arguments::time(name, value);
        case option_kind::choice:
        case option_kind::text:
            return keyword_arguments::text(name, value);
    }
    return nullptr;
}

nb::object argument_of(const option& one) {
    nb::object out = nb::none();
    if (!one.is_set() || with_rich_field(one, [&](const auto& field) { out = shown(field); }))
        return out;
    const option_value value = one.get();
    if (const auto* time = std::get_if<duration>(&value)) return nb::cast(to_seconds(*time));
    if (const auto* flag = std::get_if<bool>(&value)) return nb::cast(*flag);
    if (const auto* whole = std::get_if<std::uint64_t>(&value)) return nb::cast(*whole);
    if (const auto* number = std::get_if<double>(&value)) return nb::cast(*number);
    const auto& text = std::get<std::string>(value);
    return nb::str(text.data(), text.size());
}

}  // namespace

void take_described(keyword_arguments& how, const option_list& options) {
    for (const option& one : options) {
        const auto value = how.find(one.name.c_str());
        if (!value) continue;
        keyword_arguments::naming(one.name.c_str(), [&] {
            const bool is_rich =
                with_rich_field(one, [&](auto& field) { take(one.name.c_str(), *value, field); });
            if (!is_rich) one.set(value_of(one, *value));
        });
    }
    options.check();
}

nb::dict arguments_of(const option_list& options) {
    nb::dict out;
    for (const option& one : options) out[one.name.c_str()] = argument_of(one);
    return out;
}

nb::list description_of(const option_list& options) {
    nb::list out;
    for (const option& one : options) {
        const option_value value = one.get();
        const auto* const flag = std::get_if<bool>(&value);
        const bool on = flag != nullptr && *flag;
        nb::dict entry;
        entry["name"] = one.name;
        entry["help"] = one.help;
        const std::string_view type = type_of(one);
        entry["type"] = nb::str(type.data(), type.size());
        entry["choices"] = nb::cast(one.choices);
        entry["group"] = one.group;
        entry["default"] = argument_of(one);
        entry["default_shown"] = default_of(one);
        entry["placeholder"] = one.placeholder;
        entry["command_line"] = command_line_name(one.name, on);
        out.append(entry);
    }
    return out;
}

}  // namespace spikeweave::python
