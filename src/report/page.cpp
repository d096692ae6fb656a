#include "spikeweave/report/page.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <utility>

#include "io/atomic_file.hpp"
#include "io/file_error.hpp"
#include "io/readable_file.hpp"
#include "io/session_schema.hpp"
#include "page_text.hpp"
#include "report/assemblies/page_data.hpp"
#include "report/comparisons.hpp"
#include "report/condition_page.hpp"
#include "report/episodes/comparison.hpp"
#include "report/episodes/page_data.hpp"
#include "report/episodes/window_tables.hpp"
#include "report/page_tables.hpp"
#include "report/recorded_part.hpp"
#include "report/replay/page_data.hpp"
#include "report/run_json.hpp"
#include "report/session_page.hpp"
#include "report/sort/page_data.hpp"
#include "report/spade/page_data.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/spade.hpp"
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

// Returns what `make` returns. What is missing in the record of a run is said with its file.
template <class Make>
auto from_run_of(const std::filesystem::path& folder, const Make& make) {
    try {
        return make();
    } catch (const report::json::exception& error) {
        throw io::file_error(folder / "run.json", report::reason_of(error));
    }
}

// The same for values in it that no run has had.
template <class Make>
auto by_values_of_run(const std::filesystem::path& folder, const Make& make) {
    try {
        return make();
    } catch (const invalid_argument& error) {
        throw io::file_error(folder / "run.json", error.what());
    }
}

// What a page is made of.
struct page_source {
    std::filesystem::path folder;
    std::filesystem::path spikes;  ///< empty: where they were when the result was made
    execution run;
    double alpha = page_options{}.alpha;
};

template <class Value>
Value parameter_of(const report::json& run, const char* name, Value otherwise) {
    const report::json parameters = run.value("parameters", report::json::object());
    const auto found = parameters.find(name);
    return found == parameters.end() || found->is_null() ? std::move(otherwise)
                                                         : found->get<Value>();
}

// Gives an option the value that the result was made with, if it says one.
void set_as_recorded(const option& one, const report::json& run) {
    const auto value = parameter_of<report::json>(run, one.name.c_str(), nullptr);
    if (value.is_boolean())
        one.set(value.get<bool>());
    else if (!value.is_null())
        one.set_text(value.is_string() ? value.get<std::string>() : value.dump());
}

std::filesystem::path path_of_spikes(const report::json& run, const page_source& from) {
    if (!from.spikes.empty()) return from.spikes;
    return run.at("input").at("path").get<std::string>();
}

std::filesystem::path spikes_of(const report::json& run, const page_source& from) {
    std::filesystem::path path = path_of_spikes(run, from);
    if (path.empty() || path == "-")
        throw io::file_error(from.folder, "it does not say where its spikes are: `spikes` has to");
    if (describe_input(path, from.run).digest !=
        run.at("input").at("digest").get_ref<const std::string&>())
        throw io::file_error(path, "the result was made of other spikes: this file has changed");
    return path;
}

spike_file read_again(const report::json& run, const page_source& from) {
    const std::filesystem::path path = spikes_of(run, from);
    spike_read_options options;
    // Results of versions without labels are of all units.
    if (!run.value("parameters", report::json::object()).contains("labels"))
        options.labels = {"all"};
    return by_values_of_run(from.folder, [&] {
        for (const option& one : describe(options)) set_as_recorded(one, run);
        try {
            return read_spikes(path, options, from.run);
        } catch (const io_error& error) {
            throw io_error(fmt::format("{} (read with the parameters in '{}')", error.what(),
                                       (from.folder / "run.json").string()));
        }
    });
}

void check_number(std::size_t found, const report::json& run, const page_source& from) {
    if (found != run.at("input").at("spikes"))
        throw io::file_error(from.folder, "the result was made of another number of spikes");
}

spike_sequence episode_spikes(const report::json& run, const page_source& from) {
    spike_file file = read_again(run, from);
    spike_sequence spikes = by_values_of_run(from.folder, [&] {
        return report::recorded_part(std::move(file.spikes), run.at("input"));
    });
    check_number(spikes.size(), run, from);
    return spikes;
}

// The options by which spikes were chosen and binned, and the rules, which need not be estimated.
spade_options binning_of(const report::json& run) {
    spade_options options;
    const option_list list = describe(options);
    for (const char* const name : {"bin", "window", "t_start", "t_stop", "epochs", "separation",
                                   "trial_length", "compat", "rules"})
        set_as_recorded(list.find(name), run);
    const auto held_out = run.find("hold_out");
    if (held_out == run.end()) return options;
    options.t_start.reset();
    options.t_stop.reset();
    options.trial_length.reset();
    options.epochs = report::spans_from(held_out->at("searched_epochs_s"));
    return options;
}

std::string pattern_data(const report::json& run, const page_source& from) {
    if (parameter_of(run, "transactions", false)) {
        pattern_axes axes;
        for (std::size_t unit = 0; unit < run.at("input").at("units"); ++unit)
            axes.unit_names.push_back(std::to_string(unit));
        return report::pattern_page_data(from.folder, {}, axes, from.run);
    }
    spike_file file = read_again(run, from);
    const binned_recording binned = by_values_of_run(from.folder, [&] {
        return bin_recording(std::move(file.spikes), binning_of(run), file.has_recorded_span);
    });
    check_number(binned.spikes.size(), run, from);
    return report::pattern_page_data(from.folder, binned.spikes, binned.axes, from.run);
}

std::string sorting_data(report::json run, const page_source& from) {
    if (!from.spikes.empty())
        throw invalid_argument("`spikes` is not for a result of sort, which has its spikes");
    return report::sorting_page_data(report::read_sorting_page(from.folder, std::move(run)),
                                     from.run);
}

std::string conditions_data(const page_source& from) {
    if (!from.spikes.empty())
        throw invalid_argument("`spikes` is not for a result of compare, whose page has none");
    return report::condition_page_data(from.folder, from.run);
}

std::string data_of(const page_source& from) {
    std::pair<std::string, report::json> found = report::kind_of(from.folder);
    return from_run_of(from.folder, [&] {
        auto& [kind, run] = found;
        if (kind == "episodes")
            return report::episode_page_data(from.folder, episode_spikes(run, from),
                                             path_of_spikes(run, from), from.run);
        if (kind == "windows")
            return report::window_page_data(from.folder, episode_spikes(run, from), from.alpha,
                                            from.run);
        if (kind == "spade") return pattern_data(run, from);
        if (kind == "replay")
            return report::replay_page_data(from.folder, episode_spikes(run, from), from.run);
        if (kind == "assemblies")
            return report::assembly_page_data(from.folder, episode_spikes(run, from), from.run);
        if (kind == "compare") return conditions_data(from);
        return sorting_data(std::move(run), from);
    });
}

bool is_session(const std::filesystem::path& path) {
    std::array<char, 100> head{};  // that of a database
    std::ifstream file = io::open_found(path);
    file.read(head.data(), head.size());
    return io::is_session(path, {head.data(), static_cast<std::size_t>(file.gcount())});
}

report::page_content page_data(const std::filesystem::path& shown, const page_options& options,
                               const execution& run) {
    if (!is_session(shown)) return {data_of({shown, options.spikes, run, options.alpha})};
    if (!options.spikes.empty())
        throw invalid_argument("`spikes` is not for a session, which has its spikes");
    return report::session_page(shown, options.alpha, run);
}

// Tables of episodes may be too large to be held.
std::string episode_comparison_data(std::span<const std::filesystem::path> folders,
                                    const page_options& options, const execution& run) {
    const std::vector<std::string> names = report::names_of_folders(folders);
    std::vector<report::compared_result> results;
    for (std::size_t i = 0; i < folders.size(); ++i) {
        report::json record = report::kind_of(folders[i]).second;
        spike_sequence spikes = from_run_of(folders[i], [&] {
            return episode_spikes(record, {folders[i], {}, run});
        });
        results.push_back(report::result_of_folder(folders[i], names[i], std::move(record),
                                                   std::move(spikes), run));
    }
    return report::comparison_page_data(report::compare(std::move(results), run),
                                        options.as == comparison_view::series, options.alpha);
}

std::string comparison_data(std::span<const std::filesystem::path> folders,
                            const page_options& options, const execution& run) {
    if (!options.spikes.empty()) throw invalid_argument("`spikes` is for a page of one folder");
    std::vector<std::string> kinds;
    std::vector<std::string> places;
    for (const std::filesystem::path& folder : folders) {
        kinds.push_back(report::kind_of(folder).first);
        places.push_back(folder.string());
    }
    report::check_kinds(kinds, places);
    if (kinds[0] == "episodes") return episode_comparison_data(folders, options, run);
    const std::vector<std::string> names = report::names_of_folders(folders);
    std::vector<report::named_page> pages;
    for (std::size_t i = 0; i < folders.size(); ++i)
        pages.push_back({names[i], places[i], report::json::parse(data_of({folders[i], {}, run}))});
    return report::comparison_data(std::move(pages), options, run);
}

}  // namespace

void add_page_option(option_list& list, bool& wanted) {
    list.add("report", wanted, "also write report.html, a page for a browser")
        .off_means("do not write report.html, the page for a browser")
        .only_with("output");
}

std::string page_of(std::string_view data) {
    std::string page(report::page_head);
    append_escaped(page, data);
    for (const std::string_view part : report::page_tail) page += part;
    return page;
}

template <>
enum_table<comparison_view> enum_names<comparison_view>() {
    static constexpr std::array<named_value<comparison_view>, 2> values{{
        {comparison_view::side_by_side, "side-by-side"},
        {comparison_view::series, "series"},
    }};
    return {"view of several results", values};
}

option_list describe(page_options& options) {
    option_list list;
    list.begin_group("Options");
    list.add("spikes", options.spikes,
             "the file with the spikes of the result, if there is only one result")
        .by_default("where it was when the result was made")
        .written("FILE");
    list.add("as", options.as,
             "how several results are shown: all compared with the first one (side-by-side), or "
             "one after another, each compared with the one before it (series)")
        .by_default("side-by-side");
    list.add("alpha", options.alpha,
             "significance level for differences of rates between two results or windows")
        .above(0)
        .at_most(1);
    return list;
}

std::vector<std::string> write_page(const std::filesystem::path& page,
                                    std::span<const std::filesystem::path> folders,
                                    const page_options& options, const execution& run,
                                    bool overwrite) {
    check_options(options);
    if (folders.empty()) throw invalid_argument("a page shows at least one folder");
    if (folders.size() == 1 && options.as)
        throw invalid_argument("`as` is for a page of several folders");
    const report::page_content shown =
        folders.size() == 1 ? page_data(folders.front(), options, run)
                            : report::page_content{comparison_data(folders, options, run)};
    io::atomic_file file(page, overwrite);
    file.write(page_of(shown.data));
    file.commit();
    return shown.warnings;
}

}  // namespace spikeweave
