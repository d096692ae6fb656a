#include "io/result_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>
#include <optional>
#include <string>
#include <system_error>

#include "core/stop.hpp"
#include "io/atomic_file.hpp"
#include "io/file_error.hpp"
#include "io/name_aside.hpp"

namespace spikeweave::io {
namespace {

namespace fs = std::filesystem;

// Turns "out/" into "out".
fs::path without_slash(const fs::path& folder) {
    return folder.filename().empty() ? folder.parent_path() : folder;
}

// Creates a new folder. If the name exists already, even as a link, it belongs to somebody else.
fs::path make_folder_aside(const fs::path& target) {
    make_folder_of(target);
    constexpr mode_t open_to_all = 0777;  // reduced by the umask
    for (int tries = 1;; ++tries) {
        fs::path made = name_aside(target);
        if (::mkdir(made.c_str(), open_to_all) == 0) return made;
        if (errno != EEXIST || tries == most_tries_aside)
            throw system_error(target, "cannot be written");
    }
}

// @param target  the name in messages
template <class Names>
void check_folder(const fs::path& target, const fs::path& folder, const Names& our_files) {
    if (!fs::is_directory(folder)) throw file_error(target, "exists and is not a folder");
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
        const std::string name = entry.path().lexically_relative(folder).generic_string();
        const bool is_folder = entry.is_directory() && !entry.is_symlink();
        if (std::none_of(our_files.begin(), our_files.end(), [&](const auto& ours) {
                return is_folder ? ours.starts_with(name + '/') : ours == name;
            }))
            throw file_error(
                target,
                fmt::format(
                    "contains '{}', which is not a result of this kind, and is not replaced",
                    name));
    }
}

void rename_folder(const fs::path& from, const fs::path& to, const fs::path& target) {
    if (::rename(from.c_str(), to.c_str()) != 0) throw system_error(target, "cannot be written");
}

// Works even if no folder can be opened any longer to list its files, because the names are known.
void remove_folder(const fs::path& folder, const std::vector<std::string>& our_files) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    if (!fs::exists(fs::symlink_status(folder, ignored))) return;
    for (const std::string& name : our_files) fs::remove(folder / name, ignored);
    for (const std::string& name : our_files)
        for (fs::path part = fs::path(name).parent_path(); !part.empty(); part = part.parent_path())
            fs::remove(folder / part, ignored);
    fs::remove(folder, ignored);
}

// Swaps the names of two folders, in one step if the file system supports it, so that there is a
// complete one under each name at any time.
void exchange(const fs::path& aside, const fs::path& target) {
    if (::renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0)
        return;
    if (errno != EINVAL && errno != ENOSYS) throw system_error(target, "cannot be written");
    const fs::path old = name_aside(target);
    rename_folder(target, old, target);
    if (::rename(aside.c_str(), target.c_str()) != 0) {
        const io_error failed = system_error(target, "cannot be written");
        if (::rename(old.c_str(), target.c_str()) != 0)
            throw file_error(
                target, fmt::format("cannot be written; what it held is '{}' now", old.string()));
        throw failed;
    }
    rename_folder(old, aside, target);
}

// The new result is there, so a failure names the place of the old one.
io_error kept_old(const fs::path& folder, const fs::path& target, const std::string& why) {
    return file_error(target, fmt::format("is written, but what it replaces cannot be removed: it "
                                          "is '{}' now ({})",
                                          folder.string(), why));
}

// An old result that is not writable is replaced like any other.
void remove_old(const fs::path& folder, const fs::path& target,
                const std::vector<std::string>& our_files) {
    remove_folder(folder, our_files);
    std::error_code failed;
    if (!fs::exists(fs::symlink_status(folder, failed))) return;
    const auto open_up = [](const fs::path& one) {
        std::error_code ignored;
        fs::permissions(one, fs::perms::owner_all, fs::perm_options::add, ignored);
    };
    open_up(folder);
    for (auto at = fs::recursive_directory_iterator(folder, failed);
         !failed && at != fs::recursive_directory_iterator(); at.increment(failed))
        if (at->is_directory() && !at->is_symlink()) open_up(at->path());
    fs::remove_all(folder, failed);
    if (failed) throw kept_old(folder, target, failed.message());
}

// @return the permissions of an existing folder
std::optional<fs::perms> permissions_of(const fs::path& folder) {
    std::error_code unknown;
    const fs::file_status status = fs::symlink_status(folder, unknown);
    if (!fs::is_directory(status)) return std::nullopt;
    return status.permissions();
}

}  // namespace

void check_replaceable(const fs::path& folder, std::span<const std::string_view> our_files) {
    check_folder(folder, folder, our_files);
}

result_folder::result_folder(const fs::path& target, bool overwrite,
                             std::span<const std::string_view> our_files)
    : target_(without_slash(target)),
      our_files_(our_files.begin(), our_files.end()),
      replaces_(fs::exists(fs::symlink_status(target_))) {
    if (replaces_ && !overwrite) throw file_error(target_, "exists already");
    if (replaces_) check_folder(target_, target_, our_files_);
    // A folder that replaces one readable only by its owner is readable only by its owner, too.
    const auto like = permissions_of(target_);
    aside_ = make_folder_aside(target_);
    std::error_code ignored;
    if (like) fs::permissions(aside_, *like | fs::perms::owner_all, ignored);
}

result_folder::~result_folder() {
    if (!committed_) remove_folder(aside_, our_files_);
}

void result_folder::write(std::string_view name, std::string_view text) const {
    io::atomic_file out(file(name));
    out.write(text);
    out.commit();
}

void result_folder::commit(const std::stop_token& stop) {
    core::throw_if_stopped(stop);
    if (!replaces_) {
        give_name(aside_, target_, false);
    } else {
        exchange(aside_, target_);
        try {
            // Checked again, because somebody may have worked in the old folder for hours.
            check_folder(target_, aside_, our_files_);
        } catch (...) {
            exchange(aside_, target_);
            throw;
        }
        committed_ = true;
        try {
            sync_folder_of(target_);
            return remove_old(aside_, target_, our_files_);
        } catch (const std::bad_alloc&) {
            throw kept_old(aside_, target_, "there is not enough memory");
        }
    }
    committed_ = true;
    sync_folder_of(target_);
}

}  // namespace spikeweave::io
