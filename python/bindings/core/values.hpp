#pragma once

#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "spikeweave/assess/episodes/circuit.hpp"
#include "spikeweave/assess/label_permutation.hpp"
#include "spikeweave/assess/spade/stability.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/members.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/mine/episodes.hpp"

/// Values of the library as Python has them.
namespace spikeweave::python {

/// Arrays arrive contiguous and in the memory of the CPU, because the Python files of the package
/// convert the users' input.
template <class Value>
using array_in = nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class Value>
using matrix_in = nb::ndarray<const Value, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Array>
auto span_of(const Array& array) {
    return std::span{array.data(), array.size()};
}
template <class Array>
auto copied(const Array& array) {
    const auto values = span_of(array);
    return std::vector(values.begin(), values.end());
}

template <class Value>
using array_out = nb::ndarray<nb::numpy, Value>;

/// Makes a NumPy array that owns the values moved into it. Its elements may have another type of
/// the same form than those of the vector.
template <class Stored, class Value = Stored>
array_out<Value> to_numpy(std::vector<Stored> values, std::initializer_list<std::size_t> shape) {
    auto kept = std::make_unique<std::vector<Stored>>(std::move(values));
    Stored* const data = kept->data();
    const nb::capsule owner(
        kept.get(), [](void* what) noexcept { delete static_cast<std::vector<Stored>*>(what); });
    kept.release();
    return array_out<Value>(data, shape, owner);
}
template <class Value>
array_out<Value> to_numpy(std::vector<Value> values) {
    const std::size_t size = values.size();
    return to_numpy(std::move(values), {size});
}
template <class Value>
array_out<Value> to_numpy(std::span<const Value> values) {
    return to_numpy(std::vector<Value>(values.begin(), values.end()));
}

template <class Value>
constexpr bool is_vector = false;
template <class Value>
constexpr bool is_vector<std::vector<Value>> = true;

/// Values that Python has as pairs.
template <class Value>
constexpr bool is_pair = std::is_same_v<Value, delay_interval> ||
                         std::is_same_v<Value, time_span> || std::is_same_v<Value, stability>;

template <class Elements, class Get = std::identity>
auto column(const Elements& elements, Get get = {});

/// Returns what Python has in place of a value: the index of a unit, seconds, the bounds of an
/// interval, the name of an enumeration's value, NaN for an unknown figure, a dictionary of the
/// members of a struct that has a description, and a column for a vector.
template <class Value>
auto plain(const Value& value) {
    using figure = std::optional<double>;
    if constexpr (std::is_same_v<Value, unit_id>)
        return static_cast<std::uint32_t>(value);
    else if constexpr (std::is_same_v<Value, std::optional<unit_id>>)
        return value ? std::optional(plain(*value)) : std::nullopt;
    else if constexpr (std::is_same_v<Value, duration>)
        return to_seconds(value);
    else if constexpr (std::is_same_v<Value, figure>)
        return value.value_or(std::numeric_limits<double>::quiet_NaN());
    else if constexpr (is_pair<Value>) {
        const auto& [first, second] = value;
        return std::pair(plain(first), plain(second));
    } else if constexpr (std::is_enum_v<Value>)
        return std::string(to_string(value));
    else if constexpr (is_described<Value>) {
        nb::dict out;
        each_member(value, [&](const char* name, const auto& one) { out[name] = plain(one); });
        return out;
    } else if constexpr (is_vector<Value>)
        return column(value);
    else if constexpr (std::is_same_v<Value, std::filesystem::path>)
        return value.string();
    else
        return value;
}

/// Makes an array of a member of each element, or of what `get` returns for it: whole numbers are
/// int64, and pairs have two columns. Values that are neither a number nor a pair are in a list.
template <class Elements, class Get>
auto column(const Elements& elements, Get get) {
    using found = std::remove_cvref_t<decltype(std::invoke(get, *elements.begin()))>;
    using value = std::conditional_t<std::is_integral_v<found> && !std::is_same_v<found, bool>,
                                     std::int64_t, decltype(plain(std::declval<found>()))>;
    using stored = std::conditional_t<std::is_same_v<value, bool>, std::uint8_t, value>;
    std::vector<stored> values;
    values.reserve(elements.size());
    for (const auto& element : elements)
        values.push_back(static_cast<stored>(plain(std::invoke(get, element))));
    const std::size_t size = values.size();
    if constexpr (std::is_arithmetic_v<value>)
        return to_numpy<stored, value>(std::move(values), {size});
    else if constexpr (std::is_same_v<value, std::pair<double, double>>)
        return to_numpy<value, double>(std::move(values), {size, std::size_t{2}});
    else
        return nb::cast<nb::list>(nb::cast(values));
}

/// Gets a member of a member.
template <class Outer, class Inner>
auto of(Outer outer, Inner inner) {
    return [=](const auto& value) { return std::invoke(inner, std::invoke(outer, value)); };
}

/// Calls `visit` with each name and what is named: "size", &episode_level::size, and so on.
template <class Visit, class Named, class... More>
void each_named(const Visit& visit, const char* name, const Named& named, const More&... more) {
    visit(name, named);
    if constexpr (sizeof...(more) > 0) each_named(visit, more...);
}

/// Adds columns to a table: each is a name, and a member or a function. Without any, they are the
/// members of a struct that has a description.
template <class Elements, class... Columns>
void add_columns(nb::dict& table, const Elements& elements, const Columns&... columns) {
    const auto add = [&](const char* name, const auto& of_element, std::string_view /*help*/ = {}) {
        table[name] = column(elements, of_element);
    };
    if constexpr (sizeof...(columns) > 0)
        each_named(add, columns...);
    else
        members_of<typename Elements::value_type>::list(add);
}
template <class Elements, class... Columns>
nb::dict table_of(const Elements& elements, const Columns&... columns) {
    nb::dict out;
    add_columns(out, elements, columns...);
    return out;
}

/// Adds the columns of a table of results, as its file has them: an estimate is three columns.
/// @param rename  returns the name in Python, for times in seconds
template <class Struct, class Elements, class Rename>
void add_described(nb::dict& table, const Elements& elements, const Rename& rename) {
    const auto add = [&](const std::string& name, const auto& get) {
        table[nb::str(rename(name).c_str())] = column(elements, get);
    };
    const auto add_estimate = [&](const std::string& name, const auto& value, const auto& low,
                                  const auto& high) {
        add(name, value);
        add(name + "_low", low);
        add(name + "_high", high);
    };
    members_of<Struct>::list(
        [&](const std::string& name, const auto& get, std::string_view /*help*/ = {}) {
            using member = std::remove_cvref_t<decltype(std::invoke(get, elements.front()))>;
            if constexpr (std::is_same_v<member, estimate> ||
                          std::is_same_v<member, interval_estimate>) {
                add_estimate(name, of(get, &member::value), of(get, &member::low),
                             of(get, &member::high));
            } else if constexpr (std::is_same_v<member, std::optional<delay_estimate>>) {
                const auto seconds = [&](double delay_estimate::*us) {
                    return of(get, [us](const member& delay) {
                        return delay ? std::optional((*delay).*us / 1e6) : std::nullopt;
                    });
                };
                add_estimate(name, seconds(&delay_estimate::mean_us),
                             seconds(&delay_estimate::low_us), seconds(&delay_estimate::high_us));
            } else if constexpr (std::is_same_v<member, std::vector<unit_id>>) {
                add(name, of(get, [](const member& units) {
                        return units.empty() ? std::nullopt : std::optional(units.front());
                    }));
            } else {
                add(name, get);
            }
        });
}

/// Adds entries to a dictionary: each is a name, and a member of the element or a function.
template <class Element, class... Entries>
void add_entries(nb::dict& out, const Element& element, const Entries&... entries) {
    const auto add = [&](const char* name, const auto& of_element) {
        out[name] = plain(std::invoke(of_element, element));
    };
    each_named(add, entries...);
}
/// Makes a list with a dictionary of each element.
template <class Elements, class... Entries>
nb::list dicts_of(const Elements& elements, const Entries&... entries) {
    return column(elements, [&](const auto& element) {
        nb::dict one;
        add_entries(one, element, entries...);
        return one;
    });
}

}  // namespace spikeweave::python
