// Code objects that are shipped (cl/code.c): found, checked, used and refused. There is no AMD GPU here: the device is
// PoCL's under the name of one, and its own binaries are the objects. With --objects DIR LIST LIST (programs of
// gfx1151, of a GPU that nobody has described) what `make code-objects` needs is written to DIR; with --count DIR
// the files that it has put into DIR/code are read; with --calls SCHEDULE the calls of stdin are made here; with
// --shipped LIST its kernels are launched on this device, from the file that NINODES_DATA_DIR has for it.
#include "core/base/file.h"
#include "tests/cl.h"
#include "tests/gate/shipped.h"

#include <fcntl.h>
#include <nettle/sha2.h>
#include <sys/stat.h>

#define SCHEDULE_OF "cpu" // whose programs PoCL compiles soonest

static nino_error err;
static char root[] = "/tmp/nino-code-XXXXXX", file[120], cache[120];
static nino_cl_device fake;
static char said[2000]; // warnings of the log
static int n_checked;   // objects that were found right

static void note(void *priv, nino_log_level level, const char *line)
{
    (void) priv;
    n_checked += strstr(line, "code object") && strstr(line, ": right");
    if (level == NINO_LOG_WARN)
        snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", line);
}
static const nino_log log_to = { note, NULL, NINO_LOG_DEBUG };

// ---- a file of objects ---------------------------------------------------------------------------

// As cl/code.c has them.
typedef struct made_header {
    char magic[8];
    uint32_t version, n;
    uint64_t bytes;
    char target[32];
    uint8_t digest[32];
} made_header;
typedef struct made_entry {
    uint8_t key[32], digest[32];
    uint64_t at, bytes, calls_bytes;
    char file[32], options[256];
} made_entry;

typedef struct object {
    nino_plan_program program;
    const char *calls;
    unsigned char *code;
    size_t bytes;
} object;

static nino_backend *open_fake(const char *cache_dir)
{
    const nino_ctx_params params = { NINO_CTX_PARAMS_INIT, .cache_dir = cache_dir };
    said[0] = 0;
    n_checked = 0;
    nino_backend *be = nino_cl_open(&fake, &params, &log_to, &err);
    CHECK_OK(be ? NINO_OK : err.code, err);
    CHECK_OK(nino_sched_find(SCHEDULE_OF, "", &be->profile.schedule, &err), err);
    return be;
}

// What this driver makes of a program with these options, which are its own or wrong ones.
static void build_object(object *o, const char *defs)
{
    char *text = NULL, *options = NULL;
    cl_int e;
    CHECK_OK(nino_cl_program_text(SCHEDULE_OF, o->program.file, defs, &text, &options, &err), err);
    cl_context context = nino_ocl.clCreateContext(NULL, 1, &fake.id, NULL, NULL, &e);
    const char *source = text;
    cl_program p = nino_ocl.clCreateProgramWithSource(context, 1, &source, NULL, &e);
    CHECK(!e && !nino_ocl.clBuildProgram(p, 1, &fake.id, options, NULL, NULL));
    CHECK(
        !nino_ocl.clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof(o->bytes), &o->bytes, NULL));
    CHECK(o->bytes && (o->code = malloc(o->bytes)));
    CHECK(!nino_ocl.clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof(o->code), &o->code, NULL));
    nino_ocl.clReleaseProgram(p);
    nino_ocl.clReleaseContext(context);
    free(text);
    free(options);
}

static nino_cl_key key_of(const nino_plan_program *p)
{
    nino_profile profile = { .name = "" };
    char line[64], *common, *own;
    CHECK_OK(nino_sched_find(SCHEDULE_OF, "", &profile.schedule, &err), err);
    CHECK_OK(nino_cl_program_source(&profile, "common", &common, &err), err);
    CHECK_OK(nino_cl_program_source(&profile, p->file, &own, &err), err);
    snprintf(line, sizeof(line), "\n#line 1 \"%s.cl\"\n", p->file);
    const char *const source[] = { common, line, own };
    const nino_cl_key key =
        nino_cl_code_key("gfx1151", profile.schedule->define, p->options, source);
    free(common);
    free(own);
    return key;
}

static int key_to_break = -1; // of which entry

static void write_objects(const object *list, uint32_t n)
{
    made_header h = { .magic = { 'N', 'I', 'N', 'O', 'C', 'O', 'D', 'E' },
                      .version = 1,
                      .n = n,
                      .bytes = sizeof(h) + n * sizeof(made_entry),
                      .target = "gfx1151" };
    made_entry entries[4] = { 0 };
    for (uint32_t i = 0; i < n; i++) {
        const object *o = &list[i];
        made_entry *e = &entries[i];
        struct sha256_ctx sha;
        const nino_cl_key key = key_of(&o->program);
        e->at = h.bytes;
        e->bytes = o->bytes;
        e->calls_bytes = strlen(o->calls);
        memcpy(e->key, key.sha, sizeof(e->key));
        e->key[0] ^= (int) i == key_to_break;
        memcpy(e->file, o->program.file, sizeof(e->file));
        memcpy(e->options, o->program.options, sizeof(e->options));
        sha256_init(&sha);
        sha256_update(&sha, o->bytes, o->code);
        sha256_update(&sha, e->calls_bytes, (const uint8_t *) o->calls);
        sha256_digest(&sha, 32, e->digest);
        h.bytes += e->bytes + e->calls_bytes;
    }
    struct sha256_ctx sha;
    sha256_init(&sha);
    sha256_update(&sha, n * sizeof(*entries), (const uint8_t *) entries);
    sha256_digest(&sha, 32, h.digest);
    FILE *f = fopen(file, "w");
    CHECK(f && fwrite(&h, sizeof(h), 1, f) == 1 && fwrite(entries, sizeof(*entries), n, f) == n);
    for (uint32_t i = 0; i < n; i++)
        CHECK(fwrite(list[i].code, 1, list[i].bytes, f) == list[i].bytes &&
              fputs(list[i].calls, f) >= 0);
    CHECK(!fclose(f));
}

// ---- what happens with them ----------------------------------------------------------------------

static const char right_call[] = "linear f32:3x41 weight=f32:24 bias\n";

// A linear layer on the device, of few rows: it is right, whatever the program is from. Returns whether that was a
// code object.
static bool multiply_on(nino_backend *be)
{
    static const nino_check_case c = { .op = NINO_OP_LINEAR, .src = { { 3, 77 } }, .n = 130 };
    nino_backend *ref = nino_ref_open(0, NULL, &err);
    nino_check_result r;
    CHECK_OK(ref ? NINO_OK : err.code, err);
    nino_check_run(be, ref, &c, NINO_F32, -1, 1, false, &r);
    if (!r.ok)
        fprintf(stderr, "%s\n", r.note);
    CHECK(r.ok);
    nino_backend_close(&ref);
    return nino_cl_program_is_shipped((nino_cl *) be, "skinny", "-DWT=f32 -DM=3");
}

static bool is_used(const char *cache_dir)
{
    nino_backend *be = open_fake(cache_dir);
    const bool is = multiply_on(be);
    nino_backend_close(&be);
    return is;
}

static void drop_cache(void)
{
    char cmd[200];
    snprintf(cmd, sizeof(cmd), "rm -rf %s", cache);
    CHECK(!system(cmd));
}

// A program that is right, found by its source: used, and not checked again by the same driver.
static void test_right(object *o)
{
    CHECK(!is_used(cache)); // there is none
    write_objects(o, 1);
    CHECK(!is_used(cache)); // what was compiled is in the cache
    drop_cache();
    CHECK(is_used(cache) && !*said && n_checked == 1);
    CHECK(is_used(cache) && !*said && n_checked == 0); // as the cache says
    CHECK(is_used("") && !*said && n_checked == 1);    // where there is none
    object other = *o;                                 // of another program
    snprintf(other.program.options, sizeof(other.program.options), "-DWT=bf16 -DM=3");
    write_objects(&other, 1);
    drop_cache();
    CHECK(!is_used(cache) && !*said);
}

// Objects that are not: the source is compiled, results are right, and one line says so, once.
static void test_wrong(const object *right, const object *wrong)
{
    const object none = {
        .program = right->program, .code = right->code, .bytes = right->bytes, .calls = ""
    };
    object strange = none, refused = *right;
    unsigned char junk[] = "not a program of any driver";
    strange.calls = "linear f32:3x41 weight=f32:24 brightness=3\n";
    refused.code = junk;
    refused.bytes = sizeof(junk);
    const struct {
        const object *o;
        const char *says;
    } cases[] = { { wrong, "linear_f32" },
                  { &none, "nothing says how" },
                  { &strange, "does not know" },
                  { &refused, "linear_f32" } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        drop_cache();
        write_objects(cases[i].o, 1);
        CHECK(!is_used(cache));
        if (!strstr(said, cases[i].says) || !strstr(said, "code object of skinny"))
            fprintf(stderr, "case %zu: %s\n", i, said);
        CHECK(strstr(said, cases[i].says) && strstr(said, "code object of skinny"));
        CHECK(strchr(said, '\n') == said + strlen(said) - 1);
        drop_cache();
    }
    write_objects(wrong, 1); // compiled once by now: the cache has it, nobody asks for objects
    CHECK(!is_used(cache) && *said);
    CHECK(!is_used(cache) && !*said);
}

static void flip(long at)
{
    const int fd = open(file, O_RDWR);
    unsigned char b;
    CHECK(fd >= 0 && pread(fd, &b, 1, at) == 1);
    b ^= 1;
    CHECK(pwrite(fd, &b, 1, at) == 1 && !close(fd));
}

// A file that is cut off or changed anywhere.
static void test_damaged(const object *o)
{
    struct stat st;
    const long body = sizeof(made_header) + sizeof(made_entry);
    write_objects(o, 1);
    CHECK(!stat(file, &st));
    const off_t cuts[] = { 0,        1,    sizeof(made_header) - 1, sizeof(made_header),
                           body - 1, body, st.st_size - 1 };
    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        write_objects(o, 1);
        drop_cache();
        CHECK(!truncate(file, cuts[i]));
        CHECK(!is_used(cache) && strstr(said, "gfx1151.bin is damaged"));
    }
    const struct {
        long at;
        const char *says;
    } flips[] = { { 0, "is damaged" },  // magic
                  { 8, "is damaged" },  // version
                  { 12, "is damaged" }, // how many
                  { 16, "is damaged" }, // bytes
                  { 26, "is damaged" }, // target
                  { sizeof(made_header), "is damaged" },
                  { sizeof(made_header) + 64 + 7, "is damaged" },
                  { body - 1, "is damaged" },
                  { body + 100, "it cannot be read" } }; // the object
    for (size_t i = 0; i < sizeof(flips) / sizeof(flips[0]); i++) {
        write_objects(o, 1);
        drop_cache();
        flip(flips[i].at);
        CHECK(!is_used(cache));
        if (!strstr(said, flips[i].says))
            fprintf(stderr, "byte %ld: %s\n", flips[i].at, said);
        CHECK(strstr(said, flips[i].says));
    }
}

// Those of another driver or GPU are not for this device; of its own it is counted which still fit.
static void test_count(const object *o)
{
    object two[2] = { *o, *o };
    size_t n_fit = 9;
    nino_cl_device gpu = fake;
    const nino_cl_device own = *test_cl_device();
    snprintf(two[1].program.options, sizeof(two[1].program.options), "-DWT=bf16 -DM=3");
    write_objects(two, 2);
    CHECK(nino_cl_code_count(&gpu, &n_fit) == 2 && n_fit == 2);
    snprintf(two[1].program.file, sizeof(two[1].program.file), "quant");
    key_to_break = 1; // its source was another
    write_objects(two, 2);
    key_to_break = -1;
    CHECK(nino_cl_code_count(&gpu, &n_fit) == 2 && n_fit == 1);
    CHECK(nino_cl_code_count(&own, &n_fit) == 0 && n_fit == 0);
    nino_cl_device other = gpu;
    snprintf(other.info.name, sizeof(other.info.name), "gfx1100");
    CHECK(nino_cl_code_count(&other, &n_fit) == 0);
    snprintf(other.info.name, sizeof(other.info.name), "gfx1151:xnack-");
    CHECK(nino_cl_code_count(&other, &n_fit) == 2);
    snprintf(other.info.name, sizeof(other.info.name), "gfx1151/../x");
    CHECK(nino_cl_code_count(&other, &n_fit) == 0);
    other = gpu;
    snprintf(other.info.platform, sizeof(other.info.platform), "rusticl");
    CHECK(nino_cl_code_count(&other, &n_fit) == 0);
}

// Programs of the lists have calls that check them.
static int write_sources(const char *dir, const char *of_gfx1151, const char *of_any)
{
    static const char *const gfx11[] = { "gfx1100", "gfx1101", "gfx1102", "gfx1103",
                                         "gfx1150", "gfx1151", NULL };
    static const char *const gfx12[] = { "gfx1200", "gfx1201", NULL };
    char path[600], *a, *b;
    size_t len;
    CHECK_OK(nino_file_read(of_gfx1151, 1 << 20, false, &a, &len, &err), err);
    CHECK_OK(nino_file_read(of_any, 1 << 20, false, &b, &len, &err), err);
    snprintf(path, sizeof(path), "%s/index", dir);
    FILE *index = fopen(path, "w");
    CHECK(index);
    const size_t n = // without a check
        objects_write("wmma", a, gfx11, dir, index) +
        objects_write("generic", b, gfx12, dir, index);
    CHECK(!fclose(index));
    free(a);
    free(b);
    return n ? 1 : 0;
}

// Every file of objects in DIR/code is one that this library reads, and its programs are this library's.
static int count_files(const char *dir)
{
    static const char *const targets[] = { "gfx1100", "gfx1101", "gfx1102", "gfx1103",
                                           "gfx1150", "gfx1151", "gfx1200", "gfx1201" };
    int wrong = 0;
    CHECK(!setenv("NINODES_DATA_DIR", dir, 1));
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        nino_cl_device gpu = { .info = { .platform = "AMD Accelerated Parallel Processing" } };
        size_t n_fit;
        snprintf(gpu.info.name, sizeof(gpu.info.name), "%s", targets[i]);
        if (!strncmp(targets[i], "gfx11", 5)) // what it would answer
            CHECK_OK(nino_sched_find("wmma", "", &gpu.native, &err), err);
        const size_t n = nino_cl_code_count(&gpu, &n_fit);
        printf("%s: %zu programs, %zu fit\n", targets[i], n, n_fit);
        wrong += !n || n_fit < n;
    }
    return wrong;
}

// Calls from stdin, by this device's kernels in the form of that schedule: those of a right object must be right.
static int try_calls(const char *schedule)
{
    nino_backend *be = nino_cl_open(test_cl_device(), NULL, NULL, &err);
    nino_backend *ref = be ? nino_ref_open(0, NULL, &err) : NULL;
    char line[NINO_CALL_TEXT + 2];
    int n = 0, wrong = 0;
    CHECK_OK(ref ? NINO_OK : err.code, err);
    CHECK_OK(nino_sched_find(schedule, "", &be->profile.schedule, &err), err);
    while (fgets(line, sizeof(line), stdin)) {
        nino_check_case c;
        nino_check_result r;
        nino_dtype type;
        line[strcspn(line, "\n")] = 0;
        CHECK_OK(nino_call_read(line, &c, &type, &err), err);
        c.only_bench = false;
        nino_check_run(be, ref, &c, type, -1, 1, false, &r);
        if (!r.ok)
            printf("%s: nmse %g, allowed %g: %s\n", line, r.nmse, r.tol, r.note);
        wrong += !r.ok;
        n++;
    }
    printf("%s: %d calls, %d wrong\n", schedule, n, wrong);
    nino_backend_close(&be);
    nino_backend_close(&ref);
    return wrong || !n;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "--count"))
        return count_files(argv[2]);
    if (argc == 3 && !strcmp(argv[1], "--calls"))
        return try_calls(argv[2]);
    if (argc == 3 && !strcmp(argv[1], "--shipped"))
        return shipped_try(argv[2]);
    if (argc == 5 && !strcmp(argv[1], "--objects"))
        return write_sources(argv[2], argv[3], argv[4]);
    char folder[100];
    CHECK(mkdtemp(root) && !setenv("NINODES_DATA_DIR", root, 1));
    snprintf(folder, sizeof(folder), "%s/code", root);
    snprintf(file, sizeof(file), "%s/gfx1151.bin", folder);
    snprintf(cache, sizeof(cache), "%s/cache", root);
    CHECK(!mkdir(folder, 0700));
    fake = *test_cl_device();
    snprintf(fake.info.name, sizeof(fake.info.name), "gfx1151");
    snprintf(fake.info.platform, sizeof(fake.info.platform), "AMD Accelerated Parallel Processing");
    object o = { .program = { "skinny", "-DWT=f32 -DM=3" }, .calls = right_call }, wrong = o;
    build_object(&o, "-DWT=f32 -DM=3");
    build_object(&wrong, "-DWT=f16 -DM=3");
    test_right(&o);
    test_wrong(&o, &wrong);
    test_damaged(&o);
    test_count(&o);
    free(o.code);
    free(wrong.code);
    char cmd[100];
    snprintf(cmd, sizeof(cmd), "rm -rf %s", root);
    CHECK(!system(cmd));
    return 0;
}
