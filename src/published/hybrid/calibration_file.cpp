#include "published/hybrid/calibration_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "io/atomic_file.hpp"
#include "io/file_error.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/version.hpp"

namespace spikeweave {
namespace {

constexpr std::string_view title =
    "# spikeweave: from how many episodes on each has its own thread";
constexpr std::string_view header = "size\tepisodes";

// Characters that need no quoting in a file system or a shell.
std::string as_file_name(std::string_view text) {
    std::string name(text);
    std::replace_if(
        name.begin(), name.end(),
        [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-';
        },
        '-');
    return name;
}

std::optional<std::filesystem::path> cache_folder() {
    // The environment is read once, before threads could change it.
    const char* const cache = std::getenv("XDG_CACHE_HOME");  // NOLINT(concurrency-mt-unsafe)
    if (cache != nullptr && *cache == '/') return std::filesystem::path(cache);
    const char* const home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe)
    if (home != nullptr && *home != '\0') return std::filesystem::path(home) / ".cache";
    return std::nullopt;
}

class line_reader {
public:
    line_reader(std::string_view text, const std::filesystem::path& path)
        : rest_(text), path_(path) {}

    bool at_end() const { return rest_.empty(); }
    std::string_view next() {
        ++number_;
        const std::size_t end = rest_.find('\n');
        if (end == std::string_view::npos) fail("a whole line");
        const std::string_view line = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        return line;
    }
    std::string value_of(std::string_view name) {
        const std::string_view line = next();
        const std::string begin = fmt::format("# {}: ", name);
        if (!line.starts_with(begin)) fail(begin);
        return std::string(line.substr(begin.size()));
    }
    void expect(std::string_view text) {
        if (next() != text) fail(text);
    }
    hybrid_crossover crossover() {
        const std::string_view line = next();
        const std::size_t tab = std::min(line.find('\t'), line.size());
        hybrid_crossover one{};
        if (!read(line.substr(0, tab), one.size) ||
            !read(line.substr(std::min(tab + 1, line.size())), one.episodes))
            fail("a size and a number of episodes");
        return one;
    }
    [[noreturn]] void fail(std::string_view expected) const {
        throw io::file_error(path_, fmt::format("line {}", number_),
                             fmt::format("expected {}", io::shown(expected)));
    }

private:
    template <class Number>
    static bool read(std::string_view text, Number& into) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
        return error == std::errc{} && end == text.data() + text.size() && !text.empty();
    }

    std::string_view rest_;
    const std::filesystem::path& path_;
    std::size_t number_ = 0;
};

}  // namespace

namespace episodes {

std::string calibration_text(const hybrid_calibration& one) {
    std::string text = fmt::format("{}\n# device: {}\n# driver: {}\n# version: {}\n{}\n", title,
                                   one.device_name, one.driver, one.version, header);
    for (const auto& [size, many] : one.crossovers) text += fmt::format("{}\t{}\n", size, many);
    return text;
}

hybrid_calibration calibration_from(std::string_view text, const std::filesystem::path& path) {
    line_reader lines(text, path);
    lines.expect(title);
    hybrid_calibration one;
    one.device_name = lines.value_of("device");
    one.driver = lines.value_of("driver");
    one.version = lines.value_of("version");
    lines.expect(header);
    do {
        one.crossovers.push_back(lines.crossover());
        const std::size_t sizes = one.crossovers.size();
        if (one.crossovers.back().size != sizes + 1) lines.fail(fmt::format("size {}", sizes + 1));
    } while (!lines.at_end());
    return one;
}

const hybrid_calibration& built_in_calibration() {
    static const hybrid_calibration h200{
        "NVIDIA H200",
        "",
        "",
        {{2, 65536}, {3, 65536}, {4, 32768}, {5, 32768}, {6, 32768}, {7, 32768}, {8, 32768}}};
    return h200;
}

}  // namespace episodes

bool prefers_thread_per_episode(const hybrid_calibration& by, std::size_t size,
                                std::uint64_t episodes) {
    if (by.crossovers.empty()) throw invalid_argument("a calibration without a crossover");
    const auto at = std::find_if(by.crossovers.begin(), by.crossovers.end(),
                                 [&](const hybrid_crossover& one) { return one.size >= size; });
    return episodes >= (at == by.crossovers.end() ? by.crossovers.back() : *at).episodes;
}

std::filesystem::path hybrid_calibration_file(const device_info& device) {
    const auto folder = cache_folder();
    if (!folder) throw io_error("there is no cache folder: neither XDG_CACHE_HOME nor HOME is set");
    return *folder / "spikeweave" /
           fmt::format("hybrid_{}_{}_{}.tsv", as_file_name(device.name),
                       as_file_name(device.driver), as_file_name(version()));
}

std::optional<hybrid_calibration> load_hybrid_calibration(const device_info& device) {
    if (!cache_folder()) return std::nullopt;
    const std::filesystem::path path = hybrid_calibration_file(device);
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    hybrid_calibration kept = episodes::calibration_from(text, path);
    // File names hold shortened names, so the full ones are compared.
    if (kept.device_name != device.name || kept.driver != device.driver ||
        kept.version != version())
        return std::nullopt;
    return kept;
}

}  // namespace spikeweave
