#include "bindings/core/arguments.hpp"

#include <nanobind/stl/string.h>

namespace spikeweave::python {
namespace {

// Shows a value in a message. Long ones are cut, but not within a character.
std::string shown(nb::handle value) {
    constexpr std::size_t most = 60;
    std::string text = nb::repr(value).c_str();
    if (text.size() <= most) return text;
    std::size_t cut = most - 3;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) --cut;
    return text.substr(0, cut) + "...";
}

std::string kind_of(nb::handle value) {
    return nb::cast<std::string>(value.type().attr("__name__"));
}

nb::object in_seconds(const char* name, nb::handle quantity) {
    try {
        return quantity.attr("rescale")("s");
    } catch (const nb::python_error& error) {
        if (!error.matches(PyExc_ValueError)) throw;
        refuse_type(name, "a quantity of time", quantity);
    }
}

// Takes what a function of Python's C interface made of a value, or refuses the argument.
nb::object converted(const char* name, const char* expected, nb::handle value, PyObject* made) {
    if (made == nullptr) {
        PyErr_Clear();
        refuse_type(name, expected, value);
    }
    return nb::steal(made);
}

}  // namespace

void refuse_type(const char* name, const char* expected, nb::handle value) {
    throw nb::type_error((std::string(name) + ": expected " + expected + ", found " + shown(value) +
                          " (" + kind_of(value) + ")")
                             .c_str());
}

void refuse_argument(const std::string& name) {
    throw nb::type_error(("there is no argument '" + name + "'").c_str());
}

bool flag_of(const char* name, nb::handle value) {
    // NumPy has a type of its own.
    if (!nb::isinstance<nb::bool_>(value) && kind_of(value) != "bool")
        refuse_type(name, "True or False", value);
    return nb::cast<bool>(nb::bool_(value));
}

double number_of(const char* name, nb::handle value) {
    const bool is_text = nb::isinstance<nb::str>(value);
    return nb::cast<double>(
        converted(name, "a number", value, is_text ? nullptr : PyNumber_Float(value.ptr())));
}

duration time_of(const char* name, nb::handle value) {
    duration out{};
    naming(name, [&] {
        if (nb::isinstance<nb::str>(value))
            out = parse_duration(text_of(name, value));
        else if (nb::hasattr(value, "total_seconds"))
            out = duration_from_seconds(nb::cast<double>(value.attr("total_seconds")()));
        else if (nb::hasattr(value, "rescale"))
            out = duration_from_seconds(number_of(name, in_seconds(name, value)));
        else if (nb::isinstance<nb::bool_>(value) || !PyNumber_Check(value.ptr()))
            refuse_type(name, "seconds, a text such as '5ms' or a quantity of time", value);
        else
            out = duration_from_seconds(number_of(name, value));
    });
    return out;
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
        throw invalid_argument(name, "expected a whole number from " + std::to_string(least) +
                                         " to " + std::to_string(most) + ", found " + shown(value));
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
