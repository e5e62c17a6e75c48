// Views of a storage in PyTorch files: every shape of up to three dimensions of 0 to 3 with strides of 0
// to 4 and three offsets into six numbers, against what PyTorch's as_strided() means: element i, j, k is
// storage[offset + i * s0 + j * s1 + k * s2]. The folder of the archive has the longest name that is read.
#include "core/file/pth_table.h"
#include "tests/unit/file/pth_file.h"

enum { STORED = 6 };

typedef struct view {
    int rank, offset;
    int dim[3], stride[3];
} view;

static nino_error err;
static const float stored[STORED] = { 10, 21, 32, 43, 54, 65 };
static long n_read, n_refused;

static void put_tuple(nino_buf *b, const int *v, int n)
{
    static const char ends[] = ")\x85\x86\x87";
    for (int i = 0; i < n; i++) {
        nino_buf_addc(b, 'K');
        nino_buf_addc(b, (char) v[i]);
    }
    nino_buf_addc(b, ends[n]);
}

static nino_buf pickle_of(const view *v)
{
    static const char begin[] = "\x80\x02}" KEY("w") REBUILD "(" STORAGE "K";
    static const char end[] = "\x89" DICT "tRs.";
    nino_buf b = { 0 };
    nino_buf_add(&b, begin, sizeof(begin) - 1);
    nino_buf_addc(&b, (char) v->offset);
    put_tuple(&b, v->dim, v->rank);
    put_tuple(&b, v->stride, v->rank);
    nino_buf_add(&b, end, sizeof(end) - 1);
    return b;
}

static nino_weights *open_view(const view *v)
{
    nino_buf pickle = pickle_of(v);
    const part parts[] = { { .name = "m/data.pkl", .data = pickle.data, .len = pickle.len },
                           { .name = "m/data/0", .data = stored, .len = sizeof(stored) } };
    nino_buf b = pth_zip_of(parts, 2, false, 0);
    nino_weights *w = pth_open_bytes(b.data, b.len, &err);
    nino_buf_release(&b);
    nino_buf_release(&pickle);
    return w;
}

static int count_of(const view *v)
{
    int n = 1;
    for (int i = 0; i < v->rank; i++)
        n *= v->dim[i];
    return n;
}

// The place in the storage of element i.
static int place(const view *v, int i)
{
    int at = v->offset;
    for (int k = v->rank - 1; k >= 0; k--) {
        at += i % v->dim[k] * v->stride[k];
        i /= v->dim[k];
    }
    return at;
}

// The table: strides of a tensor whose elements lie one behind the other are those of its shape.
static void check_info(const view *v, const nino_tensor_info *t, uint64_t data)
{
    const int n = count_of(v);
    bool is_dense = true;
    for (int i = 0; i < n; i++)
        is_dense &= place(v, i) == v->offset + i;
    CHECK(t->dtype == NINO_F32 && t->rank == v->rank && t->bytes == 4 * (uint64_t) n);
    CHECK(t->is_strided == !is_dense);
    CHECK(t->offset == data + (n ? 4 * (uint64_t) v->offset : 0));
    int64_t dense = 1;
    for (int i = v->rank - 1; i >= 0; i--) {
        CHECK(t->dim[i] == v->dim[i]);
        CHECK(t->stride[i] == (is_dense ? dense : v->stride[i]));
        dense *= v->dim[i];
    }
}

static void check_values(const view *v, const nino_weights *w, const nino_tensor_info *t)
{
    const int n = count_of(v);
    float got[27];
    CHECK_OK(nino_weights_read(w, t, got, &err), err);
    for (int i = 0; i < n; i++)
        CHECK(got[i] == stored[place(v, i)]);
    nino_array *a = nino_weights_read_f32(w, t, &err);
    CHECK_OK(a ? NINO_OK : err.code, err);
    CHECK(!n || !memcmp(a->data, got, (size_t) n * 4));
    nino_array_unref(&a);
    const int row = n && v->rank > 1 ? n / v->dim[0] : 0;
    for (int r = 0; row && r < v->dim[0]; r++) {
        float one[27];
        CHECK_OK(nino_weights_read_rows_f32(w, t, r, 1, one, &err), err);
        CHECK(!memcmp(one, got + r * row, (size_t) row * 4));
    }
}

static void check_view(const view *v)
{
    static const uint64_t head = 30 + 8 + 3; // of an entry, with its name and its padding
    const int n = count_of(v), last = n ? place(v, n - 1) : 0;
    nino_weights *w = open_view(v);
    if (n > STORED || last >= STORED) {
        CHECK(!w && err.code == NINO_ERR_FORMAT);
        CHECK_STR(err.kind, "range");
        CHECK_STR(err.msg, n > STORED ? "a tensor has more elements than its storage"
                                      : "a tensor's last element lies outside its storage");
        n_refused++;
        return;
    }
    CHECK_OK(w ? NINO_OK : err.code, err);
    const nino_tensor_info *t = nino_weights_find(w, "w");
    CHECK(t && nino_weights_count(w) == 1);
    nino_buf pickle = pickle_of(v);
    check_info(v, t, 30 + 10 + 3 + pickle.len + head);
    nino_buf_release(&pickle);
    check_values(v, w, t);
    nino_weights_unref(&w);
    n_read++;
}

// All views whose dimensions from `at` on are still open.
static void check_from(view *v, int at)
{
    if (at == v->rank) {
        for (v->offset = 0; v->offset <= STORED; v->offset += 3)
            check_view(v);
        return;
    }
    for (int d = 0; d <= 3; d++)
        for (int s = 0; s <= (v->rank == 3 ? 2 : 4); s++) {
            v->dim[at] = d;
            v->stride[at] = s;
            check_from(v, at + 1);
        }
}

// The folder's name and its slash, up to NINO_PTH_MAX_NAME.
static void check_folder(void)
{
    for (int more = 0; more < 2; more++) {
        const size_t n = NINO_PTH_MAX_NAME - 1 + (size_t) more;
        static char pkl[NINO_PTH_MAX_NAME + 32], data[NINO_PTH_MAX_NAME + 32];
        memset(pkl, 'd', n);
        memset(data, 'd', n);
        memcpy(pkl + n, "/data.pkl", sizeof("/data.pkl"));
        memcpy(data + n, "/data/0", sizeof("/data/0"));
        static const char pickle[] = "\x80\x02}" KEY("w") TENSOR "s.";
        const part parts[] = { { .name = pkl, .data = pickle, .len = sizeof(pickle) - 1 },
                               { .name = data, .data = stored, .len = sizeof(stored) } };
        nino_buf b = pth_zip_of(parts, 2, false, 0);
        nino_weights *w = pth_open_bytes(b.data, b.len, &err);
        CHECK((w == NULL) == more);
        if (more)
            CHECK_STR(err.msg, "a zip archive, but not of PyTorch: no data.pkl in it");
        nino_weights_unref(&w);
        nino_buf_release(&b);
    }
}

int main(void)
{
    view v = { 0 };
    for (v.rank = 0; v.rank <= 3; v.rank++)
        check_from(&v, 0);
    CHECK(n_read > 1500 && n_refused > 1000);
    check_folder();
    return 0;
}
