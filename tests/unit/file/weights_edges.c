// Model files while they are read: one that changes, one that is cut under its readers, tensors that no
// reader can use, rows that are no whole blocks, tables at their edges.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "core/file/latent_file.h"
#include "core/file/safetensors.h"
#include "core/file/weights.h"
#include "tests/gguf_tokens.h"
#include "tests/unit/file/pth_file.h"

static nino_error err;
static char dir[] = "/tmp/ninodes-edges-XXXXXX";

// ---- a file that changes while it is opened ----------------------------------------------------

static enum { SAME, SIZE, SECONDS, NANOSECONDS, FAILS } other; // what the next look but one finds
static int looks;

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
    const int rc = __real_fstat(fd, st);
    if (rc || ++looks % 2)
        return rc;
    st->st_size += other == SIZE;
    st->st_mtim.tv_sec += other == SECONDS;
    st->st_mtim.tv_nsec ^= other == NANOSECONDS;
    errno = EIO;
    return other == FAILS ? -1 : 0;
}

static const char *path_of(const char *name)
{
    static char path[160];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

// A safetensors file with this header, ' for ", and n bytes of values.
static void save(const char *quoted, const void *values, size_t n)
{
    char *header = test_quoted(quoted);
    const uint64_t len = strlen(header);
    FILE *f = fopen(path_of("w"), "wb");
    CHECK(f && fwrite(&len, 1, 8, f) == 8 && fputs(header, f) >= 0 &&
          fwrite(values, 1, n, f) == n && !fclose(f));
    free(header);
}

static nino_weights *open_saved(void)
{
    nino_weights *w = nino_weights_open(path_of("w"), &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    return w;
}

static void check_changes(void)
{
    static const char one[] = "{'a':{'dtype':'F32','shape':[1],'data_offsets':[0,4]}}";
    save(one, "abcd", 4);
    for (other = SAME; other <= FAILS; other++) {
        looks = 0;
        err = (nino_error){ 0 };
        nino_weights *w = nino_weights_open(path_of("w"), &err);
        CHECK(!w == (other != SAME));
        if (!w)
            CHECK(err.code == NINO_ERR_IO && strstr(err.where, "/w") &&
                  strstr(err.msg, other == FAILS ? strerror(EIO) : "changed while it was read"));
        nino_weights_unref(&w);
    }
    other = SAME;
    CHECK(!nino_weights_open_fd(-1, "none", &err) && err.code == NINO_ERR_IO);
    CHECK_STR(err.where, "none");
    const int fd = open(path_of("w"), O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0 && !nino_weights_open_fd(fd, "deaf", &err) && err.code == NINO_ERR_IO);
    CHECK(strstr(err.msg, strerror(EBADF)));
}

// ---- a file that is cut while it is open -------------------------------------------------------

static void check_cut(void)
{
    static const char header[] =
        "{'h':{'dtype':'F16','shape':[2],'data_offsets':[0,4]},"
        "'x.weight':{'dtype':'F8_E4M3','shape':[2,2],'data_offsets':[4,8]},"
        "'x.weight_scale':{'dtype':'F32','shape':[2],'data_offsets':[8,16]},"
        "'y.weight':{'dtype':'F8_E4M3','shape':[1],'data_offsets':[16,17]},"
        "'y.comfy_quant':{'dtype':'U8','shape':[2],'data_offsets':[17,19]},"
        "'latent_tensor':{'dtype':'F32','shape':[1,1,1,1],'data_offsets':[19,23]}}";
    char zeros[23] = { 0 };
    nino_factors f;
    float v[4];
    save(header, zeros, sizeof(zeros));
    nino_weights *w = open_saved();
    CHECK_OK(nino_weights_scale(w, nino_weights_find(w, "x.weight"), &f, &err), err);
    CHECK(f.rows && !truncate(path_of("w"), 30));
    CHECK(!nino_weights_read_f32(w, nino_weights_find(w, "h"), &err) && err.msg[0]);
    CHECK(nino_weights_read_rows_f32(w, nino_weights_find(w, "h"), 0, 1, v, &err));
    CHECK(nino_factors_apply(w, &f, 0, 2, 2, v, &err) && err.msg[0]);
    CHECK(nino_weights_scale(w, nino_weights_find(w, "y.weight"), &f, &err) && err.msg[0]);
    nino_array *a = NULL;
    CHECK(nino_latent_load(w, &a, NULL) && !a);
    CHECK(nino_latent_load(w, &a, &err) && !a && err.msg[0]);
    nino_weights_unref(&w);

    static const char pickle[] = "\x80\x02" TRANSPOSED ".";
    nino_buf b = pth_archive(pickle, sizeof(pickle) - 1);
    const int fd = memfd_create("t.pth", MFD_CLOEXEC), again = dup(fd);
    CHECK(fd >= 0 && again >= 0 && write(fd, b.data, b.len) == (ssize_t) b.len);
    w = nino_weights_open_fd(fd, "t.pth", &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    const nino_tensor_info *t = nino_weights_at(w, 0);
    CHECK(t->is_strided && !nino_weights_is_stored(w, t));
    CHECK_OK(nino_weights_read(w, t, v, &err), err);
    CHECK(v[0] == 1 && v[1] == 4);
    CHECK(nino_weights_read_bytes(w, t, 0, 4, v, &err) == NINO_ERR_RANGE);
    CHECK(!ftruncate(again, 20) && !close(again));
    CHECK(nino_weights_read(w, t, v, &err) && !nino_weights_read_f32(w, t, &err) && err.msg[0]);
    nino_weights_unref(&w);
    nino_buf_release(&b);
}

// ---- what cannot be used, and rows that are no blocks ------------------------------------------

static void check_scales(void)
{
    static const char many[] =
        "{'x.weight':{'dtype':'F8_E4M3','shape':[4],'data_offsets':[0,4]},"
        "'x.weight_scale':{'dtype':'F32','shape':[1,1,1,1,1,1,1,1],'data_offsets':[4,8]}}";
    char header[2600], name[1101];
    const float one = 1;
    char data[8] = { 0 };
    nino_factors f;
    memcpy(data + 4, &one, 4);
    save(many, data, sizeof(data));
    nino_weights *w = open_saved();
    CHECK(nino_weights_scale(w, nino_weights_find(w, "x.weight"), &f, &err) ==
          NINO_ERR_UNSUPPORTED);
    CHECK(strstr(err.msg, "rank 8"));
    CHECK(nino_weights_scale(w, nino_weights_find(w, "x.weight"), &f, NULL) == NINO_ERR_IO);
    nino_weights_unref(&w);
    // a name beside which none can be as long: there is no scale, whatever the metadata say
    memset(name, 'n', sizeof(name));
    snprintf(name + 1010, 90, ".weight");
    snprintf(header, sizeof(header),
             "{'__metadata__':{'_quantization_metadata':'{\\'layers\\': {\\'x\\': 5}}'},"
             "'%s':{'dtype':'F8_E5M2','shape':[1],'data_offsets':[0,1]}}",
             name);
    save(header, data, 1);
    w = open_saved();
    CHECK_OK(nino_weights_scale(w, nino_weights_at(w, 0), &f, &err), err);
    CHECK(!nino_factors_any(&f));
    nino_weights_unref(&w);
}

// 700 rows under a factor each: more than are read at a time.
static void check_many_rows(void)
{
    enum { ROWS = 700 };
    char header[400], *data = calloc(ROWS * 6, 1);
    float v[ROWS * 2];
    nino_factors f;
    CHECK(data);
    snprintf(header, sizeof(header),
             "{'x.weight':{'dtype':'F8_E4M3','shape':[%d,2],'data_offsets':[0,%d]},"
             "'x.weight_scale':{'dtype':'F32','shape':[%d],'data_offsets':[%d,%d]}}",
             ROWS, ROWS * 2, ROWS, ROWS * 2, ROWS * 6);
    for (int i = 0; i < ROWS; i++) {
        const float by = (float) i + 0.5f;
        memcpy(data + ROWS * 2 + 4 * i, &by, 4);
        v[2 * i] = 1;
        v[2 * i + 1] = 2;
    }
    save(header, data, ROWS * 6);
    nino_weights *w = open_saved();
    CHECK_OK(nino_weights_scale(w, nino_weights_find(w, "x.weight"), &f, &err), err);
    CHECK_OK(nino_factors_apply(w, &f, 0, ROWS, 2, v, &err), err);
    for (int i = 0; i < ROWS; i++)
        CHECK(v[2 * i] == (float) i + 0.5f && v[2 * i + 1] == 2 * (float) i + 1);
    CHECK(!truncate(path_of("w"), 300 + ROWS * 2 + 4 * 300)); // the second half is gone
    CHECK(nino_factors_apply(w, &f, 0, ROWS, 2, v, &err) && err.msg[0]);
    nino_weights_unref(&w);
    free(data);
}

// Blocks of 32 values under rows of 20: each row begins and ends within one.
static void check_across_blocks(void)
{
    enum { BLOCKS = 5, ROWS = 8, WIDTH = 20, Q8_0 = 8 };
    nino_buf b = { 0 }, shape = { 0 }, data = { 0 };
    float rows[3 * WIDTH];
    nino_buf_adds(&b, "GGUF");
    gguf_u32(&b, 3);
    gguf_u64(&b, 1);
    gguf_u64(&b, 1);
    gguf_u32(&shape, ROWS);
    gguf_u32(&shape, WIDTH);
    gguf_list(&b, "comfy.gguf.orig_shape.w", 5, 2, &shape);
    gguf_string(&b, "w");
    gguf_u32(&b, 1);
    gguf_u64(&b, BLOCKS * 32);
    gguf_u32(&b, Q8_0);
    gguf_u64(&b, 0);
    for (int i = 0; i < BLOCKS; i++) {
        const uint16_t half = 0x3800; // 0.5
        nino_buf_add(&data, &half, 2);
        for (int k = 0; k < 32; k++)
            nino_buf_addc(&data, (char) (i * 20 + k - 60));
    }
    gguf_save(&b, &data, path_of("w"));
    nino_buf_release(&shape);
    nino_weights *w = nino_weights_open(path_of("w"), NULL);
    CHECK(w);
    const nino_tensor_info *t = nino_weights_find(w, "w");
    CHECK(t && t->rank == 2 && t->dim[0] == ROWS && t->dim[1] == WIDTH);
    for (int first = 0; first <= ROWS - 3; first++) {
        CHECK_OK(nino_weights_read_rows_f32(w, t, first, 3, rows, &err), err);
        for (int i = 0; i < 3 * WIDTH; i++) {
            const int at = first * WIDTH + i;
            CHECK(rows[i] == (float) (at / 32 * 20 + at % 32 - 60) / 2);
        }
    }
    CHECK(!truncate(path_of("w"), 100));
    CHECK(nino_weights_read_rows_f32(w, t, 0, 1, rows, &err) && err.msg[0]);
    nino_weights_unref(&w);
}

// ---- tables ------------------------------------------------------------------------------------

static bool is_b(void *priv, const char *name)
{
    (void) priv;
    return !strcmp(name, "b");
}

static nino_status as_it_is(void *priv, const nino_tensor_info *t, int64_t row0, int64_t rows,
                            float *values, nino_error *e)
{
    (void) priv;
    (void) t;
    (void) row0;
    (void) rows;
    (void) values;
    (void) e;
    return NINO_OK;
}

static void destroy(void *priv) { (void) priv; }

static void check_tables(void)
{
    static const char two[] = "{'b':{'dtype':'U8','shape':[2],'data_offsets':[0,2]},"
                              "'z':{'dtype':'U8','shape':[0],'data_offsets':[0,0]},"
                              "'a':{'dtype':'U8','shape':[0],'data_offsets':[0,0]},"
                              "'c':{'dtype':'U8','shape':[0],'data_offsets':[2,2]},"
                              "'__metadata__':{}}";
    nino_st_header h;
    char bytes[16] = { 2, 0, 0, 0, 0, 0, 0, 0, '{', '}' };
    save(two, "xy", 2);
    nino_weights *w = open_saved(); // what is empty comes before what begins at the same place
    static const char *const order[] = { "a", "z", "b", "c" };
    CHECK(nino_weights_count(w) == 4 && !nino_weights_meta_count(w));
    for (int i = 0; i < 4; i++)
        CHECK_STR(nino_weights_at(w, i)->name, order[i]);
    CHECK(nino_weights_is_stored(w, nino_weights_find(w, "b")));
    nino_weights *v = nino_weights_changed(
        w, &(nino_weights_change){ .covers = is_b, .apply = as_it_is, .destroy = destroy }, &err);
    CHECK_OK(v ? NINO_OK : err.code, err);
    CHECK(nino_weights_is_stored(v, nino_weights_find(v, "a")));
    CHECK(!nino_weights_is_stored(v, nino_weights_find(v, "b")));
    nino_weights_unref(&v);
    nino_weights_unref(&w);
    CHECK(nino_st_header_bytes(bytes, 7) == 0 && nino_st_header_bytes(bytes, 8) == 2);
    CHECK(nino_st_parse(bytes, 7, 10, "x", &h, &err) == NINO_ERR_ARG);
    CHECK(nino_st_parse(bytes, 9, 10, "x", &h, &err) == NINO_ERR_ARG && !h.arena);
    CHECK(nino_st_parse(bytes, 10, 9, "x", &h, &err) == NINO_ERR_FORMAT);
    CHECK_OK(nino_st_parse(bytes, 10, 10, "x", &h, &err), err);
    nino_st_header_release(&h);
}

int main(void)
{
    char command[64];
    CHECK(mkdtemp(dir));
    check_changes();
    check_cut();
    check_scales();
    check_many_rows();
    check_across_blocks();
    check_tables();
    snprintf(command, sizeof(command), "rm -r '%s'", dir);
    return system(command);
}
