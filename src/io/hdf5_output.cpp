#include "io/hdf5_output.hpp"

#include <algorithm>
#include <new>

#include "io/file_error.hpp"

namespace spikeweave::io::hdf5 {
namespace {

// libhdf5 accesses the file through its first member.
struct driver_file {
    H5FD_t base{};
    output::sink* sink = nullptr;
    haddr_t allocated = 0;
    haddr_t end = 0;
};

driver_file& of(H5FD_t* file) {
    return *reinterpret_cast<driver_file*>(file);
}

const driver_file& of(const H5FD_t* file) {
    return *reinterpret_cast<const driver_file*>(file);
}

// Runs an action that may throw. After a failure nothing more is done, and libhdf5 is not called.
template <class Action>
herr_t keep_failure(driver_file& file, Action action) noexcept {
    if (file.sink->failure == nullptr) {
        try {
            action();
        } catch (...) {
            file.sink->failure = std::current_exception();
        }
    }
    return 0;
}

H5FD_t* open_driver(const char* /*name*/, unsigned /*flags*/, hid_t access, haddr_t /*largest*/) {
    auto* file = new (std::nothrow) driver_file;
    if (file == nullptr) return nullptr;
    file->sink = *static_cast<output::sink* const*>(H5Pget_driver_info(access));
    return &file->base;
}

herr_t close_driver(H5FD_t* file) {
    delete &of(file);
    return 0;
}

herr_t query_driver(const H5FD_t* /*file*/, unsigned long* flags) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

haddr_t allocated_end(const H5FD_t* file, H5FD_mem_t /*type*/) {
    return of(file).allocated;
}

herr_t set_allocated_end(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t end) {
    of(file).allocated = end;
    return 0;
}

haddr_t written_end(const H5FD_t* file, H5FD_mem_t /*type*/) {
    return of(file).end;
}

herr_t read_driver(H5FD_t* raw, H5FD_mem_t /*type*/, hid_t /*how*/, haddr_t at, std::size_t size,
                   void* into) {
    driver_file& file = of(raw);
    auto* const bytes = static_cast<char*>(into);
    std::fill(bytes, bytes + size, '\0');  // parts that were not written yet
    const std::size_t there = at < file.end ? std::min<std::size_t>(size, file.end - at) : 0;
    return keep_failure(file, [&] { file.sink->bytes.read_at(at, {bytes, there}); });
}

herr_t write_driver(H5FD_t* raw, H5FD_mem_t /*type*/, hid_t /*how*/, haddr_t at, std::size_t size,
                    const void* from) {
    driver_file& file = of(raw);
    file.end = std::max<haddr_t>(file.end, at + size);
    return keep_failure(file, [&] {
        file.sink->bytes.write_at(at, {static_cast<const char*>(from), size});
    });
}

herr_t truncate_driver(H5FD_t* raw, hid_t /*how*/, hbool_t /*closing*/) {
    driver_file& file = of(raw);
    file.end = file.allocated;
    return keep_failure(file, [&] { file.sink->bytes.resize(file.allocated); });
}

hid_t driver() {
    static const H5FD_class_t functions = [] {
        H5FD_class_t out{};
#ifdef H5FD_CLASS_VERSION  // from HDF5 1.14 on; the number is one that the library leaves to others
        out.version = H5FD_CLASS_VERSION;
        out.value = H5_VFD_RESERVED + 'S';
#endif
        out.name = "spikeweave";
        out.maxaddr = static_cast<haddr_t>(INT64_MAX);
        out.fc_degree = H5F_CLOSE_WEAK;
        out.fapl_size = sizeof(output::sink*);
        out.open = open_driver;
        out.close = close_driver;
        out.query = query_driver;
        out.get_eoa = allocated_end;
        out.set_eoa = set_allocated_end;
        out.get_eof = written_end;
        out.read = read_driver;
        out.write = write_driver;
        out.truncate = truncate_driver;
        constexpr H5FD_mem_t lists[] = H5FD_FLMAP_DICHOTOMY;
        std::copy(std::begin(lists), std::end(lists), out.fl_map);
        return out;
    }();
    static const hid_t id = H5FDregister(&functions);
    return id;
}

}  // namespace

output::output(const std::filesystem::path& target, bool overwrite)
    : sink_{atomic_file(target, overwrite)} {
    const handle access{H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
    const handle how{H5Pcreate(H5P_FILE_CREATE), H5Pclose};
    const sink* const where = &sink_;
    // Since version 1.8, which every reader supports, metadata have checksums.
    if (H5Pset_driver(access.get(), driver(), &where) >= 0 &&
        H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0 &&
        H5Pset_obj_track_times(how.get(), false) >= 0)
        file_ = {H5Fcreate(target.c_str(), H5F_ACC_TRUNC, how.get(), access.get()), H5Fclose};
    if (!file_.valid()) throw file_error(target, "cannot be written as HDF5: " + last_error());
}

void output::commit() {
    const bool closed = file_.reset();
    if (sink_.failure) std::rethrow_exception(sink_.failure);
    if (!closed) throw io_error("HDF5 cannot close the file: " + last_error());
    sink_.bytes.commit();
}

}  // namespace spikeweave::io::hdf5
