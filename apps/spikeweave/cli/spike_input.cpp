#include "cli/spike_input.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"

namespace spikeweave::cli {
namespace {

[[noreturn]] void fail_to_read(int code) {
    throw io_error("standard input cannot be read: " + std::generic_category().message(code));
}

void wait_for_input(const std::stop_token& stop) {
    constexpr int between_looks_ms = 100;
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    for (;;) {
        if (stop.stop_requested()) throw cancelled();
        const int ready = ::poll(&input, 1, between_looks_ms);
        if (ready > 0) return;
        if (ready < 0 && errno != EINTR) fail_to_read(errno);
    }
}

void hold_bytes(int to, std::span<const char> bytes) {
    while (!bytes.empty()) {
        const ssize_t wrote = ::write(to, bytes.data(), bytes.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) fail_to_read(errno);
        bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    }
}

// Returns a descriptor of a copy in memory.
int hold_standard_input(const std::stop_token& stop) {
    if (::isatty(STDIN_FILENO) != 0)
        throw io_error("standard input is a terminal, expected spikes from a file or a pipe");
    const int held = ::memfd_create("standard-input", 0);
    if (held < 0) fail_to_read(errno);
    try {
        std::vector<char> block(std::size_t{1} << 20);
        for (;;) {
            wait_for_input(stop);
            const ssize_t got = ::read(STDIN_FILENO, block.data(), block.size());
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) fail_to_read(errno);
            if (got == 0) return held;
            hold_bytes(held, std::span(block).first(static_cast<std::size_t>(got)));
        }
    } catch (...) {
        ::close(held);
        throw;
    }
}

}  // namespace

spike_source::spike_source(const std::string& path, const std::stop_token& stop) : path_(path) {
    if (!is_standard_input(path)) return;
    held_ = hold_standard_input(stop);
    // The path has the number of this process, because another process reads HDF5.
    path_ = fmt::format("/proc/{}/fd/{}", ::getpid(), held_);
}

spike_source::~spike_source() {
    if (held_ >= 0) ::close(held_);
}

spike_file spike_source::read(const spike_read_options& how, const execution& run) const {
    try {
        return read_spikes(path_, how, run);
    } catch (const io_error& error) {
        if (held_ < 0) throw;
        std::string text = error.what();
        for (const std::string& name : {"'" + path_ + "'", path_})
            if (const std::size_t at = text.find(name); at != std::string::npos)
                text.replace(at, name.size(), "standard input");
        throw io_error(text);
    }
}

input_record spike_source::describe(const execution& run) const {
    input_record record = describe_input(path_, run);
    if (held_ >= 0) record.path = "-";
    return record;
}

void add_spike_file(CLI::App& app, std::string& path) {
    app.add_option("FILE", path, "file or folder of spikes; - is standard input")
        ->required()
        ->type_name("")
        ->group("Input");
}

option_list describe(spike_input_options& options) {
    option_list list = describe(options.how);
    list.begin_group("Input");
    list.add("only_units", options.only_units, "leave out all other units").written("A,B,...");
    return list;
}

spike_input read_input(const spike_input_options& options, const session& now,
                       const execution& run) {
    if (is_standard_input(options.path) && now.ranks)
        throw invalid_argument("several processes cannot share standard input: name a file");
    const spike_source source(options.path, now.stop);
    spike_file file = source.read(options.how, run);
    spike_input in{.has_recorded_span = file.has_recorded_span,
                   .record = {.input = source.describe(run),
                              .duplicates = file.duplicates,
                              .stimuli = file.stimulus_us.size()}};
    add_warnings(in.record, warnings_of(file));
    now.stop_if_asked();
    in.spikes = options.only_units.empty() ? std::move(file.spikes)
                                           : select_units(file.spikes, options.only_units);
    return in;
}

void record_input(run_record& into, run_record input, const session& now) {
    into.command = now.command_line;
    into.input = std::move(input.input);
    into.duplicates = input.duplicates;
    into.stimuli = input.stimuli;
}

}  // namespace spikeweave::cli
