#include "io/foreign_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <set>
#include <system_error>
#include <vector>

#include "io/file_error.hpp"
#include "io/random_file.hpp"

namespace spikeweave::io {
namespace {

using namespace std::string_view_literals;

constexpr auto of_recordings = "spikeweave.read_recording"sv;
constexpr auto of_spikes = "spikeweave.read"sv;
constexpr auto of_matlab =
    "is a file of MATLAB: in MATLAB, fwrite(file, samples, 'int16') writes samples of shape "
    "channels x time, and writetable a table of spikes with the columns time_s and unit"sv;

// More special kinds are before the others.
constexpr std::array kinds{
    foreign_file{".ncs", "######## Neuralynx", "holds samples of Neuralynx", of_recordings},
    foreign_file{".nse .ntt", "######## Neuralynx", "holds spikes of Neuralynx", of_spikes},
    foreign_file{"", "######## Neuralynx",
                 "is a file of Neuralynx, of which the Python package reads .ncs "
                 "(spikeweave.read_recording), .nse and .ntt (spikeweave.read)"},
    foreign_file{".nev", "NEURALEV", "holds spikes of Blackrock", of_spikes},
    foreign_file{".nev", "BREVENTS", "holds spikes of Blackrock", of_spikes},
    foreign_file{".ns1 .ns2 .ns3 .ns4 .ns5 .ns6", "NEURALSG", "holds samples of Blackrock",
                 of_recordings},
    foreign_file{".ns1 .ns2 .ns3 .ns4 .ns5 .ns6", "NEURALCD", "holds samples of Blackrock",
                 of_recordings},
    foreign_file{".ns1 .ns2 .ns3 .ns4 .ns5 .ns6", "BRSMPGRP", "holds samples of Blackrock",
                 of_recordings},
    foreign_file{".rhd", "\x02\x27\x91\xc6", "holds samples of Intan", of_recordings},
    foreign_file{".rhs", "\xac\x27\x91\xd6", "holds samples of Intan", of_recordings},
    foreign_file{".plx", "PLEX",
                 "is a file of Plexon: the Python package reads its spikes (spikeweave.read) and "
                 "its samples (spikeweave.read_recording)"},
    foreign_file{".pl2", "",
                 "is a file of Plexon that neo reads only with Plexon's library for Windows: write "
                 "it as .plx with Plexon's programs"},
    foreign_file{".nex", "NEX1", "holds spikes of NeuroExplorer", of_spikes},
    foreign_file{".nex5", "NEX5",
                 "is a file of NeuroExplorer that neo does not read: save it as .nex"},
    foreign_file{".smr .smrx", "", "is a file of Spike2", "read_ced"},
    foreign_file{".abf", "ABF ", "is a file of Axon", "read_axon"},
    foreign_file{".abf", "ABF2", "is a file of Axon", "read_axon"},
    foreign_file{".mcd", "MCSSTRM ", "is a file of Multi Channel Systems", "read_mcsraw"},
    foreign_file{"", "AxionBio",
                 "is a file of Axion, which neither neo nor SpikeInterface reads: export the spike "
                 "times as text with Axion's programs"},
    foreign_file{".spikes", "header.format = 'Open Ephys",
                 "holds spikes in the old format of Open Ephys, beside which the .continuous files "
                 "of the recording have to be",
                 of_spikes},
    foreign_file{".continuous .events", "header.format = 'Open Ephys",
                 "is in the old format of Open Ephys", "read_openephys"},
    foreign_file{".tev .tsq .tbk .sev", "", "is a file of Tucker-Davis", "read_tdt"},
    foreign_file{".mpx", "", "is a file of Alpha Omega", "read_alphaomega"},
    foreign_file{".cbin", "", "holds compressed samples of SpikeGLX", "read_cbin_ibl"},
    foreign_file{".mda", "", "is a file of MountainSort", "read_mda_recording", false, true},
    foreign_file{".edf", "0       ", "holds samples as EDF", "read_edf"},
    foreign_file{".bdf",
                 "\xff"
                 "BIOSEMI",
                 "holds samples as BDF", "read_edf"},
    foreign_file{".rec", "<?xml", "holds samples of SpikeGadgets", of_recordings},
    foreign_file{".rec", "<Configuration", "holds samples of SpikeGadgets", of_recordings},
    foreign_file{".mat", "MATLAB", of_matlab},
    foreign_file{".mat", "", of_matlab},  // version 4 has no mark
    foreign_file{".wav", "RIFF",
                 "is a sound file: if it has samples of 16 bits, give the length of the header "
                 "before them as `header_bytes` (44 in most files)",
                 "", false, true},
    foreign_file{".raw.h5", "\x89HDF\r\n\x1a\n", "holds samples of MaxWell", of_recordings},
    foreign_file{".brw", "\x89HDF\r\n\x1a\n", "holds samples of 3Brain", of_recordings},
    foreign_file{"", "\x89HDF\r\n\x1a\n",
                 "is HDF5 and holds no raw samples: NWB is read without `channels` and "
                 "`sample_rate`",
                 "", true},
    foreign_file{"", "\x93NUMPY",
                 "is an array of numpy with a header, expected int16 samples and nothing else: "
                 "write it with x.astype('int16').tofile(...), or give the length of the header "
                 "(`header_bytes`) if it holds int16 samples",
                 "", true, true},
    foreign_file{".parquet", "PAR1", "is a file of Parquet: write the table as .csv"},
    foreign_file{".feather .arrow", "ARROW1", "is a file of Arrow: write the table as .csv"},
    foreign_file{".pkl .pickle", "\x80\x04\x95",
                 "is a pickle of Python: write a table or an array (.csv, .npy) from it"},
    foreign_file{".pkl .pickle", "\x80\x05\x95",
                 "is a pickle of Python: write a table or an array (.csv, .npy) from it"},
    foreign_file{".xls", "\xd0\xcf\x11\xe0", "is a file of Excel: save the table as .csv"},
    foreign_file{".xlsx .ods", "PK\x03\x04", "is a spreadsheet: save the table as .csv"},
    foreign_file{"", "PK\x03\x04", "is an archive: unpack it", "", true},
    foreign_file{"", "\x1f\x8b\x08", "is compressed: unpack it with gunzip", "", true},
    foreign_file{"", "SQLite format 3", "is a database of SQLite, which has no samples", "", true},
};

bool ends_in_one_of(std::string_view name, std::string_view endings) {
    for (std::size_t begin = 0; begin < endings.size();) {
        const std::size_t end = std::min(endings.find(' ', begin), endings.size());
        if (name.ends_with(endings.substr(begin, end - begin))) return true;
        begin = end + 1;
    }
    return false;
}

std::string small_name_of(const std::filesystem::path& path) {
    std::string name = path.filename().string();
    for (char& letter : name)
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return name;
}

const foreign_file* find_by_content(const std::string& name, std::string_view head) {
    const foreign_file* found = nullptr;
    for (const foreign_file& kind : kinds) {
        if (kind.begins.empty() || !head.starts_with(kind.begins)) continue;
        if (ends_in_one_of(name, kind.endings)) return &kind;
        if (found == nullptr || kind.endings.empty()) found = &kind;
    }
    return found;
}

const foreign_file* find_by_name(const std::string& name, bool without_mark) {
    const auto* const found =
        std::find_if(kinds.begin(), kinds.end(), [&](const foreign_file& kind) {
            return ends_in_one_of(name, kind.endings) && (!without_mark || kind.begins.empty());
        });
    return found == kinds.end() ? nullptr : found;
}

// Samples of 16 bits are no printable letters over this many bytes, unless they never change.
bool is_text(std::string_view head) {
    constexpr std::size_t enough = 16;
    constexpr std::size_t letters = 4;
    return head.size() >= enough && std::set<char>(head.begin(), head.end()).size() > letters &&
           std::all_of(head.begin(), head.end(), [](unsigned char letter) {
               return std::isprint(letter) != 0 || std::isspace(letter) != 0;
           });
}

}  // namespace

std::string foreign_file::says() const {
    if (reader.empty()) return std::string(is);
    if (reader.starts_with("spikeweave."))
        return fmt::format("{}, which the Python package reads: {}", is, reader);
    return fmt::format(
        "{}, which SpikeInterface reads: spikeweave.sort(spikeinterface.extractors.{}(...)) in "
        "Python",
        is, reader);
}

const foreign_file* find_foreign_file(const std::filesystem::path& path, std::string_view head) {
    const std::string name = small_name_of(path);
    const foreign_file* const found = find_by_content(name, head);
    return found != nullptr ? found : find_by_name(name, false);
}

std::string head_of(const std::filesystem::path& path) {
    constexpr std::uint64_t most = 256;
    std::error_code failed;
    if (!std::filesystem::is_regular_file(path, failed)) return "";
    const random_file file(path);
    std::string head(std::min(most, file.size()), '\0');
    file.read_at(0, head);
    return head;
}

std::string about_foreign_files(const std::filesystem::path& folder) {
    constexpr std::size_t most = 10'000;
    std::error_code failed;
    std::vector<std::filesystem::path> files;
    for (auto at = std::filesystem::directory_iterator(folder, failed);
         !failed && at != std::filesystem::directory_iterator() && files.size() < most;
         at.increment(failed))
        files.push_back(at->path());
    std::sort(files.begin(), files.end());
    for (const std::filesystem::path& path : files) {
        const foreign_file* const kind = find_by_name(small_name_of(path), false);
        if (kind != nullptr && !kind->reader.empty())
            return fmt::format("; its '{}' {}", path.filename().string(), kind->says());
    }
    return "";
}

void refuse_foreign_file(const std::filesystem::path& path) {
    const foreign_file* const kind = find_foreign_file(path, head_of(path));
    if (kind != nullptr && !kind->is_read) throw file_error(path, kind->says());
}

void refuse_as_samples(const std::filesystem::path& path, std::uint64_t offset) {
    const std::string head = head_of(path);
    const std::string name = small_name_of(path);
    const foreign_file* kind = find_by_content(name, head);
    if (kind == nullptr) kind = find_by_name(name, true);
    const bool is_skipped = offset > 0 && (kind == nullptr || kind->is_header_and_samples);
    if (is_skipped) return;
    if (kind != nullptr) throw file_error(path, kind->says());
    if (is_text(head))
        throw file_error(path, "begins with " + shown(head.substr(0, 16)) +
                                   ", which is text, expected int16 samples and nothing else");
}

}  // namespace spikeweave::io
