// The machine code of a kernel for a GPU that need not be here: clang compiles its source for gfx1151 with
// ROCm's device libraries, as assembly, which has the figures of every kernel in comments.
#include "cli.h"
#include "kernel/kernel_code.h"

#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MAX_ARGS = 96, MAX_TEXT = 64 << 20 };

// The newest first; ROCm's own where that is installed.
static const char *const compilers[] = {
    "/opt/rocm/llvm/bin/clang", "clang-21", "clang-20", "clang-19", "clang-18", "clang"
};
static const char *const folders[] = { "/opt/rocm/amdgcn/bitcode",
                                       "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
                                       "/usr/lib/amdgcn/bitcode" };
// Which of several that stand for one choice is there depends on ROCm's age.
static const char *const libraries[] = {
    "opencl",
    "ocml",
    "ockl",
    "oclc_isa_version_1151|oclc_isa_version_1100|oclc_isa_version_1036",
    "oclc_abi_version_500",
    "oclc_correctly_rounded_sqrt_on",
    "oclc_daz_opt_off",
    "oclc_finite_only_off",
    "oclc_unsafe_math_off",
    "oclc_wavefrontsize64_off"
};

static const char *folder_of_libraries(void)
{
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        if (!access(folders[i], R_OK))
            return folders[i];
    return NULL;
}

typedef struct line {
    char *arg[MAX_ARGS];
    int n;
} line;

static void add(line *l, const char *a, size_t len)
{
    if (l->n < MAX_ARGS - 1 && len && (l->arg[l->n] = strndup(a, len)))
        l->n++;
}

static void add_word(line *l, const char *a) { add(l, a, strlen(a)); }

// The first of "a|b|c" that is there.
static void add_library(line *l, const char *folder, const char *names)
{
    char path[512];
    for (const char *p = names; *p; p += *p == '|') {
        const size_t n = strcspn(p, "|");
        snprintf(path, sizeof(path), "%s/%.*s.bc", folder, (int) n, p);
        p += n;
        if (access(path, R_OK))
            continue;
        add_word(l, "-Xclang");
        add_word(l, "-mlink-builtin-bitcode");
        add_word(l, "-Xclang");
        add_word(l, path);
        return;
    }
}

// CL2.0: the device library's vload and vstore want the generic address space.
static void make_line(line *l, const char *compiler, const char *folder, const char *flags)
{
    static const char *const fixed[] = { "-x",
                                         "cl",
                                         "-cl-std=CL2.0",
                                         "-target",
                                         "amdgcn-amd-amdhsa",
                                         ("-mcpu=" KERNEL_CODE_TARGET),
                                         "-O3",
                                         "-nogpulib",
                                         "-mcode-object-version=5",
                                         "-Wno-linker-warnings",
                                         "-w",
                                         "-S",
                                         "-o",
                                         "-" };
    add_word(l, compiler);
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        add_word(l, fixed[i]);
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
        add_library(l, folder, libraries[i]);
    for (const char *p = flags; *p;) {
        const size_t n = strcspn(p, " ");
        if (!strncmp(p, "-D", 2))
            add(l, p, n);
        p += n + (p[n] == ' ');
    }
    add_word(l, "-");
    l->arg[l->n] = NULL;
}

static char *read_all(FILE *f)
{
    const long n = fseek(f, 0, SEEK_END) ? -1 : ftell(f);
    char *text = n >= 0 && n < MAX_TEXT ? malloc((size_t) n + 1) : NULL;
    if (!text)
        return NULL;
    rewind(f);
    text[fread(text, 1, (size_t) n, f)] = 0;
    return text;
}

// Runs it with text as its input: malloc'd output; NULL: it is not there or fails. *said: its words.
static char *run_compiler(line *l, const char *text, char **said)
{
    FILE *f[3] = { tmpfile(), tmpfile(), tmpfile() };
    posix_spawn_file_actions_t actions;
    char *out = NULL;
    pid_t pid;
    int status = -1;
    if (f[0] && f[1] && f[2] && fputs(text, f[0]) >= 0 && !fflush(f[0]) &&
        !lseek(fileno(f[0]), 0, SEEK_SET) && !posix_spawn_file_actions_init(&actions)) {
        for (int i = 0; i < 3; i++)
            posix_spawn_file_actions_adddup2(&actions, fileno(f[i]), i);
        if (!posix_spawnp(&pid, l->arg[0], &actions, NULL, l->arg, environ) &&
            waitpid(pid, &status, 0) == pid && status == 0)
            out = read_all(f[1]);
        else if (status != -1 && !*said)
            *said = read_all(f[2]);
        posix_spawn_file_actions_destroy(&actions);
    }
    for (int i = 0; i < 3; i++)
        if (f[i])
            fclose(f[i]);
    return out;
}

// ---- what the assembly tells -------------------------------------------------------------------

static uint64_t number_after(const char *from, const char *to, const char *key)
{
    const char *p = from ? strstr(from, key) : NULL;
    return p && (!to || p < to) ? strtoull(p + strlen(key), NULL, 10) : 0;
}

static void count(kernel_code *c, const char *op)
{
    static const struct {
        const char *start;
        int kind;
    } kinds[] = { { "v_wmma", CODE_MATRIX },   { "ds_", CODE_LOCAL },
                  { "global_", CODE_MEMORY },  { "buffer_", CODE_MEMORY },
                  { "flat_", CODE_MEMORY },    { "scratch_", CODE_SCRATCH },
                  { "s_waitcnt", CODE_WAIT },  { "s_cbranch", CODE_BRANCH },
                  { "s_branch", CODE_BRANCH }, { "s_", CODE_SCALAR },
                  { "v_", CODE_VECTOR } };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (!strncmp(op, kinds[i].start, strlen(kinds[i].start))) {
            c->mix[kinds[i].kind]++;
            return;
        }
}

// Instructions and labels of a function, without directives and comments.
static void keep_instructions(kernel_code *c, const char *from, const char *to)
{
    size_t n = 0;
    c->text = malloc((size_t) (to - from) + 1);
    for (const char *p = from; c->text && p < to;) {
        const size_t len = strcspn(p, "\n");
        size_t used = strcspn(p, ";\n");
        const char *word = p + strspn(p, " \t");
        while (used && (p[used - 1] == ' ' || p[used - 1] == '\t'))
            used--;
        const bool is_label = used && p[0] != '\t' && p[used - 1] == ':';
        if (used && (is_label || *word != '.')) {
            if (!is_label)
                count(c, word);
            memcpy(c->text + n, p, used);
            n += used;
            c->text[n++] = '\n';
        }
        p += len + (p[len] == '\n');
    }
    if (c->text)
        c->text[n] = 0;
}

static bool find_kernel(kernel_code *c, const char *assembly, const char *kernel)
{
    char mark[128];
    snprintf(mark, sizeof(mark), "\n%s:", kernel);
    const char *from = strstr(assembly, mark), *end = from ? strstr(from, ".Lfunc_end") : NULL;
    if (!end)
        return false;
    keep_instructions(c, from + 1, end);
    const char *info = strstr(end, "; Kernel info:"), *stop = info ? strstr(info, "\n\t.") : NULL;
    c->bytes = number_after(info, stop, "codeLenInByte = ");
    c->sgprs = number_after(info, stop, "NumSgprs: ");
    c->vgprs = number_after(info, stop, "; NumVgprs: ");
    c->scratch = number_after(info, stop, "ScratchSize: ");
    c->local_bytes = number_after(info, stop, "LDSByteSize: ");
    c->occupancy = number_after(info, stop, "Occupancy: ");
    snprintf(mark, sizeof(mark), ".name:           %s\n", kernel);
    const char *note = strstr(end, ".amdgpu_metadata"), *own = note ? strstr(note, mark) : NULL;
    const char *next = own ? strstr(own, "  - .args:") : NULL;
    c->spills = number_after(own, next, ".sgpr_spill_count: ") +
                number_after(own, next, ".vgpr_spill_count: ");
    return c->text != NULL;
}

const char *kernel_code_make(const char *source, const char *flags, const char *kernel,
                             kernel_code *c)
{
    static char why[512];
    const char *folder = folder_of_libraries();
    char *said = NULL, *assembly = NULL;
    *c = (kernel_code){ .text = NULL };
    if (strstr(flags, "-DSCHED_CPU=1"))
        return "this program is written for processors; what machine code it becomes is their "
               "driver's choice, which no driver tells";
    if (!folder)
        return "ROCm's device libraries are not installed (rocm-device-libs)";
    for (size_t i = 0; i < sizeof(compilers) / sizeof(compilers[0]) && !assembly; i++) {
        line l = { .n = 0 };
        make_line(&l, compilers[i], folder, flags);
        assembly = run_compiler(&l, source, &said);
        snprintf(c->compiler, sizeof(c->compiler), "%s", compilers[i]);
        for (int k = 0; k < l.n; k++)
            free(l.arg[k]);
    }
    if (assembly && !find_kernel(c, assembly, kernel))
        snprintf(why, sizeof(why), "the program has no kernel %s", kernel);
    else if (!assembly && said)
        snprintf(why, sizeof(why), "clang does not compile it for " KERNEL_CODE_TARGET ": %.*s",
                 (int) strcspn(said, "\n"), said);
    else if (!assembly)
        snprintf(why, sizeof(why), "no clang for " KERNEL_CODE_TARGET " is installed (clang-19)");
    free(said);
    free(assembly);
    return c->text ? NULL : why;
}

void kernel_code_release(kernel_code *c)
{
    free(c->text);
    c->text = NULL;
}
