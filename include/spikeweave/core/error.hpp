#pragma once

#include <stdexcept>
#include <string>

#include "spikeweave/core/export.hpp"

namespace spikeweave {

// Names of options stand between backquotes in the texts of errors, so that callers can spell them
// in their own way (`with_command_line_names` and `with_plain_names` in core/options.hpp).

/// A precondition is broken: an argument, an option or a value is invalid.
struct SPIKEWEAVE_API invalid_argument : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
    /// The text then is "`field`: problem".
    invalid_argument(const std::string& field, const std::string& problem)
        : std::invalid_argument('`' + field + "`: " + problem), field_(field) {}

    /// The option or argument that is invalid; empty if the text is not about a single one.
    const std::string& field() const { return field_; }

private:
    std::string field_{};
};

/// A file cannot be read or written. The text names the file and the line or record, and states
/// what was found and what was expected.
struct SPIKEWEAVE_API io_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A GPU is absent, has too little memory, was lost or failed. The text states what was needed and
/// what was available.
struct SPIKEWEAVE_API device_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The call ended early because the caller asked it to stop (`execution::stop`). It left nothing
/// behind.
struct SPIKEWEAVE_API cancelled : std::runtime_error {
    cancelled() : std::runtime_error("stopped on request") {}
};

}  // namespace spikeweave
