#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/file_error.hpp"
#include "io/npy.hpp"
#include "io/zip.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/record/feature_basis.hpp"

/// Arrays of numbers in an `.npz`, in which models are saved.
namespace spikeweave::sort {

using reals = std::vector<double>;
using wholes = std::vector<std::int64_t>;

template <class Item>
void write_array(io::zip_writer& archive, const char* name, const std::vector<Item>& items) {
    constexpr auto kind =
        std::is_floating_point_v<Item> ? io::npy_kind::real : io::npy_kind::integer;
    archive.begin(fmt::format("{}.npy", name));
    archive.write(io::format_npy_header({kind, sizeof(Item), false, {items.size()}}));
    archive.write({reinterpret_cast<const char*>(items.data()), items.size() * sizeof(Item)});
}

inline void write_texts(io::zip_writer& archive, const char* name,
                        const std::vector<std::string>& texts) {
    archive.begin(fmt::format("{}.npy", name));
    archive.write(io::npy_of_texts(texts));
}

/// Reads arrays that were written, and checks them.
/// @throws io_error naming the file, the array, what was found and expected.
class model_reader {
public:
    explicit model_reader(const std::filesystem::path& path) : path_(path), archive_(path) {}
    /// @param bytes  of the archive, which the file at `path` contains
    model_reader(const std::filesystem::path& path, std::string bytes)
        : path_(path), archive_(std::make_shared<const io::random_file>(path, std::move(bytes))) {}

    template <class Item>
    std::vector<Item> read(const char* name, std::uint64_t expected) const {
        io::npy_reader array = open(name, "numbers", expected);
        auto items = io::read_whole<Item>(array);
        for (std::size_t i = 0; i < items.size(); ++i)
            if (!std::isfinite(static_cast<double>(items[i])))
                fail(name, i, static_cast<double>(items[i]), "a finite number");
        return items;
    }

    // Reads numbers between `least` and `most`, both included.
    template <class Item>
    std::vector<Item> read(const char* name, std::uint64_t expected, Item least, Item most) const {
        std::vector<Item> items = read<Item>(name, expected);
        for (std::size_t i = 0; i < items.size(); ++i)
            if (items[i] < least || items[i] > most)
                fail(name, i, static_cast<double>(items[i]),
                     fmt::format("{:g} to {:g}", static_cast<double>(least),
                                 static_cast<double>(most)));
        return items;
    }

    // Reads texts that can be written to any file.
    std::vector<std::string> read_texts(const char* name, std::uint64_t expected) const {
        io::npy_reader array = open(name, "texts", expected);
        std::vector<std::string> texts;
        for (std::uint64_t i = 0; i < expected; ++i) {
            texts.push_back(array.read_text());
            if (!texts.back().empty() && !io::is_printable_utf8(texts.back()))
                fail(name, i, io::shown(texts.back()), "printable text");
        }
        array.expect_end();
        return texts;
    }

    template <class Found>
    [[noreturn]] void fail(const char* name, std::size_t at, const Found& found,
                           const std::string& expected) const {
        throw io::file_error(path_, fmt::format("array '{}', number {}", name, at + 1),
                             fmt::format("found {}, expected {}", found, expected));
    }

    static constexpr auto any = std::numeric_limits<std::uint64_t>::max();

private:
    io::npy_reader open(const char* name, const char* items, std::uint64_t expected) const {
        const auto* const entry = archive_.find(fmt::format("{}.npy", name));
        if (entry == nullptr)
            throw io::file_error(path_, fmt::format("has no array '{}', expected a model that "
                                                    "spikeweave wrote",
                                                    name));
        io::npy_reader array(archive_.open(*entry),
                             fmt::format("'{}', array '{}'", path_.string(), name));
        if (expected != any && array.header().count() != expected)
            throw io_error(fmt::format("{}: found {} {}, expected {}", array.what(),
                                       array.header().count(), items, expected));
        return array;
    }

    std::filesystem::path path_;
    io::zip_reader archive_;
};

void write_basis(io::zip_writer& archive, const feature_basis& basis);
feature_basis read_basis(const model_reader& file);

}  // namespace spikeweave::sort
