// Preloaded into the command by faults_test.py: lets the n-th call of one kind fail, to test the result.
//
//   SPIKEWEAVE_FAULT=KIND:N:ERRNO        only that call
//   SPIKEWEAVE_FAULT=KIND:N:ERRNO:on     that call and all later ones
//   SPIKEWEAVE_FAULT_COUNTS=FILE         writes the number of calls of each kind to FILE
//
// `write` and `close` fail only for files that are open for writing, and not for standard output and error.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum kind { kind_write, kind_fsync, kind_rename, kind_open, kind_mkdir, kind_close, kind_malloc, kinds };
static const char* const names[kinds] = {"write", "fsync", "rename", "open", "mkdir", "close", "malloc"};

static atomic_long calls[kinds];
static enum kind failing = kinds;
static long first_failure;
static int error_number;
static int goes_on;
static const char* counts_file;
static int ready;

__attribute__((constructor)) static void read_environment(void) {
    const char* const fault = getenv("SPIKEWEAVE_FAULT");
    counts_file = getenv("SPIKEWEAVE_FAULT_COUNTS");
    for (int k = 0; fault != NULL && k < kinds; ++k) {
        const size_t length = strlen(names[k]);
        if (strncmp(fault, names[k], length) != 0 || fault[length] != ':') continue;
        char* end = NULL;
        first_failure = strtol(fault + length + 1, &end, 10);
        error_number = (int)strtol(end + 1, &end, 10);
        goes_on = strcmp(end, ":on") == 0;
        failing = (enum kind)k;
    }
    ready = 1;  // earlier calls of the loader do not count
}

__attribute__((destructor)) static void write_counts(void) {
    if (counts_file == NULL) return;
    const int to = (int)syscall(SYS_openat, AT_FDCWD, counts_file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    char line[64];
    for (int k = 0; k < kinds; ++k) {
        const int length = snprintf(line, sizeof line, "%s %ld\n", names[k], atomic_load(&calls[k]));
        if (syscall(SYS_write, to, line, (size_t)length) != length) abort();
    }
    syscall(SYS_close, to);
}

static int fails(enum kind what) {
    if (!ready) return 0;
    const long call = atomic_fetch_add(&calls[what], 1) + 1;
    if (what != failing || call < first_failure || (call > first_failure && !goes_on)) return 0;
    errno = error_number;
    return 1;
}

// Returns whether the descriptor is that of a file.
static int is_output(int descriptor) {
    if (descriptor <= STDERR_FILENO) return 0;
    const int flags = fcntl(descriptor, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

#define NEXT(name) \
    static __typeof__(name)* next = NULL; \
    if (next == NULL) next = (__typeof__(name)*)dlsym(RTLD_NEXT, #name)

ssize_t write(int descriptor, const void* from, size_t size) {
    NEXT(write);
    return is_output(descriptor) && fails(kind_write) ? -1 : next(descriptor, from, size);
}
ssize_t pwrite(int descriptor, const void* from, size_t size, off_t at) {
    NEXT(pwrite);
    return is_output(descriptor) && fails(kind_write) ? -1 : next(descriptor, from, size, at);
}
ssize_t pwrite64(int descriptor, const void* from, size_t size, off64_t at) {
    NEXT(pwrite64);
    return is_output(descriptor) && fails(kind_write) ? -1 : next(descriptor, from, size, at);
}
int fsync(int descriptor) {
    NEXT(fsync);
    return fails(kind_fsync) ? -1 : next(descriptor);
}
int fdatasync(int descriptor) {
    NEXT(fdatasync);
    return fails(kind_fsync) ? -1 : next(descriptor);
}
int rename(const char* from, const char* to) {
    NEXT(rename);
    return fails(kind_rename) ? -1 : next(from, to);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
    NEXT(renameat2);
    return fails(kind_rename) ? -1 : next(from_folder, from, to_folder, to, flags);
}
int mkdir(const char* path, mode_t mode) {
    NEXT(mkdir);
    return fails(kind_mkdir) ? -1 : next(path, mode);
}
// The descriptor is closed, as it is if the system reports a failure.
int close(int descriptor) {
    NEXT(close);
    const int counts = is_output(descriptor);
    const int done = next(descriptor);
    return counts && fails(kind_close) ? -1 : done;
}

#define OPEN_LIKE(name, parameters, arguments) \
    int name parameters { \
        NEXT(name); \
        mode_t mode = 0; \
        if ((flags & (O_CREAT | O_TMPFILE)) != 0) { \
            va_list more; \
            va_start(more, flags); \
            mode = va_arg(more, mode_t); \
            va_end(more); \
        } \
        return fails(kind_open) ? -1 : next arguments; \
    }
OPEN_LIKE(open, (const char* path, int flags, ...), (path, flags, mode))
OPEN_LIKE(open64, (const char* path, int flags, ...), (path, flags, mode))
OPEN_LIKE(openat, (int folder, const char* path, int flags, ...), (folder, path, flags, mode))
OPEN_LIKE(openat64, (int folder, const char* path, int flags, ...), (folder, path, flags, mode))

// dlsym itself allocates memory, so these use the names that glibc provides for this purpose.
extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* block, size_t size);

void* malloc(size_t size) {
    return fails(kind_malloc) ? NULL : __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
    return fails(kind_malloc) ? NULL : __libc_calloc(count, size);
}
void* realloc(void* block, size_t size) {
    return fails(kind_malloc) ? NULL : __libc_realloc(block, size);
}
