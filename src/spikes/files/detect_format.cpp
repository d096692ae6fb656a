#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_error.hpp"
#include "io/foreign_file.hpp"
#include "io/input_stream.hpp"
#include "io/session_schema.hpp"
#include "spikes/files/meabench.hpp"
#include "spikes/files/readers.hpp"

namespace spikeweave::spikes {
namespace {

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

// What a folder has that was given in place of its spikes.
std::string_view advice_about_folder(const std::filesystem::path& folder) {
    std::error_code ignored;
    if (std::filesystem::exists(folder / "spikes.npz", ignored))
        return ": give its spikes.npz, the spikes of a sorting";
    for (const char* part : {"binary.json", "structure.oebin"})
        if (std::filesystem::exists(folder / part, ignored))
            return ": it is a recording, in which spikeweave sort finds the spikes";
    return "";
}

}  // namespace

spike_format detect_format(const std::filesystem::path& path) {
    std::error_code ignored;
    const std::string name = path.filename().string();
    if (std::filesystem::is_directory(path, ignored)) {
        for (const char* part : {"params.py", "spike_times.npy"})
            if (std::filesystem::exists(path / part, ignored)) return spike_format::phy;
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
    if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) return spike_format::npz;
    if (io::is_session(path, head)) return spike_format::session;
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
    if (name.ends_with(".spk.txt") || name.ends_with(".spk.txt.gz")) return spike_format::wagenaar;
    return spike_format::text;
}

}  // namespace spikeweave::spikes
