#pragma once

// What the fuzz targets share. A target is one file: it makes files of the bytes that libFuzzer
// hands over and gives them to a reader. All targets are one executable, which takes the name that
// it is called by for that of the target.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/core/execution.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave::fuzz {

/// Files by name: what a folder holds, or the seeds of a corpus.
using named_bytes = std::vector<std::pair<std::string, std::string>>;

/// How a target's bytes are put together, which says how they are mutated.
enum class layout : std::uint8_t {
    bytes,  ///< one file
    parts,  ///< several files, each behind a line "@@NAME"
};

struct target {
    std::string_view name;
    layout form;
    /// May throw io_error and invalid_argument, whose messages name the folder; all else is a
    /// fault.
    void (*run)(const temporary_folder& folder, std::string_view bytes);
    /// Seeds that are written by the library rather than kept; may be null.
    named_bytes (*seeds)();
};

/// Adds a target when the program starts.
struct registration {
    explicit registration(const target& what);
};

/// One thread, so that the same bytes always take the same way.
inline execution one_thread() {
    return {.threads = 1};
}

/// The files of an input of `layout::parts`; what stands before the first "@@NAME" is nothing.
named_bytes parts_of(std::string_view bytes);
std::string joined(const named_bytes& parts);

/// Writes those of the parts that have one of these names, and removes the other files.
void write_parts(const temporary_folder& folder, std::string_view bytes,
                 const std::vector<std::string>& names);

/// A zip archive of the parts, stored, with their checksums.
std::string zip_of(const named_bytes& parts);

/// Changes the bytes of one of the parts, of a numpy array mostly its items, so that the others
/// still fit it. `seed` decides which.
std::string mutated_part(std::string_view bytes, std::size_t most, unsigned seed);

/// What a refusal says has to be one printable line that names a file of this process's folder.
void check_message(const std::string& text);

/// Ends the process with what is wrong, which libFuzzer reports as a crash.
void require(bool holds, std::string_view what);

}  // namespace spikeweave::fuzz

/// Defines and registers the target `name`: SPIKEWEAVE_FUZZ_TARGET(text, bytes, nullptr) { … } with
/// `folder` and `bytes`.
#define SPIKEWEAVE_FUZZ_TARGET(name, form, seeds)                                    \
    static void fuzz_##name(const temporary_folder& folder, std::string_view bytes); \
    static const spikeweave::fuzz::registration registered_##name{                   \
        {#name, spikeweave::fuzz::layout::form, fuzz_##name, seeds}};                \
    static void fuzz_##name([[maybe_unused]] const temporary_folder& folder,         \
                            [[maybe_unused]] std::string_view bytes)
