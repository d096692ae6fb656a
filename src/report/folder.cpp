#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/stop.hpp"
#include "io/atomic_file.hpp"
#include "io/digest.hpp"
#include "io/file_error.hpp"
#include "report/parts.hpp"
#include "synfire/core/error.hpp"

namespace synfire {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> our_files{
    "episodes.tsv", "circuit.tsv", "circuit.graphml", "circuit.svg", "run.json", "occurrences.tsv"};

// "out/" means "out".
fs::path without_slash(const fs::path& folder) {
    return folder.filename().empty() ? folder.parent_path() : folder;
}

// A folder under another name beside the one to come; removed unless it was taken into use.
class folder_aside {
public:
    explicit folder_aside(const fs::path& target, std::string_view kind)
        : path_(target.parent_path() /
                fmt::format(".{}.{}.{}", target.filename().string(), ::getpid(), kind)) {}
    ~folder_aside() {
        std::error_code ignored;
        if (!kept_) fs::remove_all(path_, ignored);
    }
    folder_aside(const folder_aside&) = delete;
    folder_aside& operator=(const folder_aside&) = delete;
    folder_aside(folder_aside&&) = delete;
    folder_aside& operator=(folder_aside&&) = delete;

    const fs::path& path() const { return path_; }
    void keep() { kept_ = true; }

private:
    fs::path path_;
    bool kept_ = false;
};

void rename_folder(const fs::path& from, const fs::path& to, const fs::path& target) {
    std::error_code error;
    fs::rename(from, to, error);
    if (error) throw io::file_error(target, "cannot be written: " + error.message());
}

// Nothing is ever deleted that this library did not write.
void check_replaceable(const fs::path& folder) {
    if (!fs::is_directory(folder)) throw io::file_error(folder, "exists and is not a folder");
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (std::find(our_files.begin(), our_files.end(), name) == our_files.end())
            throw io::file_error(
                folder, fmt::format("holds '{}', which is no result of this kind, and is not "
                                    "replaced",
                                    name));
    }
}

void write_file(const fs::path& path, std::string_view text) {
    io::atomic_file file(path);
    file.write(text);
    file.commit();
}

}  // namespace

input_record describe_input(const fs::path& path, const execution& run) {
    const io::digest digest = io::digest_of(path, run.stop);
    return {path.string(), digest.bytes, std::string(io::digest_algorithm), digest.hex};
}

void write_episode_report(const fs::path& folder, const episode_report& report, bool overwrite,
                          const execution& run) {
    const report::prepared p(report);
    const fs::path target = without_slash(folder);
    const bool exists = fs::exists(fs::symlink_status(target));
    if (exists && !overwrite) throw io::file_error(target, "exists already");
    if (exists) check_replaceable(target);

    const folder_aside fresh(target, "part");
    std::error_code error;
    fs::create_directory(fresh.path(), error);
    if (error) throw io::file_error(target, "cannot be written: " + error.message());
    write_file(fresh.path() / "episodes.tsv", report::episodes_tsv(p));
    write_file(fresh.path() / "circuit.tsv", report::circuit_tsv(p));
    write_file(fresh.path() / "circuit.graphml", report::circuit_graphml(p));
    write_file(fresh.path() / "circuit.svg", report::circuit_svg(p));
    if (report.with_occurrences) {
        io::atomic_file file(fresh.path() / "occurrences.tsv");
        report::write_occurrences(
            p, [&](std::string_view piece) { file.write(piece); }, run);
        file.commit();
    }
    write_file(fresh.path() / "run.json", report::run_json(p));
    throw_if_stopped(run.stop);

    if (!exists) {
        rename_folder(fresh.path(), target, target);
        return;
    }
    folder_aside old(target, "old");
    rename_folder(target, old.path(), target);
    try {
        rename_folder(fresh.path(), target, target);
    } catch (...) {
        old.keep();  // whatever happens now
        fs::rename(old.path(), target, error);
        throw;
    }
}

}  // namespace synfire
