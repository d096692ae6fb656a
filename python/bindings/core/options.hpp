#pragma once

#include "bindings/core/call.hpp"
#include "spikeweave/core/options.hpp"

/// Described options as keyword arguments, and back.
namespace spikeweave::python {

/// Sets the options that were given as arguments; None leaves the default. Every call can also have
/// the arguments `threads`, unless that is one of the options, and `progress`.
/// @throws TypeError for a value of another kind or an argument that there is not, ValueError for a
/// value out of range, all with the argument's name.
call_options take_options(const nb::dict& arguments, const option_list& options);

/// Calls `work` with the options that were given, and with the execution, as `run_for_result` does.
template <class Options, class Work>
auto call_with(const nb::dict& arguments, Work work) {
    Options options{};
    const call_options call = take_options(arguments, describe(options));
    return run_for_result([&](const execution& run) { return work(options, run); }, call);
}
/// Does so with a function of the library and its input.
template <class Input, class Options, class Result>
Result call(Result (*function)(const Input&, const Options&, const execution&),
            const std::type_identity_t<Input>& input, const nb::dict& arguments) {
    return call_with<Options>(arguments, [&](const Options& options, const execution& run) {
        return function(input, options, run);
    });
}

/// Sets the options that have a value in the record of a run.
void set_recorded(const option_list& options, const nb::dict& recorded);
/// Returns the arguments of a call that does the same: times in seconds, None if not set.
nb::dict arguments_of(const option_list& options);

/// Returns the arguments of the options that a record of a run names, each as a text or a flag.
template <class Options>
nb::dict recorded_arguments(const nb::dict& recorded) {
    Options options;
    const option_list list = describe(options);
    set_recorded(list, recorded);
    return arguments_of(list);
}

/// Returns what signatures, docstrings, the documentation and tests need to know of the options, a
/// dictionary for each.
nb::list description_of(const option_list& options);
template <class Options>
nb::list description() {
    Options options;
    return description_of(describe(options));
}

}  // namespace spikeweave::python
