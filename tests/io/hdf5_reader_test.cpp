#include "io/hdf5_reader.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <numeric>
#include <string>
#include <vector>

#include "io/hdf5.hpp"
#include "io/hdf5_output.hpp"
#include "support/error_text.hpp"
#include "support/spike_files.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave::io::hdf5 {
namespace {

template <class Item>
void add_dataset(hid_t file, const std::string& name, hid_t stored, hid_t given,
                 const std::vector<Item>& items) {
    const handle made = create_dataset(file, name, stored, {items.size()});
    write_block(made.get(), 0, items.size(), given, items.data());
}

// Creates a dataset with the HDF5 library; `how` may change its creation properties.
template <class How>
void add_unwritten(hid_t file, const char* name, std::vector<hsize_t> shape, const How& how) {
    const handle creation{H5Pcreate(H5P_DATASET_CREATE), H5Pclose};
    how(creation.get());
    const handle space{H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                       H5Sclose};
    const handle made{H5Dcreate2(file, name, H5T_STD_I64LE, space.get(), H5P_DEFAULT,
                                 creation.get(), H5P_DEFAULT),
                      H5Dclose};
    EXPECT_TRUE(made.valid());
}

struct written_file {
    temporary_folder folder;
    std::filesystem::path path = folder.path() / "a.h5";

    template <class Write>
    reader with(const Write& write) const {
        output file(path);
        write(file.get());
        file.commit();
        return {path, {}};
    }
};

TEST(Hdf5Reader, FindsObjectsAndTheirAttributes) {
    const written_file place;
    const reader file = place.with([](hid_t root) {
        const handle group = create_group(root, "a");
        write_attribute(group.get(), "text", std::string("µ"));
        write_attribute(group.get(), "texts", std::vector<std::string>{"x", "yy"});
        write_attribute(group.get(), "number", 2.5);
        write_attribute(root, "of the root", 7.0);
        add_dataset(group.get(), "b", H5T_IEEE_F32LE, H5T_NATIVE_DOUBLE, std::vector{1.0, 2.0});
        link_outside(root, "nowhere", "none.h5", "/a");
    });
    EXPECT_TRUE(file.exists("a") && file.exists("a/b"));
    EXPECT_FALSE(file.exists("c") || file.exists("c/d/e") || file.exists("a/c"));
    EXPECT_EQ(file.members("a"), std::vector<std::string>{"b"});
    EXPECT_EQ(file.text_attribute("a", "text"), "µ");
    EXPECT_EQ(file.text_attribute("a", "texts"), "");
    EXPECT_EQ(file.text_attributes("a", "texts"), (std::vector<std::string>{"x", "yy"}));
    EXPECT_EQ(file.text_attribute("a", "number") + file.text_attribute("a", "none"), "");
    EXPECT_EQ(file.number_attributes("a", "number"), std::vector{2.5});
    EXPECT_EQ(file.number_attributes("", "of the root"), std::vector{7.0});
    EXPECT_TRUE(file.number_attributes("a", "text").empty());
    EXPECT_TRUE(file.leads_somewhere("a/b"));
    EXPECT_FALSE(file.leads_somewhere("nowhere"));
    EXPECT_EQ(file.file_of("a"), place.path);

    const column data(file, "a/b");
    EXPECT_EQ(data.read_all(2), (std::vector{1.0, 2.0}));
    EXPECT_SAYS(text_of([&] { static_cast<void>(data.read_all(1)); }), "has more than 1 items");
    EXPECT_SAYS(text_of([&] { static_cast<void>(data.read_text(9)); }), "is not a column of texts");
    EXPECT_EQ(data.number_attribute("none"), std::nullopt);
    EXPECT_SAYS(text_of([&] { column(file, "a/c"); }), "a.h5', /a/c: it cannot be opened");
}

TEST(Hdf5Reader, ReadsIntegersThatFitAndNoOthers) {
    const written_file place;
    const reader file = place.with([](hid_t root) {
        add_dataset(root, "signed", H5T_STD_I8LE, H5T_NATIVE_INT, std::vector{3, -1});
        add_dataset(root, "unsigned", H5T_STD_U64LE, H5T_NATIVE_UINT64,
                    std::vector<std::uint64_t>{3, std::uint64_t{1} << 63});
        add_dataset(root, "real", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, std::vector{1.5, 2.0});
    });
    std::vector<std::int64_t> whole(2);
    std::vector<std::uint64_t> natural(2);
    const auto refused = [&](const char* name, auto& into) {
        return text_of([&] { column(file, name).read(0, std::span(into)); });
    };
    column(file, "signed").read(0, whole);
    EXPECT_EQ(whole, (std::vector<std::int64_t>{3, -1}));
    column(file, "unsigned").read(0, natural);
    EXPECT_EQ(natural[1], std::uint64_t{1} << 63);
    EXPECT_SAYS(refused("signed", natural), "/signed: item 1: found -1, expected a number from 0");
    EXPECT_SAYS(refused("unsigned", whole), "item 1: found 9223372036854775808, expected at most");
    EXPECT_SAYS(refused("real", whole), "/real: does not hold whole numbers");
    EXPECT_SAYS(refused("real", natural), "/real: does not hold whole numbers");
}

TEST(Hdf5Reader, ReadsBlocksThatAreLargerThanWhatItSharesAtOnce) {
    const written_file place;
    std::vector<std::int64_t> numbers(9'000'000);
    std::iota(numbers.begin(), numbers.end(), -5);
    const reader file = place.with(
        [&](hid_t root) { add_dataset(root, "n", H5T_STD_I64LE, H5T_NATIVE_INT64, numbers); });
    std::vector<std::int64_t> read(numbers.size() - 3);
    column(file, "n").read(3, read);
    EXPECT_TRUE(std::equal(read.begin(), read.end(), numbers.begin() + 3));
}

// Each would take gigabytes if the header were trusted.
TEST(Hdf5Reader, RefusesWhatTheFileCannotHold) {
    const written_file place;
    const reader file = place.with([](hid_t root) {
        const hsize_t chunk = 1000;
        add_unwritten(root, "plain", {1'000'000'000}, [](hid_t) {});
        add_unwritten(root, "chunks", {std::size_t{1} << 60},
                      [&](hid_t how) { H5Pset_chunk(how, 1, &chunk); });
        add_unwritten(root, "small", {1000}, [](hid_t) {});
        add_unwritten(root, "outside", {8},
                      [](hid_t how) { H5Pset_external(how, "/etc/passwd", 0, 64); });
    });
    EXPECT_SAYS(text_of([&] { column(file, "plain"); }),
                "claims 1000000000 items and has only 0 bytes");
    EXPECT_SAYS(text_of([&] { column(file, "chunks"); }), "claims 1152921504606846976 items");
    EXPECT_EQ(column(file, "small").read_all(1000), std::vector<double>(1000));
    EXPECT_SAYS(text_of([&] { column(file, "outside"); }), "in another file (external storage)");
}

TEST(Hdf5Reader, RefusesAVirtualDatasetThatTheFileCannotHold) {
    const written_file place;
    {
        const handle access{H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
        H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110);
        const handle file{H5Fcreate(place.path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()),
                          H5Fclose};
        add_unwritten(file.get(), "source", {1000}, [](hid_t) {});
        for (const auto& [name, claimed] :
             {std::pair{"small", hsize_t{2000}}, {"huge", hsize_t{1'000'000'000}}})
            add_unwritten(file.get(), name, {claimed}, [length = claimed](hid_t how) {
                const hsize_t begin = 0;
                const hsize_t some = 1000;
                const handle source{H5Screate_simple(1, &some, nullptr), H5Sclose};
                const handle target{H5Screate_simple(1, &length, nullptr), H5Sclose};
                H5Sselect_hyperslab(target.get(), H5S_SELECT_SET, &begin, nullptr, &some, nullptr);
                H5Pset_virtual(how, target.get(), ".", "source", source.get());
            });
    }
    const reader file(place.path, {});
    EXPECT_EQ(column(file, "small").read_all(2000), std::vector<double>(2000));
    EXPECT_SAYS(text_of([&] { column(file, "huge"); }), "claims 1000000000 items");
}

TEST(Hdf5Reader, NamesTheFileThatIsNone) {
    const temporary_folder folder;
    const auto opened = [&](const std::filesystem::path& path) {
        return text_of([&] { reader(path, {}); });
    };
    EXPECT_SAYS(opened(folder.file("a.h5", "\x89HDF\r\n\x1a\n")), "a.h5': is damaged or not HDF5");
    EXPECT_SAYS(opened(folder.path() / "none.h5"), "none.h5': is damaged or not HDF5");
}

TEST(Hdf5Reader, NamesTheFileWhenThereIsNoProcessToReadItIn) {
    const temporary_folder folder;
    const auto path = folder.file("a.h5", "");
    rlimit before{};
    ::getrlimit(RLIMIT_NOFILE, &before);
    const rlimit none{3, before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
    const std::string said = text_of([&] { reader(path, {}); });
    ::setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_SAYS(said, "a.h5': cannot be read: starting the reader process failed");
}

TEST(Hdf5Files, HaveChecksumsOfNumbers) {
    const written_file place;
    std::vector<std::int64_t> numbers(1000, 0x0123456789ABCDEF);
    place.with(
        [&](hid_t root) { add_dataset(root, "n", H5T_STD_I64LE, H5T_NATIVE_INT64, numbers); });
    std::string bytes = read_bytes(place.path);
    const std::size_t at = bytes.find("\xEF\xCD\xAB\x89");
    ASSERT_NE(at, std::string::npos);
    bytes[at + 2] = '\x01';
    const reader file(place.folder.file("b.h5", bytes), {});
    EXPECT_SAYS(text_of([&] { static_cast<void>(column(file, "n").read_all(1000)); }),
                "b.h5', /n: cannot be read from item 0");
}

}  // namespace
}  // namespace spikeweave::io::hdf5
