#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/text.hpp"
#include "io/file_error.hpp"
#include "io/foreign_file.hpp"
#include "io/input_stream.hpp"
#include "io/session_schema.hpp"
#include "spikes/files/readers.hpp"

namespace spikeweave::spikes {
namespace {

namespace fs = std::filesystem;

bool is_klustakwik_name(const std::string& name) {
    for (const std::string_view part : {".res.", ".clu."}) {
        const std::size_t at = name.rfind(part);
        if (at == std::string::npos || at + part.size() == name.size()) continue;
        if (std::all_of(name.begin() + static_cast<std::ptrdiff_t>(at + part.size()), name.end(),
                        [](unsigned char c) { return std::isdigit(c) != 0; }))
            return true;
    }
    return false;
}

// The folders below that are Phy's, for a folder that is not: those of several probes.
std::vector<std::string> phy_folders_below(const fs::path& folder) {
    constexpr int deepest = 3;
    constexpr int most_looked_at = 10'000;
    std::vector<std::string> out;
    std::error_code ignored;
    int looked_at = 0;
    for (auto at = fs::recursive_directory_iterator(folder, ignored);
         at != fs::recursive_directory_iterator() && looked_at < most_looked_at;
         at.increment(ignored), ++looked_at) {
        if (at.depth() == deepest) at.disable_recursion_pending();
        if (at->path().filename() != "params.py") continue;
        const std::string found = at->path().parent_path().string();
        out.push_back(io::is_printable_utf8(found) ? '\'' + found + '\'' : io::shown(found));
    }
    std::sort(out.begin(), out.end());
    return out;
}

// The contents of a folder that was given instead of its spikes.
std::string advice_about_folder(const fs::path& folder) {
    std::error_code ignored;
    if (fs::exists(folder / "spikes.npz", ignored))
        return ": give its spikes.npz, the spikes of a sorting";
    if (fs::exists(folder / "result.json", ignored))
        return ": it is a result, which spikeweave report shows, and spikeweave.load reads in "
               "Python";
    for (const char* part : {"binary.json", "structure.oebin"})
        if (fs::exists(folder / part, ignored))
            return ": it is a recording, in which spikeweave sort finds the spikes";
    const std::vector<std::string> below = phy_folders_below(folder);
    if (!below.empty()) return "; folders of Phy below it: " + core::listed(below);
    return "";
}

}  // namespace

spike_format detect_format(const std::filesystem::path& path) {
    std::error_code ignored;
    const std::string name = path.filename().string();
    if (std::filesystem::is_directory(path, ignored)) {
        if (std::filesystem::exists(path / "params.py", ignored)) return spike_format::phy;
        if (!std::filesystem::exists(path / "structure.oebin", ignored) &&
            is_open_ephys_spikes(path))
            return spike_format::open_ephys;
        if (is_alf(path)) return spike_format::alf;
        if (std::filesystem::exists(path / "spike_times.npy", ignored)) return spike_format::phy;
        throw io::file_error(path,
                             fmt::format("is a folder without params.py and spike_times.npy, "
                                         "expected Phy's or a file{}{}",
                                         advice_about_folder(path), io::about_foreign_files(path)));
    }
    if (name == "params.py") return spike_format::phy;

    io::input_stream in(path);
    constexpr std::size_t looked_at = std::size_t{1} << 16;
    std::vector<char> buffer(looked_at);
    const std::string_view head{buffer.data(), in.read(buffer)};
    const io::foreign_file* const foreign = io::find_foreign_file(path, head);
    const auto refuse_foreign = [&] {
        if (foreign != nullptr && !foreign->is_read) throw io::file_error(path, foreign->says());
    };
    if (head.starts_with("\x89HDF\r\n\x1a\n")) {
        refuse_foreign();
        return spike_format::nwb;
    }
    if (head.starts_with("\x93NUMPY")) return spike_format::npy;
    if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) {
        refuse_foreign();
        return spike_format::npz;
    }
    if (io::is_session(path, head)) return spike_format::session;
    if (head.starts_with("SQLite format 3"))
        throw io::file_error(path, "is a database of SQLite that spikeweave live has not written");
    if (head.find('\0') != std::string_view::npos) {
        refuse_foreign();
        if (name.ends_with(".spike") || meabench_record_bytes(head, in.size()) != 0)
            return spike_format::meabench;
        throw io::file_error(
            path,
            fmt::format("begins with {}, expected text, .npy, .npz, .nwb or MEABench records; "
                        "samples of electrodes, of which spikeweave sort makes spikes, need "
                        "`channels` and `sample_rate`",
                        io::shown(head.substr(0, 16))));
    }
    if (is_klustakwik_name(name)) return spike_format::klustakwik;
    // Not the text that spikeweave itself writes to a file of any name.
    if ((name.ends_with(".spk.txt") || name.ends_with(".spk.txt.gz")) && !head.starts_with('#'))
        return spike_format::wagenaar;
    return spike_format::text;
}

}  // namespace spikeweave::spikes
