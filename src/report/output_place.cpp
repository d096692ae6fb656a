#include "spikeweave/report/output_place.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "spikeweave/core/error.hpp"

namespace spikeweave {

void check_output_place(const std::filesystem::path& path, bool may_replace) {
    namespace fs = std::filesystem;
    const std::string shown = path.string();
    if (path.empty()) throw io_error("the name of the output is empty");
    if (path == "-")
        throw io_error("results are not written to standard output: expected a name, found '-'");
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(path, ignored)) && !may_replace)
        throw io_error(fmt::format("{} exists (`overwrite` replaces it)", shown));
    // The name "out/" means the folder "out".
    const fs::path whole = fs::absolute(path).lexically_normal();
    const fs::path folder = (whole.has_filename() ? whole : whole.parent_path()).parent_path();
    if (!fs::is_directory(folder, ignored))
        throw io_error(
            fmt::format("{} cannot be written: there is no folder {}", shown, folder.string()));
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        throw io_error(fmt::format("{} cannot be written: {}: {}", shown, folder.string(),
                                   std::generic_category().message(errno)));
}

}  // namespace spikeweave
