#pragma once

// The code that the fuzz targets share. A target is one file: it makes files of the bytes that
// libFuzzer passes and gives them to a reader. All targets are one executable, which runs the
// target whose name it is called by.

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

/// Named files: the content of a folder, or the seeds of a corpus.
using named_bytes = std::vector<std::pair<std::string, std::string>>;

/// The structure of a target's bytes, which determines how they are mutated.
enum class layout : std::uint8_t {
    bytes,  ///< one file
    parts,  ///< several files, each after a line "@@NAME"
};

struct target {
    std::string_view name;
    layout form;
    /// May throw io_error and invalid_argument, whose messages must name the folder; anything else
    /// is a failure.
    void (*run)(const temporary_folder& folder, std::string_view bytes);
    /// Seeds that the library writes instead of stored ones; may be null.
    named_bytes (*seeds)();
};

/// Adds a target when the program starts.
struct registration {
    explicit registration(const target& what);
};

/// One thread, so that the same bytes always give the same execution.
inline execution one_thread() {
    return {.threads = 1};
}

/// Returns the files of an input of `layout::parts`; text before the first "@@NAME" is ignored.
named_bytes parts_of(std::string_view bytes);
std::string joined(const named_bytes& parts);

/// Writes the parts that have one of these names, and removes other files.
void write_parts(const temporary_folder& folder, std::string_view bytes,
                 const std::vector<std::string>& names);

/// Returns a zip archive of the parts, stored, with their checksums.
std::string zip_of(const named_bytes& parts);

/// Mutates the bytes of one of the parts so that the others still fit; for a numpy array mostly its
/// items. `seed` selects the mutation.
std::string mutated_part(std::string_view bytes, std::size_t most, unsigned seed);

/// Checks that an error message is one printable line that names a file of this process's folder.
void check_message(const std::string& text);

/// Counts messages that an input held for a parser of streams; their sum is printed at the end.
void count_messages(std::uint64_t count);

/// If `holds` is false, ends the process with a message, which libFuzzer reports as a crash.
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
