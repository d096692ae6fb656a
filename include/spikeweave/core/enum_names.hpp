#pragma once

#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/core/export.hpp"

/// The names of the values of an enumeration, written once: messages, files, the command line and
/// Python use the same ones.
namespace spikeweave {

template <class Enum>
struct named_value {
    Enum value;
    std::string_view name;
    /// The meaning of the value, as a phrase for lists; may be empty.
    std::string_view help{};
};

template <class Enum>
struct enum_table {
    /// A name for the enumeration, such as "tie rule", for messages.
    std::string_view what;
    /// The values in display order. A value may have several names; the first one is written, and
    /// all are read.
    std::span<const named_value<Enum>> values;
};

/// The table of an enumeration; specialised for each enumeration that users name.
template <class Enum>
requires std::is_enum_v<Enum> enum_table<Enum> enum_names();

/// The name of a value; "?" if the table lacks it.
template <class Enum>
requires std::is_enum_v<Enum> std::string_view to_string(Enum value) {
    for (const named_value<Enum>& one : enum_names<Enum>().values)
        if (one.value == value) return one.name;
    return "?";
}

/// All values in display order, each once.
template <class Enum>
std::vector<Enum> values_of() {
    std::vector<Enum> values;
    for (const named_value<Enum>& one : enum_names<Enum>().values)
        if (to_string(one.value) == one.name) values.push_back(one.value);
    return values;
}

/// The names of all values in the same order.
template <class Enum>
std::vector<std::string> names_of() {
    std::vector<std::string> names;
    for (const Enum value : values_of<Enum>()) names.emplace_back(to_string(value));
    return names;
}

namespace detail {
SPIKEWEAVE_API bool same_name(std::string_view known, std::string_view name);
[[noreturn]] SPIKEWEAVE_API void refuse_name(std::string_view what, std::string_view found,
                                             const std::vector<std::string>& names);
}  // namespace detail

/// The value with this name; '-' and '_' are the same.
/// @throws invalid_argument with the name and the list of names.
template <class Enum>
Enum value_named(std::string_view name) {
    for (const named_value<Enum>& one : enum_names<Enum>().values)
        if (detail::same_name(one.name, name)) return one.value;
    detail::refuse_name(enum_names<Enum>().what, name, names_of<Enum>());
}

}  // namespace spikeweave
