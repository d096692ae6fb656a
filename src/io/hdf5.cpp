#include "io/hdf5.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "io/file_error.hpp"

namespace spikeweave::io::hdf5 {
namespace {

handle checked(handle object, const std::string& what) {
    if (!object.valid())
        throw io_error(fmt::format("{}: HDF5 cannot do that: {}", what, last_error()));
    return object;
}

void check(herr_t code, const std::string& what) {
    if (code < 0) throw io_error(fmt::format("{}: HDF5 cannot do that: {}", what, last_error()));
}

handle space_of(const std::vector<std::uint64_t>& shape) {
    const std::vector<hsize_t> sizes(shape.begin(), shape.end());
    return checked(
        {H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose},
        "a dataspace");
}

handle scalar() {
    return checked({H5Screate(H5S_SCALAR), H5Sclose}, "a dataspace");
}

handle create_attribute(hid_t object, const std::string& name, hid_t type, hid_t space) {
    return checked(
        {H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose},
        "attribute " + name);
}

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
    std::vector<const char*> out(texts.size());
    std::transform(texts.begin(), texts.end(), out.begin(),
                   [](const std::string& text) { return text.c_str(); });
    return out;
}

// Text of either kind that HDF5 has: pointers that it allocates, or fields of one length.
template <class Read>
std::vector<std::string> read_strings(hid_t file_type, hid_t space, std::size_t count, Read read) {
    std::vector<std::string> out(count);
    if (H5Tis_variable_str(file_type) > 0) {
        const handle type = text_type();
        H5Tset_cset(type.get(), H5Tget_cset(file_type));
        std::vector<char*> raw(count, nullptr);
        const bool good = read(type.get(), raw.data());
        for (std::size_t i = 0; good && i < count; ++i)
            if (raw[i] != nullptr) out[i] = raw[i];
        if (good) H5Dvlen_reclaim(type.get(), space, H5P_DEFAULT, raw.data());
        if (!good) throw io_error(last_error());
        return out;
    }
    constexpr std::size_t longest = std::size_t{1} << 20;
    const std::size_t size = H5Tget_size(file_type);
    if (size == 0 || size > longest) throw io_error("text of a damaged length");
    std::vector<char> raw(count * size);
    const handle type{H5Tcopy(file_type), H5Tclose};
    if (!read(type.get(), raw.data())) throw io_error(last_error());
    for (std::size_t i = 0; i < count; ++i) {
        const char* begin = raw.data() + i * size;
        out[i].assign(begin, std::find(begin, begin + size, '\0'));
    }
    return out;
}

}  // namespace

quiet::quiet() {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

quiet::~quiet() {
    H5Eset_auto2(H5E_DEFAULT, print_, data_);
}

std::string last_error() {
    std::string text = "no reason given";
    const auto take = [](unsigned depth, const H5E_error2_t* error, void* out) -> herr_t {
        if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(out) = error->desc;
        return 0;
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &text);
    return text;
}

handle open_file(const std::filesystem::path& path) {
    handle file{H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
    if (!file.valid())
        throw file_error(path, fmt::format("is damaged or not HDF5: {}", last_error()));
    return file;
}

bool exists(hid_t parent, const std::string& name) {
    return H5Lexists(parent, name.c_str(), H5P_DEFAULT) > 0;
}

handle open_group(const std::filesystem::path& file, hid_t parent, const std::string& name) {
    handle group{H5Gopen2(parent, name.c_str(), H5P_DEFAULT), H5Gclose};
    if (!group.valid())
        throw file_error(file, fmt::format("/{}", name),
                         fmt::format("cannot be opened: {}", last_error()));
    return group;
}

column::column(const std::filesystem::path& file, hid_t parent, std::string name)
    : file_(&file),
      name_(std::move(name)),
      dataset_(H5Dopen2(parent, name_.c_str(), H5P_DEFAULT), H5Dclose) {
    if (!dataset_.valid()) fail(fmt::format("cannot be opened: {}", last_error()));
    const handle space{H5Dget_space(dataset_.get()), H5Sclose};
    const int rank = H5Sget_simple_extent_ndims(space.get());
    if (rank < 0) fail(fmt::format("has a damaged shape: {}", last_error()));
    std::vector<hsize_t> sizes(static_cast<std::size_t>(rank));
    if (H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr) < 0)
        fail(fmt::format("has a damaged shape: {}", last_error()));
    shape_.assign(sizes.begin(), sizes.end());
}

void column::fail(const std::string& why) const {
    throw file_error(*file_, fmt::format("column '{}'", name_), why);
}

bool column::is_text() const {
    const handle type{H5Dget_type(dataset_.get()), H5Tclose};
    return H5Tget_class(type.get()) == H5T_STRING;
}

bool column::is_number() const {
    const handle type{H5Dget_type(dataset_.get()), H5Tclose};
    const H5T_class_t kind = H5Tget_class(type.get());
    return kind == H5T_INTEGER || kind == H5T_FLOAT;
}

void column::read_block(std::uint64_t begin, std::uint64_t count, hid_t type, void* into) const {
    if (shape_.size() != 1) fail(fmt::format("has {} dimensions, expected 1", shape_.size()));
    if (!is_number()) fail("does not hold numbers");
    if (count == 0) return;
    const handle space{H5Dget_space(dataset_.get()), H5Sclose};
    const hsize_t at = begin;
    const hsize_t n = count;
    const handle memory = space_of({count});
    if (H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &at, nullptr, &n, nullptr) < 0 ||
        H5Dread(dataset_.get(), type, memory.get(), space.get(), H5P_DEFAULT, into) < 0)
        fail(fmt::format("cannot be read from item {}: {}", begin, last_error()));
}

void column::read(std::uint64_t begin, std::span<double> into) const {
    read_block(begin, into.size(), H5T_NATIVE_DOUBLE, into.data());
}

void column::read(std::uint64_t begin, std::span<std::int64_t> into) const {
    read_block(begin, into.size(), H5T_NATIVE_INT64, into.data());
}

void column::read(std::uint64_t begin, std::span<std::uint64_t> into) const {
    read_block(begin, into.size(), H5T_NATIVE_UINT64, into.data());
}

std::vector<double> column::read_all() const {
    constexpr std::uint64_t most = std::uint64_t{1} << 24;
    std::uint64_t count = 1;
    for (const std::uint64_t length : shape_)
        if (__builtin_mul_overflow(count, length, &count) || count > most)
            fail(fmt::format("has more than {} items", most));
    if (!is_number()) fail("does not hold numbers");
    std::vector<double> out(count);
    if (H5Dread(dataset_.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()) < 0)
        fail(fmt::format("cannot be read: {}", last_error()));
    return out;
}

std::vector<std::string> column::read_text() const {
    constexpr std::uint64_t most = std::uint64_t{1} << 24;
    if (shape_.size() != 1 || size() > most) fail("is not a column of texts");
    const handle type{H5Dget_type(dataset_.get()), H5Tclose};
    const handle space{H5Dget_space(dataset_.get()), H5Sclose};
    try {
        return read_strings(type.get(), space.get(), size(), [&](hid_t memory, void* into) {
            return H5Dread(dataset_.get(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, into) >= 0;
        });
    } catch (const io_error& error) {
        fail(fmt::format("cannot be read: {}", error.what()));
    }
}

bool column::is_int16() const {
    const handle type{H5Dget_type(dataset_.get()), H5Tclose};
    return H5Tget_class(type.get()) == H5T_INTEGER && H5Tget_size(type.get()) == 2 &&
           H5Tget_sign(type.get()) == H5T_SGN_2;
}

void column::read_rows(std::uint64_t begin, std::uint64_t rows, hid_t type, void* into) const {
    const handle space{H5Dget_space(dataset_.get()), H5Sclose};
    std::vector<hsize_t> at(shape_.size(), 0);
    std::vector<hsize_t> n(shape_.begin(), shape_.end());
    at.front() = begin;
    n.front() = rows;
    const handle memory = space_of({n.begin(), n.end()});
    if (H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, at.data(), nullptr, n.data(), nullptr) <
            0 ||
        H5Dread(dataset_.get(), type, memory.get(), space.get(), H5P_DEFAULT, into) < 0)
        fail(fmt::format("cannot be read from row {}: {}", begin, last_error()));
}

void column::read_rows(std::uint64_t begin, std::span<std::int16_t> into) const {
    if (shape_.size() != 2) fail(fmt::format("has {} dimensions, expected 2", shape_.size()));
    read_rows(begin, into.size() / shape_[1], H5T_NATIVE_INT16, into.data());
}

void column::read_rows(std::uint64_t begin, std::span<float> into) const {
    if (shape_.empty() || !is_number()) fail("does not hold rows of numbers");
    std::uint64_t row = 1;
    for (std::size_t d = 1; d < shape_.size(); ++d) row *= shape_[d];
    if (row == 0) return;
    read_rows(begin, into.size() / row, H5T_NATIVE_FLOAT, into.data());
}

std::string text_attribute(hid_t object, const char* name) {
    if (H5Aexists(object, name) <= 0) return {};
    const handle attribute{H5Aopen(object, name, H5P_DEFAULT), H5Aclose};
    const handle type{H5Aget_type(attribute.get()), H5Tclose};
    const handle space{H5Aget_space(attribute.get()), H5Sclose};
    if (H5Tget_class(type.get()) != H5T_STRING || H5Sget_simple_extent_npoints(space.get()) != 1)
        return {};
    return read_strings(type.get(), space.get(), 1,
                        [&](hid_t memory, void* into) {
                            return H5Aread(attribute.get(), memory, into) >= 0;
                        })
        .front();
}

std::vector<double> number_attributes(hid_t object, const char* name) {
    constexpr hssize_t most = 1 << 20;
    if (H5Aexists(object, name) <= 0) return {};
    const handle attribute{H5Aopen(object, name, H5P_DEFAULT), H5Aclose};
    const handle type{H5Aget_type(attribute.get()), H5Tclose};
    const handle space{H5Aget_space(attribute.get()), H5Sclose};
    const H5T_class_t kind = H5Tget_class(type.get());
    const hssize_t count = H5Sget_simple_extent_npoints(space.get());
    if ((kind != H5T_FLOAT && kind != H5T_INTEGER) || count <= 0 || count > most) return {};
    std::vector<double> values(static_cast<std::size_t>(count));
    if (H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, values.data()) < 0) return {};
    return values;
}

std::string column::attribute(const char* name) const {
    try {
        return text_attribute(dataset_.get(), name);
    } catch (const io_error& error) {
        fail(fmt::format("attribute '{}' cannot be read: {}", name, error.what()));
    }
}

std::optional<double> column::number_attribute(const char* name) const {
    if (H5Aexists(dataset_.get(), name) <= 0) return std::nullopt;
    const handle attribute{H5Aopen(dataset_.get(), name, H5P_DEFAULT), H5Aclose};
    const handle type{H5Aget_type(attribute.get()), H5Tclose};
    const handle space{H5Aget_space(attribute.get()), H5Sclose};
    const H5T_class_t kind = H5Tget_class(type.get());
    double value = 0;
    if ((kind != H5T_FLOAT && kind != H5T_INTEGER) ||
        H5Sget_simple_extent_npoints(space.get()) != 1 ||
        H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, &value) < 0)
        fail(fmt::format("attribute '{}' is no number", name));
    return value;
}

std::vector<std::string> members(hid_t group) {
    std::vector<std::string> names;
    const auto take = [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
        static_cast<std::vector<std::string>*>(out)->emplace_back(name);
        return 0;
    };
    check(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, take, &names), "a group");
    return names;
}

handle create_group(hid_t parent, const std::string& name) {
    return checked(
        {H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose}, name);
}

handle text_type() {
    handle type = checked({H5Tcopy(H5T_C_S1), H5Tclose}, "a text type");
    check(H5Tset_size(type.get(), H5T_VARIABLE), "a text type");
    check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "a text type");
    return type;
}

void write_attribute(hid_t object, const std::string& name, const std::string& text) {
    const handle type = text_type();
    const handle attribute = create_attribute(object, name, type.get(), scalar().get());
    const char* value = text.c_str();
    check(H5Awrite(attribute.get(), type.get(), &value), name);
}

void write_attribute(hid_t object, const std::string& name, double value) {
    const handle attribute = create_attribute(object, name, H5T_IEEE_F64LE, scalar().get());
    check(H5Awrite(attribute.get(), H5T_NATIVE_DOUBLE, &value), name);
}

void write_attribute(hid_t object, const std::string& name, const std::vector<std::string>& texts) {
    const handle type = text_type();
    const handle attribute =
        create_attribute(object, name, type.get(), space_of({texts.size()}).get());
    check(H5Awrite(attribute.get(), type.get(), pointers(texts).data()), name);
}

void write_attribute(hid_t object, const std::string& name, std::int32_t value) {
    const handle attribute = create_attribute(object, name, H5T_STD_I32LE, scalar().get());
    check(H5Awrite(attribute.get(), H5T_NATIVE_INT32, &value), name);
}

void write_attribute(hid_t object, const std::string& name, std::span<const std::int32_t> values) {
    const handle attribute =
        create_attribute(object, name, H5T_STD_I32LE, space_of({values.size()}).get());
    check(H5Awrite(attribute.get(), H5T_NATIVE_INT32, values.data()), name);
}

void write_attribute(hid_t object, const std::string& name, std::span<const float> values) {
    const handle attribute =
        create_attribute(object, name, H5T_IEEE_F32LE, space_of({values.size()}).get());
    check(H5Awrite(attribute.get(), H5T_NATIVE_FLOAT, values.data()), name);
}

void link_outside(hid_t parent, const std::string& name, const std::filesystem::path& file,
                  const std::string& object) {
    check(H5Lcreate_external(file.c_str(), object.c_str(), parent, name.c_str(), H5P_DEFAULT,
                             H5P_DEFAULT),
          name);
}

void write_reference(hid_t object, const std::string& name, const std::string& path) {
    hobj_ref_t reference{};
    check(H5Rcreate(&reference, object, path.c_str(), H5R_OBJECT, -1), name);
    const handle attribute = create_attribute(object, name, H5T_STD_REF_OBJ, scalar().get());
    check(H5Awrite(attribute.get(), H5T_STD_REF_OBJ, &reference), name);
}

namespace {

// HDF5 would note the time in each dataset: the same spikes must give the same file.
handle create_timeless(hid_t parent, const std::string& name, hid_t type, hid_t space) {
    const handle how = checked({H5Pcreate(H5P_DATASET_CREATE), H5Pclose}, name);
    check(H5Pset_obj_track_times(how.get(), false), name);
    return checked(
        {H5Dcreate2(parent, name.c_str(), type, space, H5P_DEFAULT, how.get(), H5P_DEFAULT),
         H5Dclose},
        name);
}

}  // namespace

handle create_dataset(hid_t parent, const std::string& name, hid_t type,
                      const std::vector<std::uint64_t>& shape) {
    return create_timeless(parent, name, type, space_of(shape).get());
}

void write_text(hid_t parent, const std::string& name, const std::string& text) {
    const handle type = text_type();
    const handle dataset = create_timeless(parent, name, type.get(), scalar().get());
    const char* value = text.c_str();
    check(H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, &value), name);
}

handle write_texts(hid_t parent, const std::string& name, const std::vector<std::string>& texts) {
    const handle type = text_type();
    handle dataset = create_dataset(parent, name, type.get(), {texts.size()});
    write_block(dataset.get(), 0, texts.size(), type.get(), pointers(texts).data());
    return dataset;
}

void write_block(hid_t dataset, std::uint64_t begin, std::uint64_t count, hid_t type,
                 const void* values) {
    if (count == 0) return;
    const handle space = checked({H5Dget_space(dataset), H5Sclose}, "a dataspace");
    std::vector<hsize_t> shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.get())));
    H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr);
    std::vector<hsize_t> at(shape.size(), 0);
    at.front() = begin;
    shape.front() = count;
    const handle memory = space_of({shape.begin(), shape.end()});
    check(
        H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, at.data(), nullptr, shape.data(), nullptr),
        "a block");
    check(H5Dwrite(dataset, type, memory.get(), space.get(), H5P_DEFAULT, values), "a block");
}

}  // namespace spikeweave::io::hdf5
