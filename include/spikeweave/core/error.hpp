#pragma once

#include <stdexcept>
#include <string>

namespace spikeweave {

/// A broken precondition: an argument, option or value type that cannot be what it says.
struct invalid_argument : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// A file that cannot be read or written; the text names the file, the line or record, what was
/// found and expected.
struct io_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A GPU that is absent, has too little memory, was lost or failed; the text says what was needed
/// and what there was.
struct device_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The caller asked to stop (`execution::stop`); nothing was left behind.
struct cancelled : std::runtime_error {
    cancelled() : std::runtime_error("stopped on request") {}
};

}  // namespace spikeweave
