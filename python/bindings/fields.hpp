#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "keyword_arguments.hpp"
#include "spikeweave/core/device.hpp"

namespace spikeweave::python {

/// A value of an option as the same argument in Python.
template <class Value>
nb::object as_argument(const Value& value) {
    return nb::cast(value);
}
inline nb::object as_argument(const std::string& value) {
    return nb::str(value.data(), value.size());
}
inline nb::object as_argument(duration value) {
    return nb::cast(to_seconds(value));
}
template <class Value>
nb::object as_argument(const std::optional<Value>& value) {
    return value ? as_argument(*value) : nb::none();
}
template <class Value>
nb::object as_argument(const std::vector<Value>& values) {
    nb::list out;
    for (const Value& value : values) out.append(as_argument(value));
    return out;
}

/// Fills options with the arguments of a call; `field_writer` does the opposite. One function that
/// visits the fields of a struct therefore serves for both, and for the defaults.
class field_reader {
public:
    explicit field_reader(keyword_arguments& how) : how_(how) {}

    template <class Value>
    void operator()(const char* name, Value& into) const {
        how_.take(name, into);
    }
    template <class Value, class Parse>
    void operator()(const char* name, Value& into, Parse parse) const {
        how_.take(name, into, parse);
    }
    template <class Value, class Parse, class Name>
    void operator()(const char* name, Value& into, Parse parse, Name /*name_of*/) const {
        how_.take(name, into, parse);
    }
    /// A number above 0, which stands in the options for what the library decides, or for no bound:
    /// None in Python.
    template <class Number>
    void above_zero(const char* name, Number& into) const {
        std::optional<Number> found;
        how_.take(name, found);
        if (found && !(*found > 0))
            throw invalid_argument(std::string(name) + ": expected a number above 0, found " +
                                   shortest(*found));
        into = found.value_or(into);
    }

private:
    template <class Number>
    static std::string shortest(Number value) {
        return nb::str(nb::cast(value)).c_str();
    }

    keyword_arguments& how_;
};

/// Writes options as the arguments that they would be.
class field_writer {
public:
    explicit field_writer(nb::dict out) : out_(std::move(out)) {}

    template <class Value>
    void operator()(const char* name, const Value& value) const {
        out_[name] = as_argument(value);
    }
    template <class Value, class Parse>
    void operator()(const char* name, const Value& value, Parse /*parse*/) const {
        out_[name] = as_argument(std::string(to_string(value)));
    }
    template <class Value, class Parse, class Name>
    void operator()(const char* name, const Value& value, Parse /*parse*/, Name name_of) const {
        out_[name] = as_argument(std::string(name_of(value)));
    }
    template <class Number>
    void above_zero(const char* name, const Number& value) const {
        out_[name] = value == 0 ? nb::none() : nb::cast(value);
    }

private:
    nb::dict out_;
};

/// What a call takes that has nothing but such fields: the options that `each_field` visits.
template <class Options>
Options read_fields(keyword_arguments& how) {
    Options out;
    each_field(out, field_reader(how));
    return out;
}
template <class Options>
nb::dict default_fields() {
    Options options;
    nb::dict out;
    each_field(options, field_writer(out));
    out["threads"] = 0;
    return out;
}

/// Threads and device.
inline void write_call(const call_options& call, nb::dict& out) {
    out["threads"] = call.threads;
    out["device"] = format_devices(call.devices);
}

}  // namespace spikeweave::python
