#include <filesystem>

#include "fuzz/features.hpp"
#include "fuzz/hdf5_tree.hpp"
#include "fuzz/recordings.hpp"
#include "fuzz/spikes.hpp"

// Each reader of HDF5 has two targets: valid files with arbitrary content, and files with damaged
// bytes.
namespace spikeweave::fuzz {
namespace {

void write_trees(const temporary_folder& folder, std::string_view bytes) {
    for (const char* name : {"a.kwx", "a.kwik"}) std::filesystem::remove(folder.path() / name);
    for (const auto& [name, text] : parts_of(bytes))
        if (name == "a.kwx" || name == "a.kwik") write_hdf5_tree(folder.path() / name, text);
}

// Returns the files that the stored inputs of another target describe.
named_bytes files_of(const char* corpus, bool in_parts) {
    const temporary_folder made;
    named_bytes seeds;
    const auto from = std::filesystem::path(SPIKEWEAVE_SOURCE_DIR) / "tests/fuzz/corpus" / corpus;
    const auto bytes_of = [&](std::string_view text) {
        write_hdf5_tree(made.path() / "seed.h5", text);
        return read_bytes(made.path() / "seed.h5");
    };
    for (const auto& entry : std::filesystem::directory_iterator(from)) {
        const std::string text = read_bytes(entry.path());
        const std::string name = entry.path().filename().string();
        if (!in_parts) {
            seeds.emplace_back(name, bytes_of(text));
            continue;
        }
        named_bytes parts = parts_of(text);
        for (auto& part : parts) part.second = bytes_of(part.second);
        seeds.emplace_back(name, joined(parts));
    }
    return seeds;
}

}  // namespace

SPIKEWEAVE_FUZZ_TARGET(nwb, bytes, nullptr) {
    write_hdf5_tree(folder.path() / "a.nwb", bytes);
    read_and_write_again(folder, folder.path() / "a.nwb", spike_format::nwb, bytes);
}

SPIKEWEAVE_FUZZ_TARGET(nwb_bytes, bytes, [] { return files_of("nwb", false); }) {
    read_and_write_again(folder, folder.file("a.nwb", bytes), spike_format::nwb, bytes);
}

SPIKEWEAVE_FUZZ_TARGET(eglen, bytes, nullptr) {
    write_hdf5_tree(folder.path() / "a.h5", bytes);
    read_and_write_again(folder, folder.path() / "a.h5", spike_format::eglen, bytes);
}

SPIKEWEAVE_FUZZ_TARGET(kwik_spikes, bytes, nullptr) {
    write_hdf5_tree(folder.path() / "a.kwik", bytes);
    read_and_write_again(folder, folder.path() / "a.kwik", spike_format::kwik, bytes);
}

SPIKEWEAVE_FUZZ_TARGET(nwb_recording, bytes, nullptr) {
    write_hdf5_tree(folder.path() / "a.nwb", bytes);
    static_cast<void>(find_recording_format(folder.path() / "a.nwb"));
    read_recording_and_write_again(folder, folder.path() / "a.nwb",
                                   {.format = recording_format::nwb});
}

SPIKEWEAVE_FUZZ_TARGET(nwb_recording_bytes, bytes,
                       [] { return files_of("nwb_recording", false); }) {
    read_recording_and_write_again(folder, folder.file("a.nwb", bytes),
                                   {.format = recording_format::nwb});
}

SPIKEWEAVE_FUZZ_TARGET(kwik, parts, nullptr) {
    write_trees(folder, bytes);
    read_features_and_write_again(folder, folder.path() / "a.kwx");
}

SPIKEWEAVE_FUZZ_TARGET(kwik_bytes, parts, [] { return files_of("kwik", true); }) {
    write_parts(folder, bytes, {"a.kwx", "a.kwik"});
    read_features_and_write_again(folder, folder.path() / "a.kwx");
}

}  // namespace spikeweave::fuzz
