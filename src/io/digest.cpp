#include "io/digest.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <set>
#include <vector>

#include "core/stop.hpp"
#include "io/file_error.hpp"
#include "io/readable_file.hpp"

namespace spikeweave::io {
namespace {

struct free_state {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};
using state_pointer = std::unique_ptr<XXH3_state_t, free_state>;

std::uint64_t add_file(const std::filesystem::path& path, XXH3_state_t* state,
                       const std::stop_token& stop) {
    constexpr std::size_t piece_bytes = std::size_t{1} << 20;
    std::ifstream file = open_given(path);
    if (!file) throw system_error(path, "cannot be read");
    std::vector<char> piece(piece_bytes);
    std::uint64_t bytes = 0;
    do {
        core::throw_if_stopped(stop);
        file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
        if (file.bad()) throw system_error(path, "cannot be read");
        const auto got = static_cast<std::size_t>(file.gcount());
        XXH3_128bits_update(state, piece.data(), got);
        bytes += got;
    } while (file);
    return bytes;
}

// The files of a folder or, if it has none, of the folders below it.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
    static const std::set<std::string> extensions{".npy", ".py", ".tsv", ".csv"};
    constexpr int deepest = 2;
    using below = std::filesystem::recursive_directory_iterator;
    std::vector<std::filesystem::path> files;
    for (int depth = 0; depth <= deepest && files.empty(); depth += deepest) {
        std::error_code error;
        for (below entry(folder, error); !error && entry != below(); entry.increment(error)) {
            if (entry.depth() == depth) entry.disable_recursion_pending();
            if (std::error_code ignored; entry->is_regular_file(ignored) &&
                                         extensions.contains(entry->path().extension().string()))
                files.push_back(entry->path());
        }
        if (error) throw file_error(folder, "cannot be read: " + error.message());
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::string hex_of(const XXH128_hash_t& hash) {
    XXH128_canonical_t canonical{};
    XXH128_canonicalFromHash(&canonical, hash);
    std::string hex;
    for (const unsigned char byte : canonical.digest) hex += fmt::format("{:02x}", byte);
    return hex;
}

}  // namespace

digest digest_of(const std::filesystem::path& path, const std::stop_token& stop) {
    const state_pointer state(XXH3_createState());
    XXH3_128bits_reset(state.get());
    digest out;
    if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) {
        for (const auto& file : files_in(path)) {
            const std::string name = file.lexically_relative(path).generic_string();
            // The terminating zero is included, so that names and contents cannot run together.
            XXH3_128bits_update(state.get(), name.c_str(), name.size() + 1);
            out.bytes += add_file(file, state.get(), stop);
        }
    } else {
        out.bytes = add_file(path, state.get(), stop);
    }
    out.hex = hex_of(XXH3_128bits_digest(state.get()));
    return out;
}

std::string digest_of_bytes(std::string_view bytes) {
    return hex_of(XXH3_128bits(bytes.data(), bytes.size()));
}

}  // namespace spikeweave::io
