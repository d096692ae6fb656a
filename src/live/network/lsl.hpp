#pragma once

#include <cstdint>
#include <string>

/// The library of the Lab Streaming Layer, which is loaded when it is needed. The functions are
/// those of its documented C interface (https://labstreaminglayer.readthedocs.io).
namespace spikeweave::live {

struct lsl_library {
    using info = void*;
    using inlet = void*;
    using outlet = void*;

    enum format : std::int32_t {
        float_32 = 1,
        float_64 = 2,
        text = 3,
        int_32 = 4,
        int_16 = 5,
        int_8 = 6,
        int_64 = 7,
    };
    enum error : std::int32_t { no_error = 0, timeout = -1, lost = -2 };
    static constexpr double irregular_rate = 0;

    // Descriptions of streams.
    info (*create_streaminfo)(const char* name, const char* type, std::int32_t channels,
                              double rate_hz, std::int32_t format, const char* source_id);
    void (*destroy_streaminfo)(info);
    std::int32_t (*resolve_byprop)(info* found, std::uint32_t most, const char* property,
                                   const char* value, std::int32_t least, double timeout_s);
    std::int32_t (*get_channel_count)(info);
    std::int32_t (*get_channel_format)(info);
    double (*get_nominal_srate)(info);
    const char* (*get_source_id)(info);

    // Receiving. Errors are told by the last argument.
    inlet (*create_inlet)(info, std::int32_t most_buffered, std::int32_t chunk,
                          std::int32_t recovers);
    void (*destroy_inlet)(inlet);
    void (*open_stream)(inlet, double timeout_s, std::int32_t* error);
    double (*time_correction)(inlet, double timeout_s, std::int32_t* error);
    std::uint32_t (*samples_available)(inlet);
    /// Return the time stamp of the sample, or 0 if none has come.
    double (*pull_sample_l)(inlet, std::int64_t* values, std::int32_t channels, double timeout_s,
                            std::int32_t* error);
    double (*pull_sample_buf)(inlet, char** texts, std::uint32_t* sizes, std::int32_t channels,
                              double timeout_s, std::int32_t* error);
    void (*destroy_string)(char*);
    /// Return the number of values, of whole samples. They wait for as many as there is room for.
    unsigned long (*pull_chunk_s)(inlet, std::int16_t* values, double* times_s,
                                  unsigned long most_values, unsigned long most_times,
                                  double timeout_s, std::int32_t* error);
    unsigned long (*pull_chunk_f)(inlet, float* values, double* times_s, unsigned long most_values,
                                  unsigned long most_times, double timeout_s, std::int32_t* error);

    // Sending.
    outlet (*create_outlet)(info, std::int32_t chunk, std::int32_t most_buffered);
    void (*destroy_outlet)(outlet);
    std::int32_t (*have_consumers)(outlet);
    std::int32_t (*push_sample_str)(outlet, const char** texts);
};

/// @throws invalid_argument if no stream can have this name. (Streams are asked for by a text in
/// which names stand between apostrophes.)
void check_lsl_name(const std::string& name);

/// Loads the library, the first time that it is called: the file that the environment variable
/// SPIKEWEAVE_LIBLSL names, or one that the system finds.
/// @throws io_error that says how to get it, if it is not there.
const lsl_library& load_lsl();

}  // namespace spikeweave::live
