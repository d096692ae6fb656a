// Reads descriptions of recordings in which single bytes were changed.

#include <gtest/gtest.h>

#include "io/npy.hpp"
#include "support/damaged_files.hpp"
#include "support/recordings.hpp"

namespace spikeweave {
namespace {

// Reads everything, unless the description refers to another file.
void read_through(const std::filesystem::path& path, const recording_read_options& how = {}) {
    const recording what = read_recording(path, how);
    EXPECT_GT(what.rate_hz(), 0);
    EXPECT_GT(what.channel_count(), 0U);
    std::vector<std::int16_t> frame(what.channel_count());
    for (std::uint64_t n = 0; n < what.frame_count(); ++n) what.read(n, frame);
}

TEST(DamagedRecordings, GiveAnErrorOrAnotherRecording) {
    const temporary_folder folder;
    const recording four = noisy_recording(1, 4, 20, 2);
    {
        recording_writer out(folder.path() / "rec", four.description());
        out.append(std::vector<std::int16_t>(80, 3));
        out.commit();
    }
    for (const char* name : {"rec/binary.json", "rec/probe.json"})
        read_with_changed_bytes(folder, name, damage_rounds(1000),
                                [&] { read_through(folder.path() / "rec"); });

    folder.file("glx/a.bin", std::string(24, '\1'));
    folder.file("glx/a.meta",
                "typeThis=imec\nnSavedChans=4\nimSampRate=30000.5\nfileSizeBytes=24\n"
                "snsApLfSy=3,0,1\nacqApLfSy=5,5,1\nsnsSaveChanSubset=0,2:3,10\nimAiRangeMax=0.6\n"
                "~imroTbl=(0,5)(0 0 0 500 250 1)(1 0 0 500 250 1)(2 0 0 250 125 1)"
                "(3 0 0 1000 250 1)(4 0 0 500 250 1)\n"
                "~snsGeomMap=(NP1000,1,0,70)(0:27:0:1)(0:59:20:1)(1:11:40:0)\n");
    read_with_changed_bytes(folder, "glx/a.meta", damage_rounds(1000),
                            [&] { read_through(folder.path() / "glx/a.meta"); });

    folder.file("two/a.bin", std::string(24, '\1'));
    folder.file("two/a.meta",
                "typeThis=imec\nnSavedChans=4\nimSampRate=30000\nsnsApLfSy=3,0,1\n"
                "acqApLfSy=4,0,1\nimAiRangeMax=0.5\nimDatPrb_pn=NP2010\nsnsSaveChanSubset=0:2,4\n"
                "~imroTbl=(24,4)(0 1 0 1 5)(1 0 0 1 1)(2 3 1 1 386)(3 0 0 1 3)\n");
    read_with_changed_bytes(folder, "two/a.meta", damage_rounds(1000),
                            [&] { read_through(folder.path() / "two/a.meta"); });
    std::string groups;
    for (int g = 0; g < 24; ++g) groups += "(" + std::to_string(g) + " 1 2)";
    folder.file("groups/a.bin", std::string(24, '\1'));
    folder.file("groups/a.meta",
                "typeThis=imec\nnSavedChans=4\nimSampRate=30000\nsnsApLfSy=3,0,1\n"
                "acqApLfSy=4,0,1\nimAiRangeMax=0.5\n~imroTbl=(1110,1,0,1000,250,1)" +
                    groups + "\n");
    read_with_changed_bytes(folder, "groups/a.meta", damage_rounds(1000),
                            [&] { read_through(folder.path() / "groups/a.meta"); });

    folder.file("oe/continuous/F/continuous.dat", std::string(12, '\1'));
    folder.file("oe/structure.oebin",
                R"({"continuous": [{"folder_name": "F/", "sample_rate": 30000, "num_channels": 3,
                    "channels": [{"channel_name": "CH1", "bit_volts": 0.195, "units": "uV"},
                                 {"channel_name": "CH2", "bit_volts": 0.195, "units": "uV"},
                                 {"channel_name": "ADC1", "bit_volts": 5e-5, "units": "V"}]}]})");
    const std::vector<std::int64_t> numbers{5, 6};
    folder.file("oe/continuous/F/sample_numbers.npy",
                io::format_npy_header({io::npy_kind::integer, 8, false, {numbers.size()}}) +
                    std::string(reinterpret_cast<const char*>(numbers.data()), 16));
    read_with_changed_bytes(folder, "oe/continuous/F/sample_numbers.npy", damage_rounds(1000),
                            [&] { read_through(folder.path() / "oe"); });
    read_with_changed_bytes(folder, "oe/structure.oebin", damage_rounds(1000),
                            [&] { read_through(folder.path() / "oe"); });

    folder.file("four.dat", std::string(16, '\1'));
    folder.file("p.json", read_bytes(folder.path() / "rec/probe.json"));
    const recording_read_options how{.format = recording_format::raw,
                                     .sample_rate = 20000,
                                     .channels = 4,
                                     .probe = folder.path() / "p.json"};
    read_with_changed_bytes(folder, "p.json", damage_rounds(1000),
                            [&] { read_through(folder.path() / "four.dat", how); });
}

}  // namespace
}  // namespace spikeweave
