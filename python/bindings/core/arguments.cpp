#include "bindings/core/arguments.hpp"

#include <fmt/format.h>

namespace spikeweave::python {
namespace {

// Shows a value in a message, and the first characters of a long one.
std::string shown(nb::handle value) {
    constexpr Py_ssize_t most = 60;
    const nb::str text = nb::repr(value);
    if (PySequence_Size(text.ptr()) <= most) return text.c_str();
    const auto begin = nb::steal<nb::str>(PySequence_GetSlice(text.ptr(), 0, most - 3));
    return std::string(begin.c_str()) + "...";
}

std::string kind_of(nb::handle value) {
    return nb::cast<std::string>(value.type().attr("__name__"));
}

// Accepts the result of a function of Python's C interface for a value, or refuses the argument.
nb::object converted(const char* name, const char* expected, nb::handle value, PyObject* made) {
    if (made == nullptr) {
        PyErr_Clear();
        refuse_type(name, expected, value);
    }
    return nb::steal(made);
}

}  // namespace

void refuse_type(const char* name, const char* expected, nb::handle value) {
    throw nb::type_error(
        fmt::format("{}: expected {}, found {} ({})", name, expected, shown(value), kind_of(value))
            .c_str());
}

void refuse_argument(const std::string& name) {
    throw nb::type_error(("there is no argument '" + name + "'").c_str());
}

bool flag_of(const char* name, nb::handle value) {
    // NumPy has its own type.
    if (!nb::isinstance<nb::bool_>(value) && kind_of(value) != "bool")
        refuse_type(name, "True or False", value);
    return nb::cast<bool>(nb::bool_(value));
}

double number_of(const char* name, nb::handle value) {
    double out = 0;
    if (!nb::try_cast(value, out)) refuse_type(name, "a number", value);
    return out;
}

duration time_of(const char* name, nb::handle value) {
    return naming(name, [&] {
        if (nb::isinstance<nb::str>(value)) return parse_duration(text_of(name, value));
        if (nb::hasattr(value, "total_seconds"))
            return duration_from_seconds(number_of(name, value.attr("total_seconds")()));
        if (nb::hasattr(value, "rescale"))
            return duration_from_seconds(
                number_of(name, converted(name, "a quantity of time", value,
                                          PyObject_CallMethod(value.ptr(), "rescale", "s", "s"))));
        if (nb::isinstance<nb::bool_>(value) || !PyNumber_Check(value.ptr()))
            refuse_type(name, "seconds, a text such as '5ms' or a quantity of time", value);
        return duration_from_seconds(number_of(name, value));
    });
}

std::string text_of(const char* name, nb::handle value) {
    std::string out;
    if (!nb::isinstance<nb::str>(value) || !nb::try_cast(value, out))
        refuse_type(name, "a text", value);
    return out;
}

std::uint64_t whole_of(const char* name, nb::handle value, std::uint64_t least,
                       std::uint64_t most) {
    const bool is_flag = nb::isinstance<nb::bool_>(value);
    const nb::object index =
        converted(name, "a whole number", value, is_flag ? nullptr : PyNumber_Index(value.ptr()));
    std::uint64_t out = 0;
    if (!nb::try_cast(index, out) || out < least || out > most)
        throw invalid_argument(name, fmt::format("expected a whole number from {} to {}, found {}",
                                                 least, most, shown(value)));
    return out;
}

std::optional<std::size_t> length_of(nb::handle value) {
    const Py_ssize_t size = PySequence_Size(value.ptr());
    if (size >= 0) return static_cast<std::size_t>(size);
    PyErr_Clear();
    return std::nullopt;
}

nb::list items_of(const char* name, nb::handle value) {
    const bool is_text = nb::isinstance<nb::str>(value);
    return nb::borrow<nb::list>(
        converted(name, "a list", value, is_text ? nullptr : PySequence_List(value.ptr())));
}

}  // namespace spikeweave::python
