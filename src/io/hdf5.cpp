#include "io/hdf5.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "spikeweave/core/error.hpp"

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

// HDF5 would store the time in each object, but the same spikes must give the same file.
handle timeless(hid_t kind) {
    handle how = checked({H5Pcreate(kind), H5Pclose}, "a way of creating");
    check(H5Pset_obj_track_times(how.get(), false), "a way of creating");
    return how;
}

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
    std::vector<const char*> out(texts.size());
    std::transform(texts.begin(), texts.end(), out.begin(),
                   [](const std::string& text) { return text.c_str(); });
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

std::unique_lock<std::recursive_mutex> lock_library() {
    static std::recursive_mutex library;
    return std::unique_lock(library);
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

handle create_group(hid_t parent, const std::string& name) {
    const handle how = timeless(H5P_GROUP_CREATE);
    return checked(
        {H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, how.get(), H5P_DEFAULT), H5Gclose}, name);
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

void write_attribute(hid_t object, const std::string& name,
                     std::span<const std::array<std::int32_t, 2>> rows) {
    const handle attribute =
        create_attribute(object, name, H5T_STD_I32LE, space_of({rows.size(), 2}).get());
    check(H5Awrite(attribute.get(), H5T_NATIVE_INT32, rows.data()), name);
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

handle create_dataset(hid_t parent, const std::string& name, hid_t type,
                      const std::vector<std::uint64_t>& shape) {
    const handle how = timeless(H5P_DATASET_CREATE);
    std::uint64_t items = 1;
    for (const std::uint64_t length : shape) items *= length;
    // Numbers are written in chunks, because only chunks have checksums. Texts are not stored in
    // the dataset itself.
    if (items > 0 && !shape.empty() && H5Tget_class(type) != H5T_STRING) {
        constexpr std::uint64_t chunk_items = std::uint64_t{1} << 16;
        std::vector<hsize_t> chunk(shape.begin(), shape.end());
        const std::uint64_t row = std::max<std::uint64_t>(1, items / shape.front());
        chunk.front() = std::clamp<hsize_t>(chunk_items / row, 1, shape.front());
        check(H5Pset_chunk(how.get(), static_cast<int>(chunk.size()), chunk.data()), name);
        check(H5Pset_fletcher32(how.get()), name);
    }
    return checked({H5Dcreate2(parent, name.c_str(), type, space_of(shape).get(), H5P_DEFAULT,
                               how.get(), H5P_DEFAULT),
                    H5Dclose},
                   name);
}

void write_text(hid_t parent, const std::string& name, const std::string& text) {
    const handle type = text_type();
    const handle how = timeless(H5P_DATASET_CREATE);
    const handle dataset = checked({H5Dcreate2(parent, name.c_str(), type.get(), scalar().get(),
                                               H5P_DEFAULT, how.get(), H5P_DEFAULT),
                                    H5Dclose},
                                   name);
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
