#include "fuzz/hdf5_tree.hpp"

#include <hdf5.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5.hpp"

namespace spikeweave::fuzz {
namespace {

using io::hdf5::handle;

using words = std::vector<std::string>;

words words_of(std::string_view line) {
    words out;
    while (!line.empty()) {
        const std::size_t end = std::min(line.find(' '), line.size());
        if (end > 0) out.emplace_back(line.substr(0, end));
        line.remove_prefix(std::min(end + 1, line.size()));
    }
    return out;
}

template <class Number>
Number number_of(std::string_view text) {
    Number value{};
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

struct described {
    handle type{};
    handle space{};
    std::uint64_t count = 1;
    bool is_text = false;
    std::size_t item_bytes = 0;  // of fixed-length text
};

handle type_of(const std::string& name, described& out) {
    const auto copy = [](hid_t type) { return handle{H5Tcopy(type), H5Tclose}; };
    if (name == "i1") return copy(H5T_STD_I8LE);
    if (name == "i2") return copy(H5T_STD_I16LE);
    if (name == "i4") return copy(H5T_STD_I32LE);
    if (name == "i8") return copy(H5T_STD_I64LE);
    if (name == "u1") return copy(H5T_STD_U8LE);
    if (name == "u2") return copy(H5T_STD_U16LE);
    if (name == "u4") return copy(H5T_STD_U32LE);
    if (name == "u8") return copy(H5T_STD_U64LE);
    if (name == "f4") return copy(H5T_IEEE_F32LE);
    if (name == "f8") return copy(H5T_IEEE_F64LE);
    out.is_text = true;
    handle type = copy(H5T_C_S1);
    H5Tset_cset(type.get(), H5T_CSET_UTF8);
    if (name.starts_with('S')) {
        constexpr std::size_t longest = 4096;
        out.item_bytes = number_of<std::size_t>(std::string_view(name).substr(1)) % longest + 1;
        H5Tset_size(type.get(), out.item_bytes);
    } else {
        H5Tset_size(type.get(), H5T_VARIABLE);
    }
    return type;
}

described description_of(const std::string& type, std::string_view shape) {
    described out;
    out.type = type_of(type, out);
    std::vector<hsize_t> lengths;
    while (shape != "-" && !shape.empty() && lengths.size() < H5S_MAX_RANK) {
        const std::size_t end = std::min(shape.find('x'), shape.size());
        lengths.push_back(number_of<std::uint64_t>(shape.substr(0, end)));
        const bool overflows = lengths.back() != 0 && out.count > UINT64_MAX / lengths.back();
        out.count = overflows ? UINT64_MAX : out.count * lengths.back();
        shape.remove_prefix(std::min(end + 1, shape.size()));
    }
    out.space =
        lengths.empty()
            ? handle{H5Screate(H5S_SCALAR), H5Sclose}
            : handle{H5Screate_simple(static_cast<int>(lengths.size()), lengths.data(), nullptr),
                     H5Sclose};
    return out;
}

// Passes values in the memory types of the library; numbers have the widest type.
template <class Write>
void write_values(const described& what, const words& line, std::size_t first, const Write& write) {
    constexpr std::uint64_t most_items = 4096;
    if (first >= line.size() || what.count == 0 || what.count > most_items) return;
    // Blanks separate words, so "~" stands for a blank.
    words texts(line.begin() + static_cast<std::ptrdiff_t>(first), line.end());
    for (std::string& text : texts) std::replace(text.begin(), text.end(), '~', ' ');
    const auto value = [&](std::size_t i) -> const std::string& { return texts[i % texts.size()]; };
    if (what.is_text && what.item_bytes == 0) {
        std::vector<const char*> pointers;
        for (std::size_t i = 0; i < what.count; ++i) pointers.push_back(value(i).c_str());
        write(what.type.get(), pointers.data());
    } else if (what.is_text) {
        std::string block;
        for (std::size_t i = 0; i < what.count; ++i) {
            block += value(i);
            block.resize((i + 1) * what.item_bytes);
        }
        write(what.type.get(), block.data());
    } else if (H5Tget_class(what.type.get()) == H5T_FLOAT) {
        std::vector<double> numbers;
        for (std::size_t i = 0; i < what.count; ++i) numbers.push_back(number_of<double>(value(i)));
        write(H5T_NATIVE_DOUBLE, numbers.data());
    } else if (H5Tget_sign(what.type.get()) == H5T_SGN_NONE) {
        std::vector<std::uint64_t> numbers;
        for (std::size_t i = 0; i < what.count; ++i)
            numbers.push_back(number_of<std::uint64_t>(value(i)));
        write(H5T_NATIVE_UINT64, numbers.data());
    } else {
        std::vector<std::int64_t> numbers;
        for (std::size_t i = 0; i < what.count; ++i)
            numbers.push_back(number_of<std::int64_t>(value(i)));
        write(H5T_NATIVE_INT64, numbers.data());
    }
}

void write_line(hid_t file, hid_t with_parents, const words& line) {
    const auto is = [&](const char* word, std::size_t least) {
        return line.size() >= least && line[0] == word;
    };
    if (is("group", 2)) {
        const handle group{
            H5Gcreate2(file, line[1].c_str(), with_parents, H5P_DEFAULT, H5P_DEFAULT), H5Gclose};
    } else if (is("data", 4)) {
        const described what = description_of(line[2], line[3]);
        const handle set{H5Dcreate2(file, line[1].c_str(), what.type.get(), what.space.get(),
                                    with_parents, H5P_DEFAULT, H5P_DEFAULT),
                         H5Dclose};
        if (!set.valid()) return;
        write_values(what, line, 4, [&](hid_t type, const void* values) {
            H5Dwrite(set.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
        });
    } else if (is("attribute", 5)) {
        const described what = description_of(line[3], line[4]);
        const handle object{H5Oopen(file, line[1].c_str(), H5P_DEFAULT), H5Oclose};
        if (!object.valid()) return;
        const handle attribute{H5Acreate2(object.get(), line[2].c_str(), what.type.get(),
                                          what.space.get(), H5P_DEFAULT, H5P_DEFAULT),
                               H5Aclose};
        if (!attribute.valid()) return;
        write_values(what, line, 5, [&](hid_t type, const void* values) {
            H5Awrite(attribute.get(), type, values);
        });
    } else if (is("link", 3)) {
        H5Lcreate_soft(line[2].c_str(), file, line[1].c_str(), with_parents, H5P_DEFAULT);
    } else if (is("outside", 4)) {
        H5Lcreate_external(line[2].c_str(), line[3].c_str(), file, line[1].c_str(), with_parents,
                           H5P_DEFAULT);
    }
}

}  // namespace

void write_hdf5_tree(const std::filesystem::path& path, std::string_view text) {
    const io::hdf5::quiet no_printing;
    const handle in_memory{H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
    constexpr std::size_t grown_by = std::size_t{1} << 16;
    H5Pset_fapl_core(in_memory.get(), grown_by, true);
    const handle with_parents{H5Pcreate(H5P_LINK_CREATE), H5Pclose};
    H5Pset_create_intermediate_group(with_parents.get(), 1);
    const handle file{H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, in_memory.get()),
                      H5Fclose};
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        // HDF5 names end at the first zero.
        if (text.substr(0, end).find('\0') == std::string_view::npos)
            write_line(file.get(), with_parents.get(), words_of(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

}  // namespace spikeweave::fuzz
