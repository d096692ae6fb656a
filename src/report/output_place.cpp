#include "spikeweave/report/output_place.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "io/result_folder.hpp"
#include "report/result_files.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

namespace fs = std::filesystem;

// The first folder above a place that is there, or a file that is in the way.
fs::path nearest_above(const fs::path& path) {
    std::error_code ignored;
    // The name "out/" means the folder "out".
    const fs::path whole = fs::absolute(path).lexically_normal();
    fs::path above = (whole.has_filename() ? whole : whole.parent_path()).parent_path();
    while (!fs::exists(fs::symlink_status(above, ignored)) && above.has_relative_path())
        above = above.parent_path();
    return above;
}

void check_place(const fs::path& path, bool may_replace) {
    const std::string shown = path.string();
    if (path.empty()) throw io_error("the name of the output is empty");
    if (path == "-")
        throw io_error("results are not written to standard output: expected a name, found '-'");
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(path, ignored)) && !may_replace)
        throw io_error(fmt::format("{} exists (`overwrite` replaces it)", shown));
    const fs::path above = nearest_above(path);
    if (!fs::is_directory(above, ignored))
        throw io_error(fmt::format("{} cannot be written: {} is no folder", shown, above.string()));
    if (::access(above.c_str(), W_OK | X_OK) != 0)
        throw io_error(fmt::format("{} cannot be written: {}: {}", shown, above.string(),
                                   std::generic_category().message(errno)));
}

}  // namespace

void check_output_place(const fs::path& path, bool may_replace) {
    check_place(path, may_replace);
    std::error_code ignored;
    if (fs::is_directory(path, ignored))
        throw io_error(
            fmt::format("{} is a folder, expected the name of a file to write", path.string()));
}

void check_result_place(const fs::path& folder, bool may_replace, result_kind kind) {
    check_place(folder, may_replace);
    if (fs::exists(fs::symlink_status(folder)))
        io::check_replaceable(folder, report::files_of(kind));
}

}  // namespace spikeweave
