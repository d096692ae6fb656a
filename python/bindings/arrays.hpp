#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace spikeweave::python {

namespace nb = nanobind;

/// Arrays as they come in: one- or two-dimensional, contiguous, in the memory of the CPU. Python's
/// side of the package converts what users give.
template <class Value>
using array_in = nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class Value>
using matrix_in = nb::ndarray<const Value, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Value>
std::span<const Value> span_of(const array_in<Value>& array) {
    return {array.data(), array.shape(0)};
}
template <class Value>
std::span<const Value> span_of(const matrix_in<Value>& array) {
    return {array.data(), array.shape(0) * array.shape(1)};
}

template <class Value>
using array_out = nb::ndarray<nb::numpy, Value>;

/// A NumPy array that owns what was moved into it.
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

/// One number of each element, as an array.
template <class Value, class Elements, class Get>
array_out<Value> column(const Elements& elements, Get get) {
    std::vector<Value> values;
    values.reserve(elements.size());
    for (const auto& element : elements) values.push_back(static_cast<Value>(get(element)));
    return to_numpy(std::move(values));
}

/// Texts as a list.
template <class Texts>
nb::list text_list(const Texts& texts) {
    nb::list out;
    for (const auto& text : texts) out.append(nb::str(text.data(), text.size()));
    return out;
}

}  // namespace spikeweave::python
