#include "cli/described_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/help_text.hpp"
#include "cli/output.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/length.hpp"

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
    const std::string long_name = command_line_name(one.name, is_on(one));
    const std::string name = one.name == "output" ? "-o," + long_name : long_name;
    if (is_flag(one))
        return app.add_flag_callback(
            name, [options, &one, on = !is_on(one)] { one.put(on); }, help_of(one));
    if (one.repeats)
        return app
            .add_option_function<std::vector<std::string>>(
                name,
                [options, &one](const std::vector<std::string>& texts) {
                    set_checked([&] { one.set_list(texts); });
                },
                help_of(one))
            ->allow_extra_args(false)
            ->type_name(one.placeholder);
    return app
        .add_option_function<std::string>(
            name,
            [options, &one](const std::string& text) { set_checked([&] { one.set_text(text); }); },
            help_of(one))
        ->type_name(one.placeholder);
}

// An option without a group is in no help; it takes whatever it took before.
void declare_moved(CLI::App& app, const moved_option& one) {
    if (find_described(app, one.name) != nullptr) return;
    const std::string name = command_line_name(one.name);
    app.add_option_function<std::string>(
           name,
           [text = fmt::format("there is no option {}: {}", name, one.instead)](
               const std::string& /*value*/) {
               throw CLI::ValidationError(text, CLI::ExitCodes::ValidationError);
           })
        ->expected(0, 1)
        ->group("");
}

// A value as it is typed: "1um".
std::string text_of(const option& one, const option_value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* whole = std::get_if<std::uint64_t>(&value)) return fmt::format("{}", *whole);
    const auto* const number = std::get_if<double>(&value);
    if (number != nullptr && one.kind != option_kind::length) return fmt::format("{}", *number);
    std::string text =
        number != nullptr ? format_length(*number) : format_duration(std::get<duration>(value));
    std::erase(text, ' ');
    return text;
}

}  // namespace

void set_checked(const std::function<void()>& set) {
    try {
        set();
    } catch (const invalid_argument& error) {
        throw CLI::ValidationError(with_command_line_names(error.what()),
                                   CLI::ExitCodes::ValidationError);
    }
}

CLI::Option* find_described(CLI::App& app, const std::string& name) {
    CLI::Option* const found = app.get_option_no_throw(command_line_name(name));
    return found != nullptr ? found : app.get_option_no_throw(command_line_name(name, true));
}

void add_described(CLI::App& app, option_list described) {
    const auto options = std::make_shared<const option_list>(std::move(described));
    std::vector<CLI::Option*> all;
    for (const option& one : *options) {
        all.push_back(declare(app, options, one));
        all.back()->group(one.group)->required(one.is_required);
        if (one.is_basic) list_in_short_help(app, all.back());
    }
    for (const moved_option& one : options->moved()) declare_moved(app, one);
    for (auto at = all.begin(); const option& one : *options) {
        CLI::Option* const declared = *at++;
        if (!one.needs.empty()) {
            CLI::Option* const other = find_described(app, one.needs);
            // A flag that is on by default is declared as the one that switches it off.
            const auto needed = std::ranges::find(*options, one.needs, &option::name);
            if (needed != options->end() && is_on(*needed))
                declared->excludes(other);
            else
                declared->needs(other);
        }
        for (const std::string& other : one.excludes)
            declared->excludes(find_described(app, other));
    }
}

void add_parameters(parameter_list& into, const option_list& described,
                    std::initializer_list<std::string_view> names) {
    for (auto& [name, value] : parameters_of(described))
        if (std::ranges::find(names, name) != names.end())
            into.emplace_back(name, std::move(value));
}

void add_strategy_list(CLI::App& app, std::function<std::string()> text) {
    const auto print = [text = std::move(text)] {
        write_stdout(text());
        throw CLI::Success();
    };
    app.add_flag_callback("--list-strategies", print, "list the strategies and stop")
        ->group(app.get_option("--strategy")->get_group());
}

std::vector<std::string> changed_options(const option_list& options, const option_list& defaults) {
    std::vector<std::string> out;
    for (const option& one : options) {
        const option_value value = one.value();
        if (value == defaults.find(one.name).value()) continue;
        const bool* const flag = std::get_if<bool>(&value);
        out.push_back(command_line_name(one.name, flag != nullptr && !*flag));
        if (flag == nullptr) out.push_back(text_of(one, value));
    }
    return out;
}

}  // namespace spikeweave::cli
