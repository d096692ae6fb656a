#include "keyword_arguments.hpp"

#include <algorithm>
#include <utility>

#include "spikeweave/core/device.hpp"

namespace spikeweave::python {
namespace {

// As it is shown in a message: long ones are cut.
std::string shown(nb::handle value) {
    constexpr std::size_t most = 60;
    std::string text = nb::repr(value).c_str();
    if (text.size() <= most) return text;
    std::size_t cut = most - 3;
    // Not within a character.
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) --cut;
    return text.substr(0, cut) + "...";
}

std::string kind_of(nb::handle value) {
    return nb::cast<std::string>(value.type().attr("__name__"));
}

// A quantity of time.
nb::object in_seconds(const char* name, nb::handle quantity) {
    try {
        return quantity.attr("rescale")("s");
    } catch (const nb::python_error& error) {
        if (!error.matches(PyExc_ValueError)) throw;
        refuse_type(name, "a quantity of time", quantity);
    }
}

}  // namespace

void refuse_type(const char* name, const char* expected, nb::handle value) {
    throw nb::type_error((std::string(name) + ": expected " + expected + ", found " + shown(value) +
                          " (" + kind_of(value) + ")")
                             .c_str());
}

keyword_arguments::keyword_arguments(nb::dict arguments) : arguments_(std::move(arguments)) {}

std::optional<nb::handle> keyword_arguments::find(const char* name) {
    known_.emplace_back(name);
    if (!arguments_.contains(name)) return std::nullopt;
    const nb::handle value = arguments_[name];
    return value.is_none() ? std::nullopt : std::optional(value);
}

void keyword_arguments::take(const char* name, bool& into) {
    if (const auto value = find(name)) read(name, *value, into);
}

void keyword_arguments::read(const char* name, nb::handle value, bool& into) {
    // NumPy's are not Python's.
    if (!nb::isinstance<nb::bool_>(value) && kind_of(value) != "bool")
        refuse_type(name, "True or False", value);
    into = nb::cast<bool>(nb::bool_(value));
}

void keyword_arguments::take(const char* name, double& into) {
    if (const auto value = find(name)) into = number(name, *value);
}

void keyword_arguments::take(const char* name, std::string& into) {
    if (const auto value = find(name)) into = text(name, *value);
}

void keyword_arguments::take(const char* name, duration& into) {
    if (const auto value = find(name)) into = time(name, *value);
}

call_options keyword_arguments::take_call() {
    call_options how;
    constexpr int most = 4096;
    if (const auto threads = find("threads"))
        how.threads = static_cast<int>(whole("threads", *threads, 0, most));
    take("device", how.devices, parse_devices);
    how.progress = take_progress().progress;
    return how;
}

call_options keyword_arguments::take_progress() {
    call_options how;
    if (const auto progress = find("progress")) how.progress = nb::borrow(*progress);
    return how;
}

void keyword_arguments::check_all_known() const {
    for (const auto& [name, value] : arguments_) {
        const auto text = nb::cast<std::string>(name);
        if (std::ranges::find(known_, text) == known_.end())
            throw nb::type_error(("there is no argument '" + text + "'").c_str());
    }
}

double keyword_arguments::number(const char* name, nb::handle value) {
    if (nb::isinstance<nb::str>(value)) refuse_type(name, "a number", value);
    const nb::object as_float = nb::steal(PyNumber_Float(value.ptr()));
    if (!as_float.is_valid()) {
        PyErr_Clear();
        refuse_type(name, "a number", value);
    }
    return nb::cast<double>(as_float);
}

duration keyword_arguments::time(const char* name, nb::handle value) {
    duration out{};
    naming(name, [&] {
        if (nb::isinstance<nb::str>(value))
            out = parse_duration(text(name, value));
        else if (nb::hasattr(value, "total_seconds"))
            out = duration_from_seconds(nb::cast<double>(value.attr("total_seconds")()));
        else if (nb::hasattr(value, "rescale"))
            out = duration_from_seconds(number(name, in_seconds(name, value)));
        else if (nb::isinstance<nb::bool_>(value) || !PyNumber_Check(value.ptr()))
            refuse_type(name, "seconds, a text such as '5ms' or a quantity of time", value);
        else
            out = duration_from_seconds(number(name, value));
    });
    return out;
}

std::string keyword_arguments::text(const char* name, nb::handle value) {
    std::string out;
    if (!nb::isinstance<nb::str>(value) || !nb::try_cast(value, out))
        refuse_type(name, "a text", value);
    return out;
}

std::optional<std::size_t> keyword_arguments::length(nb::handle value) {
    const Py_ssize_t size = PySequence_Size(value.ptr());
    if (size >= 0) return static_cast<std::size_t>(size);
    PyErr_Clear();
    return std::nullopt;
}

nb::list keyword_arguments::items(const char* name, nb::handle value) {
    const nb::object items =
        nb::isinstance<nb::str>(value) ? nb::object() : nb::steal(PySequence_List(value.ptr()));
    if (!items.is_valid()) {
        PyErr_Clear();
        refuse_type(name, "a list", value);
    }
    return nb::borrow<nb::list>(items);
}

std::uint64_t keyword_arguments::whole(const char* name, nb::handle value, std::int64_t least,
                                       std::uint64_t most) {
    const nb::object index =
        nb::isinstance<nb::bool_>(value) ? nb::object() : nb::steal(PyNumber_Index(value.ptr()));
    if (!index.is_valid()) {
        PyErr_Clear();
        refuse_type(name, "a whole number", value);
    }
    std::int64_t small = 0;
    std::uint64_t large = 0;
    if (nb::try_cast(index, small) && small < 0 && small >= least)
        return static_cast<std::uint64_t>(small);
    const bool fits = nb::try_cast(index, large) && large <= most &&
                      (least <= 0 || large >= static_cast<std::uint64_t>(least));
    if (!fits)
        throw invalid_argument(std::string(name),
                               "expected a whole number from " + std::to_string(least) + " to " +
                                   std::to_string(most) + ", found " + shown(value));
    return large;
}

}  // namespace spikeweave::python
