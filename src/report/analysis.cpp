#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "io/atomic_file.hpp"
#include "io/file_error.hpp"
#include "io/readable_file.hpp"
#include "report/document.hpp"
#include "spikeweave/report/page.hpp"

namespace spikeweave {
namespace {

using report::json;

json record_in(const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / "run.json";
    std::ifstream file = io::open_found(path);
    json record = json::parse(file, nullptr, false);
    if (!record.is_object())
        throw io::file_error(path, "it is damaged: expected a record of a run");
    return record;
}

bool has(const std::filesystem::path& folder, std::string_view name) {
    std::error_code unknown;
    return std::filesystem::exists(folder / name, unknown);
}

json picture_in(const std::filesystem::path& folder) {
    if (!has(folder, "circuit.svg")) return {};
    std::ifstream file = io::open_found(folder / "circuit.svg");
    return std::string(std::istreambuf_iterator<char>(file), {});
}

void write_file(const std::filesystem::path& path, const std::string& text, bool overwrite) {
    io::atomic_file file(path, overwrite);
    file.write(text);
    file.commit();
}

}  // namespace

std::string commands_of(std::span<const analysis_step> steps) {
    std::string out;
    for (const analysis_step& step : steps) out += "# " + step.why + "\n" + step.command() + "\n";
    return out;
}

void write_analysis(const std::filesystem::path& folder, const std::string& analysed,
                    std::span<const analysis_step> steps, bool overwrite) {
    json data = report::head_of("run");
    data["run"]["input"]["path"] = analysed;
    data["steps"] = json::array();
    json warnings = json::array();
    for (const analysis_step& step : steps) {
        json record = record_in(step.folder);
        json input = record.value("input", json::object());
        for (json& text : input.value("warnings", json::array()))
            warnings.push_back(std::move(text));
        data["run"]["summary"] = record.value("summary", "");
        data["steps"].push_back({{"why", step.why},
                                 {"command", step.command()},
                                 {"folder", step.folder.filename().string()},
                                 {"has_page", has(step.folder, "report.html")},
                                 {"picture", picture_in(step.folder)},
                                 {"summary", record.value("summary", "")}});
    }
    data["run"]["input"]["warnings"] = std::move(warnings);
    write_file(folder / "steps.txt", commands_of(steps), overwrite);
    write_file(folder / "index.html", page_of(report::compact(data)), overwrite);
}

}  // namespace spikeweave
