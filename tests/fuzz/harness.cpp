#include "fuzz/harness.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace spikeweave::fuzz {
namespace {

std::vector<target>& targets() {
    static std::vector<target> all;
    return all;
}

const target* chosen = nullptr;
std::uint64_t messages = 0;

// In the form of libFuzzer's own figures, which run_fuzz.sh adds up.
void print_messages() {
    if (messages > 0) std::cerr << "stat::messages: " << messages << '\n';
}

const temporary_folder& own_folder() {
    static const temporary_folder folder;
    return folder;
}

[[noreturn]] void list_targets(int status) {
    for (const target& one : targets()) std::cout << one.name << '\n';
    std::exit(status);  // NOLINT(concurrency-mt-unsafe)
}

[[noreturn]] void write_seeds(const std::filesystem::path& folder) {
    if (chosen->seeds != nullptr)
        for (const auto& [name, bytes] : chosen->seeds())
            std::ofstream(folder / name, std::ios::binary) << bytes;
    std::exit(0);  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace

registration::registration(const target& what) {
    targets().push_back(what);
}

void count_messages(std::uint64_t count) {
    messages += count;
}

void require(bool holds, std::string_view what) {
    if (holds) return;
    std::cerr << "fuzz: " << what << '\n' << std::flush;
    std::abort();
}

void check_message(const std::string& text) {
    const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
    require(std::none_of(text.begin(), text.end(), is_control),
            "a message that is not one printable line: " + text);
    require(text.find(own_folder().path().string()) != std::string::npos,
            "a message that does not name the file: " + text);
}

}  // namespace spikeweave::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
    using namespace spikeweave::fuzz;
    const std::string name = std::filesystem::path((*argv)[0]).filename().string();
    const auto found = std::find_if(targets().begin(), targets().end(), [&](const target& one) {
        return name == "fuzz_" + std::string(one.name);
    });
    if (found == targets().end()) list_targets(*argc == 2 ? 0 : 2);
    chosen = &*found;
    std::atexit(print_messages);
    if (*argc == 3 && std::string_view((*argv)[1]) == "--write-seeds") write_seeds((*argv)[2]);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace spikeweave;
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    try {
        fuzz::chosen->run(fuzz::own_folder(), bytes);
    } catch (const io_error& error) {
        fuzz::check_message(error.what());
    } catch (const invalid_argument& error) {
        fuzz::check_message(error.what());
    }
    return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
    using namespace spikeweave::fuzz;
    if (chosen->form == layout::bytes || size == 0) return LLVMFuzzerMutate(data, size, most);
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    const std::string changed = mutated_part(bytes, most, seed);
    const std::size_t kept = std::min(changed.size(), most);
    std::copy_n(changed.begin(), kept, data);
    return kept;
}
