#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/random_file.hpp"

namespace spikeweave::io {

/// The type of the items of a numpy array, as the letter of numpy's type string.
enum class npy_kind : char {
    boolean = 'b',
    integer = 'i',
    natural = 'u',
    real = 'f',
    bytes = 'S',
    text = 'U',
};

struct npy_header {
    npy_kind kind = npy_kind::real;
    std::size_t item_bytes = 8;
    bool fortran_order = false;
    std::vector<std::uint64_t> shape{};

    /// The number of all items.
    std::uint64_t count() const;
    bool is_number() const { return kind != npy_kind::bytes && kind != npy_kind::text; }
    bool is_whole() const { return is_number() && kind != npy_kind::real; }
};

/// Reads an array item by item, in file order, with bounded memory for any header. It supports
/// little-endian numbers of 1 to 8 bytes (reals of 4 and 8), and `|S` and `<U` text.
class npy_reader {
public:
    /// @param what  name of the array in messages, such as "'a.npz', array 't'"
    /// @throws io_error if the header is not that of such an array.
    npy_reader(byte_source source, std::string what);

    const npy_header& header() const { return header_; }
    const std::string& what() const { return what_; }
    /// The number of items not yet read.
    std::uint64_t remaining() const { return remaining_; }

    /// Reads as many of the next items as `into` holds, or fewer at the end.
    /// @throws io_error if the data are truncated or of the wrong type.
    std::size_t read(std::span<double> into);
    std::size_t read(std::span<std::int64_t> into);
    /// Reads the next item of a text array as UTF-8; numbers are not text.
    std::string read_text();
    void skip(std::uint64_t items);
    /// @throws io_error if there are data after the array.
    void expect_end();

private:
    std::size_t next_block(std::size_t most);

    byte_source source_;
    std::string what_;
    npy_header header_;
    std::uint64_t remaining_ = 0;
    std::uint64_t done_ = 0;
    std::vector<char> block_;
};

/// Returns the bytes before the data of an array in C order.
std::string format_npy_header(const npy_header& header);

/// Appends an item of `<U` text: code points of 4 bytes, padded with zeros to `characters`.
void append_utf32(std::string& out, std::string_view utf8, std::size_t characters);
/// Returns a whole array of `<U` text.
std::string npy_of_texts(std::span<const std::string> texts);

/// Reads all items in blocks, so that a damaged header cannot ask for more memory than the file has
/// items. @throws io_error as the reader does, and for data after the items.
template <class Item>
std::vector<Item> read_whole(npy_reader& array) {
    std::vector<Item> items;
    constexpr std::size_t block = 4096;
    for (std::size_t got = block; got == block;) {
        items.resize(items.size() + block);
        got = array.read(std::span{items}.last(block));
        items.resize(items.size() - block + got);
    }
    array.expect_end();
    return items;
}

}  // namespace spikeweave::io
