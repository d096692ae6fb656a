#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace spikeweave::python {

namespace nb = nanobind;

/// Arrays come in contiguous and in the memory of the CPU, because the Python files of the package
/// convert what users give.
template <class Value>
using array_in = nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class Value>
using matrix_in = nb::ndarray<const Value, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Array>
auto span_of(const Array& array) {
    return std::span{array.data(), array.size()};
}

template <class Value>
using array_out = nb::ndarray<nb::numpy, Value>;

/// Makes a NumPy array that owns what was moved into it.
template <class Value>
array_out<Value> to_numpy(std::vector<Value> values, std::initializer_list<std::size_t> shape) {
    auto kept = std::make_unique<std::vector<Value>>(std::move(values));
    Value* const data = kept->data();
    const nb::capsule owner(
        kept.get(), [](void* what) noexcept { delete static_cast<std::vector<Value>*>(what); });
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

template <class Array>
auto copied(const Array& array) {
    const auto values = span_of(array);
    return std::vector(values.begin(), values.end());
}

/// Makes an array of a member of each element, or of what `get` returns for it.
template <class Value, class Elements, class Get>
array_out<Value> column(const Elements& elements, Get get) {
    std::vector<Value> values;
    values.reserve(elements.size());
    for (const auto& element : elements)
        values.push_back(static_cast<Value>(std::invoke(get, element)));
    return to_numpy(std::move(values));
}

/// Adds columns to a table: each is a name, and a member or a function. Columns of fractions and of
/// truth values keep their type, where NumPy's truth values are bytes; all others are int64.
template <class Elements, class Get, class... More>
void add_columns(nb::dict& table, const Elements& elements, const char* name, Get get,
                 const More&... more) {
    using found =
        std::remove_cvref_t<std::invoke_result_t<Get, const std::ranges::range_value_t<Elements>&>>;
    using kept = std::conditional_t<
        std::is_floating_point_v<found>, found,
        std::conditional_t<std::is_same_v<found, bool>, std::uint8_t, std::int64_t>>;
    table[name] = column<kept>(elements, get);
    if constexpr (sizeof...(more) > 0) add_columns(table, elements, more...);
}
template <class Elements, class... Columns>
nb::dict table_of(const Elements& elements, const Columns&... columns) {
    nb::dict out;
    add_columns(out, elements, columns...);
    return out;
}

/// Makes a list of what `show` returns for each element.
template <class Elements, class Show>
nb::list list_of(const Elements& elements, Show show) {
    nb::list out;
    for (const auto& element : elements) out.append(show(element));
    return out;
}

/// Adds entries to a dictionary: each is a name, and a member of the element or a function.
template <class Element, class Get, class... More>
void add_entries(nb::dict& out, const Element& element, const char* name, Get get,
                 const More&... more) {
    out[name] = std::invoke(get, element);
    if constexpr (sizeof...(more) > 0) add_entries(out, element, more...);
}
/// Makes a list with a dictionary of each element.
template <class Elements, class... Entries>
nb::list dicts_of(const Elements& elements, const Entries&... entries) {
    return list_of(elements, [&](const auto& element) {
        nb::dict out;
        add_entries(out, element, entries...);
        return out;
    });
}

}  // namespace spikeweave::python
