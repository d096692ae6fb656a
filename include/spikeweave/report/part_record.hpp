#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/report/run_record.hpp"

/// Results of runs that divided the surrogates of one analysis, to be merged.
namespace spikeweave {

/// The findings of one of these runs.
struct part_record {
    /// Where it comes from, with all parameters as they were given.
    run_record run{};
    std::string verb{};  ///< "episodes" or "spade"
    surrogate_part part{};
    std::string tally{};  ///< the bytes of a `maxima_tally` or a `surrogate_tally`
};

/// Writes `part.json` in a folder, which is complete or absent.
/// @throws io_error, cancelled.
SPIKEWEAVE_API void write_part(const std::filesystem::path& folder, const part_record& part,
                               bool overwrite, const execution& run = {});

/// Reads all parts of one analysis.
/// @return the parts in the order of their numbers, at least one
/// @throws io_error if a folder holds no part, or a part of another analysis; invalid_argument if a
/// part is missing or is there twice.
SPIKEWEAVE_API std::vector<part_record> read_parts(std::span<const std::filesystem::path> folders);

/// Checks that an input is the one that a part was made of.
/// @throws io_error if its content differs.
SPIKEWEAVE_API void check_input(const part_record& part, const input_record& input);

/// Adds up the tallies of parts.
/// @param input  the input that they were made of
/// @return nothing if there are no parts
/// @throws io_error if the input has another content now; invalid_argument if a tally is damaged.
template <class Tally>
std::optional<Tally> merged_tally(std::span<const part_record> parts, const input_record& input) {
    if (parts.empty()) return {};
    check_input(parts.front(), input);
    Tally whole = Tally::from_bytes(parts.front().tally);
    for (const part_record& part : parts.subspan(1)) whole.merge(Tally::from_bytes(part.tally));
    return whole;
}

}  // namespace spikeweave
