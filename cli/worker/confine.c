// What a worker may not do any more once it has started, whoever gets to run code in it by a damaged
// file or a faulty driver: start programs, reach the network, look into other processes, ask the
// kernel for what it has no use for. Landlock says which programs may still be started: this one,
// which compiles kernels beside a run, and the linker that PoCL starts for every kernel.
#include "commands.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// ---- programs ----------------------------------------------------------------------------------

// True: the file, if there is one, may be started.
static bool allow(int rules, const char *path, uint64_t what)
{
    struct landlock_path_beneath_attr rule = { .allowed_access = what,
                                               .parent_fd = open(path, O_PATH | O_CLOEXEC) };
    if (rule.parent_fd < 0)
        return true;
    const bool ok = !syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
    return ok;
}

// The loader of shared libraries, without which no program starts.
static int allow_loader(struct dl_phdr_info *info, size_t size, void *priv)
{
    (void) size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_INTERP)
            allow(*(int *) priv, (const char *) (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
                  LANDLOCK_ACCESS_FS_EXECUTE);
    return 1; // the program comes first
}

// Linkers by the names under which drivers look for them in PATH.
static bool allow_linkers(int rules)
{
    static const char *const names[] = { "ld", "ld.lld" };
    const char *path = getenv("PATH");
    bool ok = true;
    for (const char *p = path ? path : "/usr/bin:/bin"; *p;) {
        const size_t n = strcspn(p, ":");
        char file[PATH_MAX];
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            const int len = snprintf(file, sizeof(file), "%.*s/%s", (int) n, p, names[i]);
            if (*p == '/' && len > 0 && (size_t) len < sizeof(file))
                ok = allow(rules, file, LANDLOCK_ACCESS_FS_EXECUTE) && ok;
        }
        p += n + (p[n] == ':');
    }
    return ok;
}

// False: this kernel cannot. Files may still be renamed from one folder to another, which needs the
// second version of Landlock.
static bool only_own_programs(void)
{
    const struct landlock_ruleset_attr all = { .handled_access_fs = LANDLOCK_ACCESS_FS_EXECUTE |
                                                                    LANDLOCK_ACCESS_FS_REFER };
    if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 2)
        return false;
    int rules = (int) syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
    if (rules < 0)
        return false;
    dl_iterate_phdr(allow_loader, &rules);
    const bool ok = allow(rules, "/proc/self/exe", LANDLOCK_ACCESS_FS_EXECUTE) &&
                    allow(rules, "/", LANDLOCK_ACCESS_FS_REFER) && allow_linkers(rules) &&
                    !syscall(SYS_landlock_restrict_self, rules, 0);
    close(rules);
    return ok;
}

// ---- system calls ------------------------------------------------------------------------------

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef OWN_ARCH
// No use for them here, and each of them is a way around the rest or into another process.
static const int refused[] = {
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_io_uring_setup,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_unshare,
    SYS_setns,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_open_by_handle_at,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
};
enum { REFUSED = sizeof(refused) / sizeof(refused[0]) };

static void add(struct sock_fprog *p, uint16_t code, uint8_t yes, uint8_t no, uint32_t k)
{
    p->filter[p->len++] = (struct sock_filter){ code, yes, no, k };
}

// Refuses the calls of the list, sockets but those of this machine unless the network is needed,
// and calls of another architecture, whose numbers mean something else.
static bool only_own_calls(bool has_network)
{
    enum { LOAD = BPF_LD | BPF_W | BPF_ABS, IS = BPF_JMP | BPF_JEQ | BPF_K, END = BPF_RET | BPF_K };
    struct sock_filter code[REFUSED + 16];
    struct sock_fprog p = { 0, code };
    add(&p, LOAD, 0, 0, (uint32_t) offsetof(struct seccomp_data, arch));
    add(&p, IS, 1, 0, OWN_ARCH);
    add(&p, END, 0, 0, SECCOMP_RET_ERRNO | ENOSYS);
    add(&p, LOAD, 0, 0, (uint32_t) offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    add(&p, BPF_JMP | BPF_JGE | BPF_K, 0, 1, 0x40000000); // the x32 form of every call
    add(&p, END, 0, 0, SECCOMP_RET_ERRNO | ENOSYS);
#endif
    for (int i = 0; i < REFUSED; i++)
        add(&p, IS, (uint8_t) (REFUSED - i), 0, (uint32_t) refused[i]);
    add(&p, BPF_JMP | BPF_JA, 0, 0, 1);
    add(&p, END, 0, 0, SECCOMP_RET_ERRNO | EPERM);
    if (!has_network) {
        add(&p, IS, 0, 3, SYS_socket);
        add(&p, LOAD, 0, 0, (uint32_t) offsetof(struct seccomp_data, args));
        add(&p, IS, 1, 0, AF_UNIX);
        add(&p, END, 0, 0, SECCOMP_RET_ERRNO | EACCES);
    }
    add(&p, END, 0, 0, SECCOMP_RET_ALLOW);
    return !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &p);
}
#else
static bool only_own_calls(bool has_network)
{
    (void) has_network;
    return false;
}
#endif

void confine(bool has_network, bool is_told)
{
    nino_config_value v;
    if (!nino_config_get("worker.confined", &v) || strcmp(v.text, "true") != 0)
        return;
    const bool is_final = !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const bool programs = is_final && only_own_programs();
    const bool calls = is_final && only_own_calls(has_network);
    if (is_told)
        say("worker: confined: %s programs but this and the driver's linker, %s",
            programs ? "no" : "this kernel cannot refuse",
            !calls        ? "all system calls, as this kernel cannot refuse any"
            : has_network ? "the network for its queue"
                          : "no network");
}
