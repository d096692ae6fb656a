#include "described_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <variant>

#include "spikeweave/core/error.hpp"

namespace spikeweave::cli {
namespace {

// A flag stands for its opposite value; one that may be left open is written with its value.
bool is_flag(const option& one) {
    return one.kind == option_kind::flag && !one.may_be_unset;
}

bool is_on(const option& one) {
    const option_value value = one.get();
    const bool* const flag = std::get_if<bool>(&value);
    return flag != nullptr && *flag;
}

std::string help_of(const option& one) {
    std::string help = is_on(one) ? one.help_off : one.help;
    if (one.kind == option_kind::choice) help += fmt::format(": {}", fmt::join(one.choices, ", "));
    const std::string usual = default_of(one);
    if (!usual.empty()) help += fmt::format(" [{}]", usual);
    return with_command_line_names(help);
}

CLI::Option* declare(CLI::App& app, const std::shared_ptr<const option_list>& options,
                     const option& one) {
    const std::string name = command_line_name(one.name, is_on(one));
    if (is_flag(one))
        return app.add_flag_callback(
            name, [options, &one, on = !is_on(one)] { one.put(on); }, help_of(one));
    return app
        .add_option_function<std::string>(
            name,
            [options, &one](const std::string& text) {
                try {
                    one.set_text(text);
                } catch (const invalid_argument& error) {
                    throw CLI::ValidationError(with_command_line_names(error.what()),
                                               CLI::ExitCodes::ValidationError);
                }
            },
            help_of(one))
        ->type_name(one.placeholder);
}

}  // namespace

CLI::Option* find_described(CLI::App& app, const std::string& name) {
    CLI::Option* const found = app.get_option_no_throw(command_line_name(name));
    return found != nullptr ? found : app.get_option_no_throw(command_line_name(name, true));
}

void add_described(CLI::App& app, const std::shared_ptr<const option_list>& options) {
    for (const option& one : *options) declare(app, options, one)->group(one.group);
    for (const option& one : *options) {
        CLI::Option* const declared = find_described(app, one.name);
        if (!one.needs.empty()) {
            CLI::Option* const other = find_described(app, one.needs);
            // A flag that is on by default is declared as the one that switches it off. The option
            // may also be one of the command, which the list does not have.
            const auto needed =
                std::find_if(options->begin(), options->end(),
                             [&](const option& each) { return each.name == one.needs; });
            if (needed != options->end() && is_on(*needed))
                declared->excludes(other);
            else
                declared->needs(other);
        }
        for (const std::string& other : one.excludes)
            declared->excludes(find_described(app, other));
    }
}

}  // namespace spikeweave::cli
