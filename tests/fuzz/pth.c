// PyTorch archives: what is accepted can be read, and never needs more bytes than the file has. The
// first byte of an input says whether the rest is a pickle alone or a whole archive.
#include "core/file/pth_pickle.h"
#include "core/file/weights.h"
#include "tests/fuzz/tensors.h"
#include "tests/test.h"

#include <sys/mman.h>

const size_t fuzz_max_len = 2048;

const char *const fuzz_words[] = { "ccollections\nOrderedDict\n",
                                   "ctorch._utils\n_rebuild_tensor_v2\n",
                                   "ctorch._utils\n_rebuild_parameter\n",
                                   "ctorch\nHalfStorage\n",
                                   "cos\nsystem\n",
                                   "storage",
                                   "PK\1\2",
                                   "PK\3\4",
                                   "PK\5\6",
                                   "PK\6\6",
                                   "PK\6\7",
                                   "m/data.pkl",
                                   "m/data/0",
                                   "m/byteorder",
                                   "(",
                                   "t",
                                   "\x85",
                                   "\x86",
                                   "\x87",
                                   "R",
                                   "b",
                                   "Q",
                                   "u",
                                   "s",
                                   "}",
                                   "]",
                                   "e",
                                   "K\1",
                                   "K\2K\3\x86",
                                   "q\1",
                                   "h\1",
                                   "\x80\2",
                                   ".",
                                   NULL };

#define STORAGE                                                                                    \
    "(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"                                             \
    "0X\3\0\0\0cpuK\6tQ"
#define DICT "ccollections\nOrderedDict\n)R"
#define TENSOR(offset, shape, stride)                                                              \
    "ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE offset shape stride "\x89" DICT "tR"
#define NAME(c) "X\1\0\0\0" c

static const char plain[] = "\x80\2}" NAME("w") TENSOR("K\0", "K\2K\3\x86", "K\3K\1\x86") "s.";
static const char nested[] =
    "\x80\2}X\x0a\0\0\0state_dict" DICT "q\1(" NAME("a") TENSOR("K\1", "K\2K\2\x86", "K\1K\3\x86")
        NAME("b") "ctorch._utils\n_rebuild_parameter\n" TENSOR(
            "K\0", "K\6\x85", "K\1\x85") "\x88" DICT "\x87R" NAME("c") "M\1\2u}bs.";

// The two entries data.pkl and data/0 as torch.save lays them out.
static size_t put_archive(uint8_t *buf, const void *pickle, size_t len)
{
    const char *const names[] = { "m/data.pkl", "m/data/0" };
    const uint8_t zeros[24] = { 0 };
    const void *const data[] = { pickle, zeros };
    const size_t sizes[] = { len, sizeof(zeros) };
    size_t at = 0, start[3];
    for (int i = 0; i < 2; i++) {
        uint8_t head[30] = "PK\3\4";
        head[18] = head[22] = (uint8_t) sizes[i];
        head[19] = head[23] = (uint8_t) (sizes[i] >> 8);
        head[26] = (uint8_t) strlen(names[i]);
        start[i] = at;
        memcpy(buf + at, head, sizeof(head));
        memcpy(buf + at + 30, names[i], head[26]);
        memcpy(buf + at + 30 + head[26], data[i], sizes[i]);
        at += 30 + (size_t) head[26] + sizes[i];
    }
    start[2] = at;
    for (int i = 0; i < 2; i++) {
        uint8_t head[46] = "PK\1\2";
        head[20] = head[24] = (uint8_t) sizes[i];
        head[21] = head[25] = (uint8_t) (sizes[i] >> 8);
        head[28] = (uint8_t) strlen(names[i]);
        head[42] = (uint8_t) start[i];
        head[43] = (uint8_t) (start[i] >> 8);
        memcpy(buf + at, head, sizeof(head));
        memcpy(buf + at + 46, names[i], head[28]);
        at += 46 + (size_t) head[28];
    }
    uint8_t end[22] = "PK\5\6";
    end[8] = end[10] = 2;
    end[12] = (uint8_t) (at - start[2]);
    end[13] = (uint8_t) ((at - start[2]) >> 8);
    end[16] = (uint8_t) start[2];
    end[17] = (uint8_t) (start[2] >> 8);
    memcpy(buf + at, end, sizeof(end));
    return at + sizeof(end);
}

// A file older than PyTorch 1.6.
static size_t put_old(uint8_t *buf)
{
    static const char head[] = NINO_PTH_OLD_MAGIC "\x80\2M\xe9\3.\x80\2}.";
    static const char keys[] = "\x80\2]" NAME("0") "a.\6\0\0\0\0\0\0";
    size_t at = sizeof(head) - 1;
    memcpy(buf, head, at);
    memcpy(buf + at, plain, sizeof(plain) - 1);
    at += sizeof(plain) - 1;
    memcpy(buf + at, keys, sizeof(keys)); // with the last zero of the count
    memset(buf + at + sizeof(keys), 0, 24);
    return at + sizeof(keys) + 24;
}

size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap)
{
    if (i >= 5)
        return 0;
    if (i == 4) {
        CHECK(sizeof(plain) + 100 <= cap);
        buf[0] = 0;
        return 1 + put_old(buf + 1);
    }
    const char *pickle = i % 2 ? nested : plain;
    const size_t len = i % 2 ? sizeof(nested) - 1 : sizeof(plain) - 1;
    CHECK(len + 300 <= cap);
    buf[0] = i < 2;
    if (i >= 2)
        return 1 + put_archive(buf + 1, pickle, len);
    memcpy(buf + 1, pickle, len);
    return 1 + len;
}

static void tell_pickled(const nino_pickle_tensor *t)
{
    tell_bytes(t->name, t->name_len);
    tell_bytes(t->key, t->key_len);
    TELL(" %d %llu %llu", t->dtype, (unsigned long long) t->storage_count,
         (unsigned long long) t->offset);
    for (int i = 0; i < t->rank; i++)
        TELL(" %lld/%lld", (long long) t->dim[i], (long long) t->stride[i]);
    TELL("\n");
}

static void run_pickle(const uint8_t *p, size_t n)
{
    nino_arena *arena = nino_arena_create();
    nino_pickle_tensor *t;
    int count;
    nino_error err = { 0 };
    CHECK(arena);
    if (nino_pickle_read((const char *) p, n, "fuzz", arena, &t, &count, &err)) {
        CHECK(err.code && err.kind && err.msg[0]);
        tell_error(&err);
        count = 0;
    }
    for (int i = 0; i < count; i++) {
        CHECK(t[i].rank <= NINO_FILE_MAX_RANK && t[i].name_len <= n && t[i].key_len <= n);
        tell_pickled(&t[i]);
    }
    nino_arena_destroy(&arena);
}

static void run_archive(const uint8_t *p, size_t n)
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    nino_error err = { 0 };
    CHECK(fd >= 0 && write(fd, p, n) == (ssize_t) n);
    nino_weights *w = nino_weights_open_fd(fd, "fuzz", &err);
    CHECK(w || (err.code && err.kind && err.msg[0]));
    if (!w)
        tell_error(&err);
    for (int i = 0; w && i < nino_weights_count(w); i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        CHECK(t->bytes <= n && nino_weights_find(w, t->name) == t);
        void *data = malloc(t->bytes ? t->bytes : 1);
        CHECK(data);
        CHECK_OK(nino_weights_read(w, t, data, &err), err);
        tell_tensor(t);
        tell_bytes(data, t->bytes);
        free(data);
    }
    nino_weights_unref(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    if (n && p[0] & 1)
        run_pickle(p + 1, n - 1);
    else if (n)
        run_archive(p + 1, n - 1);
    return 0;
}
