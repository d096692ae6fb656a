#include "bindings/core/options.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/core/arguments.hpp"
#include "bindings/core/rich_values.hpp"

namespace spikeweave::python {
namespace {

// Returns the option's type for signatures; python/spikeweave/_values/types.py has these names.
std::string_view type_of(const option& one) {
    if (const std::string_view rich = rich_type(one); !rich.empty()) return rich;
    switch (one.kind) {
        case option_kind::flag:
            return "bool";
        case option_kind::whole:
        case option_kind::memory:
            return one.zero_name.empty() ? "int" : "IntOrAuto";
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
        case option_kind::flag:
            return flag_of(name, value);
        case option_kind::whole:
        case option_kind::memory:
            if (nb::isinstance<nb::str>(value) && !one.zero_name.empty() &&
                text_of(name, value) == one.zero_name)
                return one.zero_name;
            return whole_of(name, value);
        case option_kind::number:
            return number_of(name, value);
        case option_kind::time:
            return time_of(name, value);
        case option_kind::choice:
        case option_kind::text:
            return text_of(name, value);
    }
    return nullptr;
}

nb::object argument_of(const option& one) {
    if (!one.is_set()) return nb::none();
    if (!rich_type(one).empty()) return show_rich(one);
    const option_value value = one.get();
    const auto* const number = std::get_if<std::uint64_t>(&value);
    if (number != nullptr && *number == 0 && !one.zero_name.empty()) return nb::cast(one.zero_name);
    return std::visit(
        []<class Value>(const Value& simple) -> nb::object {
            if constexpr (std::is_same_v<Value, std::nullptr_t>)
                return nb::none();
            else if constexpr (std::is_same_v<Value, duration>)
                return nb::cast(to_seconds(simple));
            else
                return nb::cast(simple);
        },
        value);
}

}  // namespace

call_options take_options(const nb::dict& arguments, const option_list& options) {
    call_options call;
    for (const auto& [key, value] : arguments) {
        const auto given = nb::cast<std::string>(key);
        const char* const name = given.c_str();
        const auto one = std::ranges::find(options, given, &option::name);
        constexpr std::uint64_t most_threads = 4096;
        if (one == options.end() && given != "progress" && given != "threads")
            refuse_argument(given);
        if (value.is_none()) continue;
        if (one == options.end() && given == "threads")
            call.threads = static_cast<int>(whole_of(name, value, 0, most_threads));
        else if (one == options.end())
            call.progress = nb::borrow(value);
        else
            naming(name, [&, taken = nb::handle(value)] {
                if (rich_type(*one).empty())
                    one->set(value_of(*one, taken));
                else
                    take_rich(*one, taken);
            });
    }
    options.check();
    return call;
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
        nb::dict entry;
        entry["name"] = one.name;
        entry["help"] = one.help;
        entry["help_off"] = one.help_off;
        entry["type"] = std::string(type_of(one));
        entry["choices"] = one.choices;
        entry["group"] = one.group;
        entry["default"] = argument_of(one);
        entry["default_shown"] = default_of(one);
        entry["placeholder"] = one.placeholder;
        entry["command_line"] = command_line_name(one.name, flag != nullptr && *flag);
        out.append(entry);
    }
    return out;
}

}  // namespace spikeweave::python
