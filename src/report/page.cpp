#include "spikeweave/report/page.hpp"

#include <array>
#include <utility>

#include "io/atomic_file.hpp"
#include "io/file_error.hpp"
#include "page_text.hpp"
#include "report/episodes/page_data.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/report/run_record.hpp"
#include "spikeweave/spikes/files.hpp"

namespace spikeweave {
namespace {

// In JSON these characters are in texts only. Escaped, they can end no script, and no reader takes
// them for ends of lines or refuses them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> escapes{
    {{"<", "\\u003c"},
     {">", "\\u003e"},
     {"&", "\\u0026"},
     {"\xE2\x80\xA8", "\\u2028"},
     {"\xE2\x80\xA9", "\\u2029"},
     {"\xEF\xBF\xBE", "\\ufffe"},
     {"\xEF\xBF\xBF", "\\uffff"}}};

void append_escaped(std::string& out, std::string_view data) {
    while (!data.empty()) {
        const std::size_t plain = std::min(data.find_first_of("<>&\xE2\xEF"), data.size());
        out += data.substr(0, plain);
        data.remove_prefix(plain);
        if (data.empty()) break;
        std::string_view text = data.substr(0, 1);
        std::size_t length = 1;
        for (const auto& [bytes, escape] : escapes)
            if (data.starts_with(bytes)) {
                text = escape;
                length = bytes.size();
            }
        out += text;
        data.remove_prefix(length);
    }
}

template <class Value>
Value parameter_of(const report::json& run, const char* name, Value otherwise) {
    const report::json parameters = run.value("parameters", report::json::object());
    const auto found = parameters.find(name);
    return found == parameters.end() || found->is_null() ? otherwise : found->get<Value>();
}

spike_sequence read_again(const report::json& run, const std::filesystem::path& path,
                          const execution& how) {
    const report::json& input = run.at("input");
    if (describe_input(path, how).digest != input.at("digest"))
        throw io::file_error(path, "the result was made of other spikes: this file has changed");
    spike_read_options options;
    options.format =
        value_named<spike_format>(parameter_of<std::string>(run, "format", "automatic"));
    options.time_unit = parameter_of<std::string>(run, "time_unit", "");
    options.allow_negative = parameter_of(run, "allow_negative", false);
    options.drop_duplicates_of_units = parameter_of(run, "drop_duplicates_of_units", false);
    spike_sequence spikes = read_spikes(path, options, how).spikes;
    const auto names = parameter_of<std::string>(run, "only_units", "");
    if (!names.empty())
        spikes = select_units(spikes, option_codec<std::vector<std::string>>::read(names));
    if (spikes.size() != input.at("spikes"))
        throw io::file_error(path, "the result was made of another number of spikes");
    return spikes;
}

}  // namespace

std::string page_of(std::string_view data) {
    std::string page(report::page_head);
    page.reserve(page.size() + data.size() + report::page_tail.size());
    append_escaped(page, data);
    return page.append(report::page_tail);
}

void write_page(const std::filesystem::path& page, const std::filesystem::path& folder,
                const std::filesystem::path& spikes, const execution& run) {
    const report::json record = report::read_episode_run(folder);
    std::filesystem::path path = spikes;
    try {
        if (path.empty()) path = record.at("input").at("path").get<std::string>();
        if (path.empty() || path == "-")
            throw io::file_error(folder, "it does not say where its spikes are: `spikes` has to");
        const std::string text =
            page_of(report::episode_page_data(folder, read_again(record, path, run), run));
        io::atomic_file file(page);
        file.write(text);
        file.commit();
    } catch (const report::json::exception& error) {
        throw io::file_error(folder / "run.json", error.what());
    }
}

}  // namespace spikeweave
