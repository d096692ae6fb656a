#include "io/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "io/file_error.hpp"
#include "io/little_endian.hpp"

namespace spikeweave::io {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t block_bytes = std::size_t{1} << 18;
constexpr std::size_t longest_text = std::size_t{1} << 16;

io_error wrong(const std::string& what, std::string_view why) {
    return io_error(fmt::format("{}: {}", what, why));
}

// Returns what follows the key of the header's Python dictionary, up to the end.
std::string_view value_of(std::string_view dictionary, std::string_view key,
                          const std::string& what) {
    const std::size_t at = dictionary.find(fmt::format("'{}'", key));
    const std::size_t colon = at == std::string_view::npos ? at : dictionary.find(':', at);
    const std::size_t first =
        colon == std::string_view::npos ? colon : dictionary.find_first_not_of(' ', colon + 1);
    if (first == std::string_view::npos)
        throw wrong(what, fmt::format("its numpy header has no '{}'", key));
    return dictionary.substr(first);
}

void parse_type(npy_header& header, std::string_view value, const std::string& what) {
    const std::string_view type =
        value.starts_with('\'') ? value.substr(1, value.find('\'', 1) - 1) : value.substr(0, 12);
    const auto refuse = [&](std::string_view why) {
        return wrong(what, fmt::format("its items are of numpy type {}, {}", shown(type), why));
    };
    if (type.size() < 3 || !value.starts_with('\'')) throw refuse("expected numbers or text");
    const auto [end, code] =
        std::from_chars(type.data() + 2, type.data() + type.size(), header.item_bytes);
    constexpr std::string_view kinds = "biufSU";
    if (kinds.find(type[1]) == std::string_view::npos || code != std::errc{} ||
        end != type.data() + type.size())
        throw refuse("expected numbers or text");
    header.kind = static_cast<npy_kind>(type[1]);
    if (type[0] == '>' && header.item_bytes > 1) throw refuse("expected little-endian ones");
    const std::size_t n = header.item_bytes;
    if (header.is_number()) {
        const bool fits = header.kind == npy_kind::real      ? n == 4 || n == 8
                          : header.kind == npy_kind::boolean ? n == 1
                                                             : n == 1 || n == 2 || n == 4 || n == 8;
        if (!fits) throw refuse("expected integers of 1 to 8 bytes or reals of 4 or 8");
    } else {
        if (n > longest_text) throw refuse("expected shorter text");
        if (header.kind == npy_kind::text) header.item_bytes *= 4;
    }
}

void parse_shape(npy_header& header, std::string_view value, const std::string& what) {
    const std::size_t close = value.find(')');
    if (!value.starts_with('(') || close == std::string_view::npos)
        throw wrong(what, "its numpy header has a damaged shape");
    std::string_view rest = value.substr(1, close - 1);
    std::uint64_t count = 1;
    while (true) {
        rest.remove_prefix(std::min(rest.find_first_not_of(", "), rest.size()));
        if (rest.empty()) return;
        std::uint64_t length = 0;
        const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
        std::uint64_t bytes = 0;
        if (code != std::errc{} || __builtin_mul_overflow(count, length, &count) ||
            __builtin_mul_overflow(count, std::max<std::size_t>(header.item_bytes, 1), &bytes))
            throw wrong(what, "its numpy header has a damaged shape");
        header.shape.push_back(length);
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    }
}

npy_header read_header(const byte_source& source, const std::string& what) {
    char start[10];
    if (source(start) != sizeof start || std::string_view(start, magic.size()) != magic)
        throw wrong(what, "does not begin like a numpy array");
    const int version = static_cast<unsigned char>(start[6]);
    std::size_t length = load<std::uint16_t>(start + 8);
    if (version == 2 || version == 3) {
        char upper[2];
        if (source(upper) != sizeof upper) throw wrong(what, "its numpy header is cut");
        length |= std::size_t{load<std::uint16_t>(upper)} << 16;
    } else if (version != 1) {
        throw wrong(what, fmt::format("numpy format {}, expected 1, 2 or 3", version));
    }
    constexpr std::size_t longest = std::size_t{1} << 20;
    std::string text(std::min(length, longest), '\0');
    if (source(text) != length) throw wrong(what, "its numpy header is cut");
    npy_header header;
    parse_type(header, value_of(text, "descr", what), what);
    header.fortran_order = value_of(text, "fortran_order", what).starts_with("True");
    parse_shape(header, value_of(text, "shape", what), what);
    return header;
}

template <class To, class From>
void convert(const char* from, std::span<To> into) {
    for (std::size_t i = 0; i < into.size(); ++i)
        // A signed char is a number here: numpy's i1. NOLINTNEXTLINE(bugprone-signed-char-misuse)
        into[i] = static_cast<To>(load<From>(from + i * sizeof(From)));
}

template <class To>
void convert_items(const npy_header& header, const char* from, std::span<To> into) {
    const bool natural = header.kind != npy_kind::integer;
    if (header.kind == npy_kind::real) {
        return header.item_bytes == 4 ? convert<To, float>(from, into)
                                      : convert<To, double>(from, into);
    }
    switch (header.item_bytes) {
        case 1:
            return natural ? convert<To, std::uint8_t>(from, into)
                           : convert<To, std::int8_t>(from, into);
        case 2:
            return natural ? convert<To, std::uint16_t>(from, into)
                           : convert<To, std::int16_t>(from, into);
        case 4:
            return natural ? convert<To, std::uint32_t>(from, into)
                           : convert<To, std::int32_t>(from, into);
        default:
            return natural ? convert<To, std::uint64_t>(from, into)
                           : convert<To, std::int64_t>(from, into);
    }
}

void append_utf8(std::string& out, std::uint32_t point) {
    const auto tail = [&](unsigned shift) {
        out += static_cast<char>(0x80U | ((point >> shift) & 0x3FU));
    };
    if (point < 0x80) {
        out += static_cast<char>(point);
    } else if (point < 0x800) {
        out += static_cast<char>(0xC0U | (point >> 6));
        tail(0);
    } else if (point < 0x10000) {
        out += static_cast<char>(0xE0U | (point >> 12));
        tail(6);
        tail(0);
    } else {
        out += static_cast<char>(0xF0U | ((point >> 18) & 0x07U));
        tail(12);
        tail(6);
        tail(0);
    }
}

}  // namespace

std::uint64_t npy_header::count() const {
    std::uint64_t n = 1;
    for (const std::uint64_t length : shape) n *= length;
    return n;
}

npy_reader::npy_reader(byte_source source, std::string what)
    : source_(std::move(source)),
      what_(std::move(what)),
      header_(read_header(source_, what_)),
      remaining_(header_.count()) {}

std::size_t npy_reader::next_block(std::size_t most) {
    const std::size_t fitting = block_bytes / std::max<std::size_t>(header_.item_bytes, 1);
    const auto n = static_cast<std::size_t>(
        std::min<std::uint64_t>({most, std::max<std::size_t>(fitting, 1), remaining_}));
    block_.resize(n * header_.item_bytes);
    const std::size_t got = source_(block_);
    if (got != block_.size())
        throw wrong(what_, fmt::format("is cut: it holds {} items, expected {}",
                                       done_ + got / std::max<std::size_t>(header_.item_bytes, 1),
                                       header_.count()));
    remaining_ -= n;
    done_ += n;
    return n;
}

std::size_t npy_reader::read(std::span<double> into) {
    if (!header_.is_number()) throw wrong(what_, "holds text, expected numbers");
    std::size_t done = 0;
    while (done < into.size() && remaining_ > 0) {
        const std::size_t n = next_block(into.size() - done);
        convert_items(header_, block_.data(), into.subspan(done, n));
        done += n;
    }
    return done;
}

std::size_t npy_reader::read(std::span<std::int64_t> into) {
    if (!header_.is_number()) throw wrong(what_, "holds text, expected numbers");
    std::size_t done = 0;
    while (done < into.size() && remaining_ > 0) {
        const std::uint64_t before = done_;
        const std::size_t n = next_block(into.size() - done);
        const std::span<std::int64_t> part = into.subspan(done, n);
        if (header_.kind == npy_kind::real) {
            std::vector<double> reals(n);
            convert_items(header_, block_.data(), std::span{reals});
            for (std::size_t i = 0; i < n; ++i) {
                constexpr double beyond = 9223372036854775808.0;
                if (!(std::abs(reals[i]) < beyond) || std::trunc(reals[i]) != reals[i])
                    throw wrong(what_, fmt::format("item {}: found {}, expected a whole number",
                                                   before + i, reals[i]));
                part[i] = static_cast<std::int64_t>(reals[i]);
            }
        } else {
            convert_items(header_, block_.data(), part);
            const auto wrapped =
                std::find_if(part.begin(), part.end(), [](std::int64_t v) { return v < 0; });
            if (header_.kind == npy_kind::natural && wrapped != part.end())
                throw wrong(what_,
                            fmt::format("item {}: found {}, expected at most {}",
                                        before + static_cast<std::uint64_t>(wrapped - part.begin()),
                                        static_cast<std::uint64_t>(*wrapped), INT64_MAX));
        }
        done += n;
    }
    return done;
}

std::string npy_reader::read_text() {
    if (header_.is_number()) throw wrong(what_, "holds numbers, expected text");
    if (next_block(1) == 0) throw wrong(what_, "has no more items");
    std::string out;
    if (header_.kind == npy_kind::bytes) {
        out.assign(block_.data(), block_.size());
    } else {
        for (std::size_t i = 0; i < block_.size(); i += 4) {
            const auto point = load<std::uint32_t>(block_.data() + i);
            if (point > 0x10FFFF) throw wrong(what_, fmt::format("item {} is not text", done_ - 1));
            append_utf8(out, point);
        }
    }
    out.erase(out.find_last_not_of('\0') + 1);
    return out;
}

void npy_reader::skip(std::uint64_t items) {
    while (items > 0 && remaining_ > 0)
        items -= next_block(static_cast<std::size_t>(std::min<std::uint64_t>(items, block_bytes)));
}

void npy_reader::expect_end() {
    char more[1];
    if (remaining_ != 0 || source_(more) != 0)
        throw wrong(what_, fmt::format("continues after its {} items", header_.count()));
}

std::string format_npy_header(const npy_header& header) {
    const std::size_t size =
        header.kind == npy_kind::text ? header.item_bytes / 4 : header.item_bytes;
    std::string dictionary =
        fmt::format("{{'descr': '{}{}{}', 'fortran_order': False, 'shape': ({}{}), }}",
                    header.kind == npy_kind::bytes || header.kind == npy_kind::boolean ? '|' : '<',
                    static_cast<char>(header.kind), size, fmt::join(header.shape, ", "),
                    header.shape.size() == 1 ? "," : "");
    constexpr std::size_t before = 10;  // magic, version, length
    constexpr std::size_t alignment = 64;
    const std::size_t total = (before + dictionary.size() + 1 + alignment - 1) & ~(alignment - 1);
    dictionary.resize(total - before - 1, ' ');
    dictionary += '\n';
    std::string out(magic);
    out += '\x01';
    out += '\x00';
    append(out, static_cast<std::uint16_t>(dictionary.size()));
    return out + dictionary;
}

void append_utf32(std::string& out, std::string_view utf8, std::size_t characters) {
    std::size_t written = 0;
    for (std::size_t i = 0; i < utf8.size(); ++written) {
        const auto byte = [&](std::size_t k) -> std::uint32_t {
            return static_cast<unsigned char>(utf8[i + k]);
        };
        const std::size_t length = byte(0) < 0x80    ? 1
                                   : byte(0) >= 0xF0 ? 4
                                   : byte(0) >= 0xE0 ? 3
                                                     : 2;
        std::uint32_t point = length == 1 ? byte(0) : byte(0) & (0xFFU >> (length + 1));
        for (std::size_t k = 1; k < length; ++k) point = (point << 6) | (byte(k) & 0x3FU);
        append(out, point);
        i += length;
    }
    for (; written < characters; ++written) append(out, std::uint32_t{0});
}

std::string npy_of_texts(std::span<const std::string> texts) {
    const auto begins_character = [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    };
    std::size_t longest = 1;
    for (const std::string& text : texts)
        longest = std::max(longest,
                           static_cast<std::size_t>(std::ranges::count_if(text, begins_character)));
    std::string out = format_npy_header({npy_kind::text, 4 * longest, false, {texts.size()}});
    for (const std::string& text : texts) append_utf32(out, text, longest);
    return out;
}

}  // namespace spikeweave::io
