#include "live/network/lsl.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "io/file_error.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

constexpr const char* lsl_variable = "SPIKEWEAVE_LIBLSL";

[[noreturn]] void fail_to_load(std::string problem) {
    std::replace(problem.begin(), problem.end(), '\n', ' ');
    throw io_error(fmt::format(
        "LSL needs the library liblsl, which cannot be loaded: {}. Install it "
        "(https://github.com/sccn/liblsl/releases, or pylsl from PyPI, which contains it), or name "
        "its file liblsl.so in the environment variable {}",
        problem, lsl_variable));
}

std::string loader_error() {
    const char* const text = ::dlerror();  // NOLINT(concurrency-mt-unsafe)
    return text != nullptr ? text : "unknown error";
}

// It is never unloaded, because it has threads.
void* open_library() {
    constexpr int when = RTLD_NOW | RTLD_LOCAL;
    const char* const given = std::getenv(lsl_variable);  // NOLINT(concurrency-mt-unsafe)
    if (given != nullptr && *given != '\0') {
        if (void* const opened = ::dlopen(given, when)) return opened;
        fail_to_load(loader_error());
    }
    for (const char* const name : std::array{"liblsl.so.2", "liblsl.so", "liblsl64.so"})
        if (void* const opened = ::dlopen(name, when)) return opened;
    fail_to_load("the system finds no liblsl.so");
}

template <class Function>
void find_function(void* opened, Function*& found, const char* name) {
    found = reinterpret_cast<Function*>(::dlsym(opened, name));
    if (found == nullptr) fail_to_load(loader_error());
}

lsl_library functions_of(void* opened) {
    lsl_library found{};
    find_function(opened, found.create_streaminfo, "lsl_create_streaminfo");
    find_function(opened, found.destroy_streaminfo, "lsl_destroy_streaminfo");
    find_function(opened, found.resolve_byprop, "lsl_resolve_byprop");
    find_function(opened, found.get_channel_count, "lsl_get_channel_count");
    find_function(opened, found.get_channel_format, "lsl_get_channel_format");
    find_function(opened, found.get_nominal_srate, "lsl_get_nominal_srate");
    find_function(opened, found.get_source_id, "lsl_get_source_id");
    find_function(opened, found.create_inlet, "lsl_create_inlet");
    find_function(opened, found.destroy_inlet, "lsl_destroy_inlet");
    find_function(opened, found.open_stream, "lsl_open_stream");
    find_function(opened, found.time_correction, "lsl_time_correction");
    find_function(opened, found.samples_available, "lsl_samples_available");
    find_function(opened, found.pull_sample_l, "lsl_pull_sample_l");
    find_function(opened, found.pull_sample_buf, "lsl_pull_sample_buf");
    find_function(opened, found.destroy_string, "lsl_destroy_string");
    find_function(opened, found.pull_chunk_s, "lsl_pull_chunk_s");
    find_function(opened, found.pull_chunk_f, "lsl_pull_chunk_f");
    find_function(opened, found.create_outlet, "lsl_create_outlet");
    find_function(opened, found.destroy_outlet, "lsl_destroy_outlet");
    find_function(opened, found.have_consumers, "lsl_have_consumers");
    find_function(opened, found.push_sample_str, "lsl_push_sample_str");
    return found;
}

}  // namespace

void check_lsl_name(const std::string& name) {
    if (name.starts_with("//") || name.find('\'') != std::string::npos ||
        !io::is_printable_utf8(name))
        throw invalid_argument(
            fmt::format("{} is no stream of LSL: expected lsl:NAME, where NAME is printable text "
                        "without ' and does not begin with //",
                        io::shown("lsl:" + name)));
}

const lsl_library& load_lsl() {
    static const lsl_library loaded = functions_of(open_library());
    return loaded;
}

}  // namespace spikeweave::live
