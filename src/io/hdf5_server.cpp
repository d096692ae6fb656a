#include "io/hdf5_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5.hpp"
#include "io/message.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::io::hdf5 {
namespace {

// The library answers yes, no or error; an error is thrown.
bool is_there(htri_t answer, std::string_view what) {
    if (answer < 0) throw io_error(fmt::format("{} cannot be looked up: {}", what, last_error()));
    return answer > 0;
}

handle opened(handle object, std::string_view what) {
    if (!object.valid()) throw io_error(fmt::format("{} cannot be opened: {}", what, last_error()));
    return object;
}

void expect(bool good, std::string_view what) {
    if (!good) throw io_error(fmt::format("{} cannot be read: {}", what, last_error()));
}

// Reads both kinds of HDF5 strings: pointers that the library allocates, and fields of a fixed
// length.
template <class Read>
std::vector<std::string> read_strings(hid_t file_type, hid_t space, std::size_t count, Read read) {
    std::vector<std::string> out(count);
    if (is_there(H5Tis_variable_str(file_type), "the type of a text")) {
        const handle type = text_type();
        H5Tset_cset(type.get(), H5Tget_cset(file_type));
        std::vector<char*> raw(count, nullptr);
        expect(read(type.get(), raw.data()), "the text");
        for (std::size_t i = 0; i < count; ++i)
            if (raw[i] != nullptr) out[i] = raw[i];
        H5Dvlen_reclaim(type.get(), space, H5P_DEFAULT, raw.data());
        return out;
    }
    constexpr std::size_t longest = std::size_t{1} << 20;
    const std::size_t size = H5Tget_size(file_type);
    if (size == 0 || size > longest) throw io_error("text of a damaged length");
    std::vector<char> raw(count * size);
    const handle type{H5Tcopy(file_type), H5Tclose};
    expect(read(type.get(), raw.data()), "the text");
    for (std::size_t i = 0; i < count; ++i) {
        const char* begin = raw.data() + i * size;
        out[i].assign(begin, std::find(begin, begin + size, '\0'));
    }
    return out;
}

item_kind kind_of(hid_t type) {
    switch (H5Tget_class(type)) {
        case H5T_INTEGER:
            return H5Tget_sign(type) == H5T_SGN_NONE ? item_kind::unsigned_integer
                                                     : item_kind::signed_integer;
        case H5T_FLOAT:
            return item_kind::real;
        case H5T_STRING:
            return item_kind::text;
        case H5T_NO_CLASS:
            throw io_error(fmt::format("the type cannot be read: {}", last_error()));
        default:
            return item_kind::other;
    }
}

hid_t native(number_kind kind) {
    switch (kind) {
        case number_kind::int16:
            return H5T_NATIVE_INT16;
        case number_kind::int64:
            return H5T_NATIVE_INT64;
        case number_kind::uint64:
            return H5T_NATIVE_UINT64;
        case number_kind::float32:
            return H5T_NATIVE_FLOAT;
        default:
            return H5T_NATIVE_DOUBLE;
    }
}

struct open_dataset {
    handle dataset{};
    handle type{};
    std::vector<hsize_t> shape{};

    open_dataset(hid_t file, const std::string& path)
        : dataset(opened({H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose}, "it")),
          type(opened({H5Dget_type(dataset.get()), H5Tclose}, "its type")) {
        const handle space = opened({H5Dget_space(dataset.get()), H5Sclose}, "its shape");
        const int rank = H5Sget_simple_extent_ndims(space.get());
        expect(rank >= 0, "its shape");
        shape.resize(static_cast<std::size_t>(rank));
        expect(H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr) >= 0, "its shape");
        check_storage();
    }

private:
    // Memory is allocated for the size that a header claims, so the file must have enough bytes for
    // it.
    void check_storage() const {
        constexpr hsize_t small = hsize_t{1} << 20;
        constexpr hsize_t densest = 1 << 14;  // deflate packs a thousand to one, zstd more
        const handle how = opened({H5Dget_create_plist(dataset.get()), H5Pclose}, "its layout");
        if (H5Pget_external_count(how.get()) != 0)
            throw io_error(
                "keeps its numbers in another file (external storage), expected them in this one");
        hsize_t bytes = std::max<hsize_t>(H5Tget_size(type.get()), 1);
        bool fits = true;
        for (const hsize_t length : shape)
            fits = fits && !__builtin_mul_overflow(bytes, length, &bytes);
        // A virtual dataset has no bytes itself: it may claim as much as the whole file could hold.
        const bool is_virtual = H5Pget_layout(how.get()) == H5D_VIRTUAL;
        const hsize_t stored = is_virtual ? file_bytes() : H5Dget_storage_size(dataset.get());
        if (!fits || (bytes > small && bytes / densest > stored))
            throw io_error(fmt::format("claims {} items and has only {} bytes in the file",
                                       items_text(), stored));
    }
    hsize_t file_bytes() const {
        const handle file = opened({H5Iget_file_id(dataset.get()), H5Fclose}, "its file");
        hsize_t bytes = 0;
        expect(H5Fget_filesize(file.get(), &bytes) >= 0, "the size of its file");
        return bytes;
    }
    std::string items_text() const {
        std::string text;
        for (const hsize_t length : shape)
            text += fmt::format("{}{}", text.empty() ? "" : " x ", length);
        return text;
    }
};

class file_server {
public:
    explicit file_server(std::filesystem::path path) : path_(std::move(path)) {}

    std::string answer(std::string_view request, std::span<char> shared) {
        message_reader arguments(request);
        const auto kind = static_cast<request_kind>(arguments.number());
        const std::string object = arguments.text();
        if (!file_.valid())
            file_ = opened({H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose}, "it");
        message_writer out;
        switch (kind) {
            case request_kind::open:
                break;
            case request_kind::exists:
                out.add(std::uint64_t{exists(object)});
                break;
            case request_kind::leads_somewhere:
                out.add(std::uint64_t{leads_somewhere(object)});
                break;
            case request_kind::members:
                add_all(out, members(object));
                break;
            case request_kind::file_of:
                out.add(file_of(object));
                break;
            case request_kind::text_attribute:
                add_all(out, texts_of(object, arguments.text()));
                break;
            case request_kind::number_attributes:
                add_numbers(out, object, arguments.text());
                break;
            case request_kind::describe:
                describe(out, at(object));
                break;
            case request_kind::texts:
                add_all(out, texts(at(object), arguments.number()));
                break;
            case request_kind::rows:
                read_rows(at(object), arguments, shared);
                break;
        }
        return out.take();
    }

private:
    static void add_all(message_writer& out, const std::vector<std::string>& texts) {
        out.add(std::uint64_t{texts.size()});
        for (const std::string& text : texts) out.add(text);
    }

    // libhdf5 checks only the last component of a path.
    bool exists(const std::string& object) const {
        for (std::size_t end = 0; end != std::string::npos;) {
            end = object.find('/', end + 1);
            const std::string part = object.substr(0, end);
            if (!is_there(H5Lexists(file_.get(), part.c_str(), H5P_DEFAULT), "/" + part))
                return false;
        }
        return true;
    }

    // The target of a link in this file must exist.
    bool leads_somewhere(const std::string& object) const {
        const handle there{H5Oopen(file_.get(), object.c_str(), H5P_DEFAULT), H5Oclose};
        if (there.valid()) return true;
        const std::string why = last_error();
        H5L_info_t link{};
        expect(H5Lget_info(file_.get(), object.c_str(), &link, H5P_DEFAULT) >= 0, "the link");
        if (link.type == H5L_TYPE_HARD) throw io_error(fmt::format("cannot be opened: {}", why));
        return false;
    }

    std::vector<std::string> members(const std::string& object) const {
        const handle group =
            opened({H5Gopen2(file_.get(), object.c_str(), H5P_DEFAULT), H5Gclose}, "the group");
        std::vector<std::string> names;
        const auto take = [](hid_t, const char* name, const H5L_info_t*, void* into) -> herr_t {
            static_cast<std::vector<std::string>*>(into)->emplace_back(name);
            return 0;
        };
        expect(H5Literate(group.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, take, &names) >= 0,
               "the group");
        return names;
    }

    std::string file_of(const std::string& object) const {
        const handle there =
            opened({H5Oopen(file_.get(), object.c_str(), H5P_DEFAULT), H5Oclose}, "it");
        const ssize_t length = H5Fget_name(there.get(), nullptr, 0);
        expect(length >= 0, "the name of its file");
        std::string name(static_cast<std::size_t>(length), '\0');
        H5Fget_name(there.get(), name.data(), name.size() + 1);
        return name;
    }

    // Returns nullopt if there is no such attribute.
    std::optional<handle> attribute_of(const std::string& object, const std::string& name) const {
        const char* const where = object.empty() ? "." : object.c_str();
        if (!is_there(H5Aexists_by_name(file_.get(), where, name.c_str(), H5P_DEFAULT), name))
            return std::nullopt;
        return opened(
            {H5Aopen_by_name(file_.get(), where, name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose},
            name);
    }

    static std::size_t count_of(const handle& space) {
        constexpr hssize_t most = 1 << 20;
        const hssize_t count = H5Sget_simple_extent_npoints(space.get());
        expect(count >= 0, "its length");
        if (count > most)
            throw io_error(fmt::format("has {} items, expected at most {}", count, most));
        return static_cast<std::size_t>(count);
    }

    std::vector<std::string> texts_of(const std::string& object, const std::string& name) const {
        const auto attribute = attribute_of(object, name);
        if (!attribute) return {};
        const handle type = opened({H5Aget_type(attribute->get()), H5Tclose}, "its type");
        const handle space = opened({H5Aget_space(attribute->get()), H5Sclose}, "its length");
        if (kind_of(type.get()) != item_kind::text) return {};
        return read_strings(
            type.get(), space.get(), count_of(space),
            [&](hid_t memory, void* into) { return H5Aread(attribute->get(), memory, into) >= 0; });
    }

    void add_numbers(message_writer& out, const std::string& object,
                     const std::string& name) const {
        const auto attribute = attribute_of(object, name);
        if (!attribute) return out.add(static_cast<std::uint64_t>(finding::absent));
        const handle type = opened({H5Aget_type(attribute->get()), H5Tclose}, "its type");
        const handle space = opened({H5Aget_space(attribute->get()), H5Sclose}, "its length");
        const item_kind kind = kind_of(type.get());
        if (kind == item_kind::text || kind == item_kind::other)
            return out.add(static_cast<std::uint64_t>(finding::no_numbers));
        std::vector<double> values(count_of(space));
        expect(H5Aread(attribute->get(), H5T_NATIVE_DOUBLE, values.data()) >= 0, "it");
        out.add(static_cast<std::uint64_t>(finding::numbers));
        out.add(std::uint64_t{values.size()});
        for (const double value : values) out.add(std::bit_cast<std::uint64_t>(value));
    }

    // Keeps the dataset open, and with it the library's cache of unpacked chunks.
    const open_dataset& at(const std::string& path) {
        const auto found = datasets_.find(path);
        if (found != datasets_.end()) return *found->second;
        auto made = std::make_unique<open_dataset>(file_.get(), path);
        return *datasets_.emplace(path, std::move(made)).first->second;
    }

    static void describe(message_writer& out, const open_dataset& what) {
        out.add(std::uint64_t{what.shape.size()});
        for (const hsize_t length : what.shape) out.add(std::uint64_t{length});
        out.add(static_cast<std::uint64_t>(kind_of(what.type.get())));
        out.add(std::uint64_t{H5Tget_size(what.type.get())});
    }

    static std::vector<std::string> texts(const open_dataset& what, std::uint64_t most) {
        if (kind_of(what.type.get()) != item_kind::text || what.shape.size() > 1)
            throw io_error("is not a column of texts");
        const hsize_t count = what.shape.empty() ? 1 : what.shape.front();
        if (count > most)
            throw io_error(fmt::format("has {} texts, expected at most {}", count, most));
        constexpr hsize_t most_bytes = hsize_t{1} << 28;
        if (H5Tget_size(what.type.get()) > most_bytes / std::max<hsize_t>(count, 1))
            throw io_error(fmt::format("has {} texts of {} bytes, expected at most {} bytes", count,
                                       H5Tget_size(what.type.get()), most_bytes));
        const handle space = opened({H5Dget_space(what.dataset.get()), H5Sclose}, "its shape");
        return read_strings(what.type.get(), space.get(), count, [&](hid_t memory, void* into) {
            return H5Dread(what.dataset.get(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, into) >= 0;
        });
    }

    // A dataset without dimensions is one row of one item.
    static void read_rows(const open_dataset& what, message_reader& arguments,
                          std::span<char> into) {
        std::vector<hsize_t> first(what.shape.size(), 0);
        std::vector<hsize_t> lengths = what.shape;
        const bool is_single = what.shape.empty();
        const hsize_t begin = arguments.number();
        const hsize_t rows = arguments.number();
        if (!is_single) {
            first.front() = begin;
            lengths.front() = rows;
        }
        const auto kind = static_cast<number_kind>(arguments.number());
        hsize_t bytes = bytes_of_number(kind);
        for (const hsize_t length : lengths) bytes *= length;
        if (bytes > into.size()) throw io_error("a message between two processes is damaged");
        const handle space = opened({H5Dget_space(what.dataset.get()), H5Sclose}, "its shape");
        const handle memory = opened(
            {H5Screate_simple(static_cast<int>(lengths.size()), lengths.data(), nullptr), H5Sclose},
            "a dataspace");
        if (is_single && H5Sget_simple_extent_npoints(space.get()) != 1)
            throw io_error("holds nothing, expected a number");
        if ((!is_single && H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, first.data(), nullptr,
                                               lengths.data(), nullptr) < 0) ||
            H5Dread(what.dataset.get(), native(kind), memory.get(), space.get(), H5P_DEFAULT,
                    into.data()) < 0)
            throw io_error(fmt::format("cannot be read from item {}: {}", begin, last_error()));
    }

    std::filesystem::path path_;
    quiet no_printing_{};
    handle file_{};
    std::map<std::string, std::unique_ptr<open_dataset>> datasets_{};
};

}  // namespace

helper_process::answering serve_file(const std::filesystem::path& path) {
    const auto server = std::make_shared<file_server>(path);
    return [server](std::string_view request, std::span<char> shared) {
        return server->answer(request, shared);
    };
}

}  // namespace spikeweave::io::hdf5
