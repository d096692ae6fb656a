#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/core/options.hpp"

namespace spikeweave::cli {

/// Declares the options of a list on the command line: "--min-count" for `min_count`, and
/// "--no-splits" for a flag `splits` that is on by default. The struct that the
/// list describes must live until the command line is parsed.
void add_described(CLI::App& app, option_list described);

/// Declares what is typed without a name; it is required.
template <class Value>
CLI::Option* add_argument(CLI::App& app, const std::string& name, Value& into,
                          const std::string& help) {
    return app.add_option(name, into, help)->required()->type_name("")->group("Input");
}

/// Calls what takes a value that was typed. @throws CLI::ValidationError if it is refused.
void set_checked(const std::function<void()>& set);

/// The option of this name on the command line; null if there is none.
CLI::Option* find_described(CLI::App& app, const std::string& name);

/// Adds the values of the options of these names to the parameters of a run.
void add_parameters(parameter_list& into, const option_list& described,
                    std::initializer_list<std::string_view> names);

/// The options that have other values than the defaults, as they are typed: "--neighbours", "1um".
std::vector<std::string> changed_options(const option_list& options, const option_list& defaults);
template <class Options>
std::vector<std::string> changed_options(Options options) {
    Options defaults{};
    return changed_options(describe(options), describe(defaults));
}

/// Declares --list-strategies, which prints a text and ends the program.
void add_strategy_list(CLI::App& app, std::function<std::string()> text);

}  // namespace spikeweave::cli
