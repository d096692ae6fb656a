#include "io/result_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "core/stop.hpp"
#include "io/atomic_file.hpp"
#include "io/file_error.hpp"

namespace spikeweave::io {
namespace {

namespace fs = std::filesystem;

// "out/" means "out".
fs::path without_slash(const fs::path& folder) {
    return folder.filename().empty() ? folder.parent_path() : folder;
}

fs::path name_aside(const fs::path& target, std::string_view kind) {
    return target.parent_path() /
           fmt::format(".{}.{}.{}", target.filename().string(), ::getpid(), kind);
}

void rename_folder(const fs::path& from, const fs::path& to, const fs::path& target) {
    std::error_code error;
    fs::rename(from, to, error);
    if (error) throw file_error(target, "cannot be written: " + error.message());
}

// Nothing is ever deleted that this library did not write.
void check_replaceable(const fs::path& folder, std::span<const std::string_view> our_files) {
    if (!fs::is_directory(folder)) throw file_error(folder, "exists and is not a folder");
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
        const std::string name = entry.path().lexically_relative(folder).generic_string();
        const bool is_folder = entry.is_directory() && !entry.is_symlink();
        if (std::none_of(our_files.begin(), our_files.end(), [&](std::string_view ours) {
                return is_folder ? ours.starts_with(name + '/') : ours == name;
            }))
            throw file_error(folder,
                             fmt::format("holds '{}', which is no result of this kind, and is not "
                                         "replaced",
                                         name));
    }
}

}  // namespace

result_folder::result_folder(const fs::path& target, bool overwrite,
                             std::span<const std::string_view> our_files)
    : target_(without_slash(target)),
      aside_(name_aside(target_, "part")),
      replaces_(fs::exists(fs::symlink_status(target_))) {
    if (replaces_ && !overwrite) throw file_error(target_, "exists already");
    if (replaces_) check_replaceable(target_, our_files);
    std::error_code error;
    fs::create_directory(aside_, error);
    if (error) throw file_error(target_, "cannot be written: " + error.message());
}

result_folder::~result_folder() {
    std::error_code ignored;
    if (!committed_) fs::remove_all(aside_, ignored);
}

void result_folder::write(std::string_view name, std::string_view text) const {
    io::atomic_file out(file(name));
    out.write(text);
    out.commit();
}

void result_folder::commit(const std::stop_token& stop) {
    throw_if_stopped(stop);
    if (!replaces_) {
        rename_folder(aside_, target_, target_);
        committed_ = true;
        return;
    }
    const fs::path old = name_aside(target_, "old");
    std::error_code ignored;
    rename_folder(target_, old, target_);
    try {
        rename_folder(aside_, target_, target_);
    } catch (...) {
        fs::rename(old, target_, ignored);
        throw;
    }
    committed_ = true;
    fs::remove_all(old, ignored);
}

}  // namespace spikeweave::io
