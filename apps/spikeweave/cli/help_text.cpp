#include "cli/help_text.hpp"

#include <fmt/color.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "cli/output.hpp"

namespace spikeweave::cli {
namespace {

constexpr std::size_t name_column = 26;

std::size_t output_width() {
    constexpr std::size_t usual = 80;
    constexpr std::size_t narrowest = 50;
    constexpr std::size_t widest = 120;  // longer lines are hard to read
    winsize size{};
    if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
        size.ws_col == 0)
        return usual;
    return std::clamp<std::size_t>(size.ws_col, narrowest, widest);
}

// Counts characters, of which one may take several bytes.
std::size_t length_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string list_of(const std::set<CLI::Option*>& options) {
    std::vector<std::string> names;
    names.reserve(options.size());
    for (const CLI::Option* option : options) names.push_back(option->get_name());
    std::sort(names.begin(), names.end());
    return fmt::format("{}", fmt::join(names, ", "));
}

// A command that is too long for a line continues on the next one, as a shell reads it.
std::string wrapped_command(const std::string& line, std::size_t width) {
    constexpr std::string_view goes_on = " \\";
    constexpr std::size_t indent = 6;
    if (length_of(line) <= width) return line;
    const std::string text = wrapped(line, width - goes_on.size(), indent);
    std::string out;
    for (const char c : text) out += c == '\n' ? std::string(goes_on) + c : std::string(1, c);
    return out;
}

class page_formatter : public CLI::Formatter {
public:
    void list(const void* option_or_command) { in_short_help_.insert(option_or_command); }

    std::string make_help(const CLI::App* app, std::string name,
                          CLI::AppFormatMode mode) const override {
        if (mode != CLI::AppFormatMode::All) return short_help(*app, name);
        return wrapped(app->get_description(), output_width()) + "\n" + make_usage(app, name) +
               make_positionals(app) + options_of(app) +
               make_subcommands(app, CLI::AppFormatMode::Normal) + "\n" + make_footer(app);
    }
    std::string make_option(const CLI::Option* option, bool is_positional) const override {
        std::string names = make_option_name(option, is_positional);
        if (option->get_type_size() != 0 && !option->get_type_name().empty())
            names += " " + option->get_type_name();
        return entry(names, described(*option));
    }
    std::string make_option_usage(const CLI::Option* option) const override {
        std::string usage = make_option_name(option, true);
        if (option->get_expected_max() > 1) usage += "...";
        return option->get_required() ? usage : "[" + usage + "]";
    }
    std::string make_subcommand(const CLI::App* sub) const override {
        return entry(sub->get_name(), sub->get_description());
    }
    std::string make_footer(const CLI::App* app) const override {
        const std::string footer = app->get_footer();
        std::string out;
        for (std::size_t begin = 0; begin < footer.size();) {
            const std::size_t end = std::min(footer.find('\n', begin), footer.size());
            const std::string line = footer.substr(begin, end - begin);
            out += line.starts_with("  ") || line.starts_with("Example")
                       ? wrapped_command(line, output_width())
                       : wrapped(line, output_width());
            out += '\n';
            begin = end + 1;
        }
        return out;
    }

    std::string make_group(std::string group, bool is_positional,
                           std::vector<const CLI::Option*> options) const override {
        return CLI::Formatter::make_group(styled(STDOUT_FILENO, fmt::emphasis::bold, group),
                                          is_positional, std::move(options));
    }

private:
    // The options and commands of a first use, one after another without headings.
    std::string short_help(const CLI::App& app, const std::string& name) const {
        std::string out =
            wrapped(app.get_description(), output_width()) + "\n" + make_usage(&app, name);
        if (!out.ends_with("\n\n")) out += '\n';
        for (const CLI::Option* option : in_short_help(app)) {
            std::string names = make_option_name(option, option->get_positional());
            if (option->get_type_size() != 0 && !option->get_type_name().empty())
                names += " " + option->get_type_name();
            out += entry(names, first_clause(option->get_description()));
        }
        std::vector<std::string> others;
        for (const CLI::App* sub : app.get_subcommands({}))
            if (app.get_parent() != nullptr || in_short_help_.contains(sub))
                out += entry(sub->get_name(), sub->get_description());
            else
                others.push_back(sub->get_name());
        if (!others.empty())
            out += "\n" +
                   wrapped(fmt::format("Also: {}", fmt::join(others, ", ")), output_width()) + "\n";
        out += '\n';
        if (app.get_parent() != nullptr) out += first_example(app) + '\n';
        return out + typed_as(app) + " --help describes all options.\n";
    }

    std::vector<const CLI::Option*> in_short_help(const CLI::App& app) const {
        constexpr std::size_t few = 10;
        std::vector<const CLI::Option*> all;
        std::vector<const CLI::Option*> listed;
        for (const CLI::Option* option : app.get_options()) {
            if (option->get_group().empty() || option == app.get_help_ptr() ||
                option == app.get_help_all_ptr())
                continue;
            all.push_back(option);
            if (option->get_positional() || option->get_required() ||
                in_short_help_.contains(option))
                listed.push_back(option);
        }
        if (all.size() <= few && app.get_parent() != nullptr) listed = std::move(all);
        std::stable_partition(listed.begin(), listed.end(),
                              [](const CLI::Option* option) { return option->get_positional(); });
        return listed;
    }

    // A description without what explains its beginning, the choices and the default.
    static std::string first_clause(const std::string& text) {
        std::size_t end = text.size();
        for (const char* mark :
             {"; ", ". ", " [", ", such as ", ", except ", ", from ", ", instead ", ", and "})
            end = std::min(end, text.find(mark));
        // A colon after one word explains a value: "auto: also detect".
        if (const std::size_t colon = text.find(": "); text.find(' ') < colon)
            end = std::min(end, colon);
        return text.substr(0, end);
    }

    static std::string first_example(const CLI::App& app) {
        std::string line = app.get_footer().substr(0, app.get_footer().find('\n'));
        constexpr std::string_view several = "Examples:";
        if (line.starts_with(several)) line.replace(0, several.size(), "Example:");
        return wrapped_command(line, output_width());
    }

    std::string options_of(const CLI::App* app) const {
        std::string out;
        for (const std::string& group : groups_of(*app)) {
            const auto options = app->get_options([&group](const CLI::Option* option) {
                return option->get_group() == group && option->nonpositional();
            });
            if (!options.empty()) out += make_group(group, false, options);
        }
        return out;
    }

    static std::string entry(const std::string& names, const std::string& text) {
        std::string out = "  " + names;
        if (text.empty()) return out + "\n";
        const std::size_t used = length_of(out);
        if (used + 2 > name_column)
            out += "\n" + std::string(name_column, ' ');
        else
            out += std::string(name_column - used, ' ');
        return out + wrapped(text, output_width(), name_column, name_column) + "\n";
    }

    std::set<const void*> in_short_help_;
};

}  // namespace

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent,
                    std::size_t used) {
    const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
    std::string out(text.substr(0, first));
    std::size_t column = used + first;
    bool at_begin = true;
    for (std::size_t begin = first; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::string_view word = text.substr(begin, end - begin);
        begin = std::min(text.find_first_not_of(' ', end), text.size());
        if (!at_begin && column + 1 + length_of(word) > width) {
            out += "\n" + std::string(indent, ' ');
            column = indent;
        } else if (!at_begin) {
            out += ' ';
            ++column;
        }
        out += word;
        column += length_of(word);
        at_begin = false;
    }
    return out;
}

std::vector<std::string> groups_of(const CLI::App& app) {
    std::vector<std::string> groups = app.get_groups();
    std::erase(groups, "");
    std::stable_partition(groups.begin(), groups.end(),
                          [](const std::string& group) { return group != "Options"; });
    return groups;
}

std::string described(const CLI::Option& option) {
    std::string text = option.get_description();
    const auto add = [&text](const std::string& more) {
        text += (text.empty() ? "" : ". ") + more;
    };
    if (option.get_required() && option.nonpositional()) add("Required");
    if (!option.get_needs().empty()) add("Needs " + list_of(option.get_needs()));
    if (!option.get_excludes().empty()) add("Not with " + list_of(option.get_excludes()));
    return text;
}

std::shared_ptr<CLI::Formatter> help_formatter() {
    return std::make_shared<page_formatter>();
}

void list_in_short_help(const CLI::App& app, const void* option_or_command) {
    if (auto* const format = dynamic_cast<page_formatter*>(app.get_formatter().get()))
        format->list(option_or_command);
}

std::string typed_as(const CLI::App& at) {
    return at.get_parent() == nullptr ? at.get_name()
                                      : typed_as(*at.get_parent()) + " " + at.get_name();
}

}  // namespace spikeweave::cli
