// A plugin for qemu-user (version 1 of its interface, whose header Debian does not ship): counts the instructions that
// a program of one thread executes.
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
enum { inline_add_u64 };

extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*translated)(plugin_id, struct qemu_plugin_tb*));
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb* block, int operation, void* on, uint64_t by);
extern void qemu_plugin_register_atexit_cb(plugin_id id, void (*at_exit)(plugin_id, void*), void* data);

int qemu_plugin_version = 1;

static uint64_t instructions;

static void count_block(plugin_id id, struct qemu_plugin_tb* block) {
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, inline_add_u64, &instructions, qemu_plugin_tb_n_insns(block));
}

static void print(plugin_id id, void* data) {
    (void)id;
    (void)data;
    fprintf(stderr, "instructions %" PRIu64 "\n", instructions);
}

int qemu_plugin_install(plugin_id id, const void* info, int argc, char** argv) {
    (void)info;
    (void)argc;
    (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, count_block);
    qemu_plugin_register_atexit_cb(id, print, NULL);
    return 0;
}
