// PyTorch archives built here byte by byte: a good one reads, and every kind of attack on a pickle
// or a zip reader is refused.
#include "tests/unit/file/pth_file.h"

static const pth_pickle pickles[] = {
    PICKLE("a dict", "ok", "\x80\x02}" KEY("w") TENSOR "s."),
    PICKLE("an OrderedDict with attributes", "ok", "\x80\x02" DICT "(" KEY("w") TENSOR "u}b."),
    PICKLE("a bare tensor", "ok", "\x80\x02" TENSOR "."),
    PICKLE(
        "memo and numbers", "ok",
        "\x80\x02}q\0(" KEY("a") "q\1K\1" KEY("b") "M\1\2" KEY("c") "J\xff\xff\xff\xff" KEY("d") "\x8a\2\1\2" KEY("e") "G\0\0\0\0\0\0\0\0" KEY(
            "f") "N" KEY("g") "h\1" KEY("h") "](K\1K\2e" KEY("i") "]K\1a" KEY("j") "\x88" KEY("k") "K"
                                                                                                   "\1K\2K\3\x87u."),
    PICKLE("an empty dict", "ok", "\x80\x02}."),
    PICKLE("shape with a dimension of one and any stride", "ok",
           "\x80\x02" TENSOR_OF("K\0", "K\6K\1\x86",
                                "K\1\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x86") "."),
    PICKLE("an empty tensor", "ok", "\x80\x02" TENSOR_OF("K\6", "K\0K\2\x86", "K\2K\1\x86") "."),
    PICKLE("another function",
           "unknown: the pickle wants to run os.system, which is never done; convert the file to "
           "safetensors",
           "\x80\x02"
           "cos\nsystem\nX\2\0\0\0id\x85R."),
    PICKLE("a name that only begins like a known one",
           "unknown: the pickle wants to run torch.FloatStorageX, which is never done; convert the "
           "file to safetensors",
           "\x80\x02"
           "ctorch\nFloatStorageX\n."),
    PICKLE("a module that only ends like a known one",
           "unknown: the pickle wants to run xtorch.FloatStorage, which is never done; convert the "
           "file to safetensors",
           "\x80\x02"
           "cxtorch\nFloatStorage\n."),
    PICKLE("STACK_GLOBAL", "unknown: the pickle has instruction 0x93, which no state dict needs",
           "\x80\x02X\2\0\0\0osX\6\0\0\0system\x93."),
    PICKLE("INST", "unknown: the pickle has instruction 0x69, which no state dict needs",
           "\x80\x02(ios\nsystem\n."),
    PICKLE("OBJ", "unknown: the pickle has instruction 0x6f, which no state dict needs",
           "\x80\x02(ctorch\nFloatStorage\no."),
    PICKLE("NEWOBJ", "unknown: the pickle has instruction 0x81, which no state dict needs",
           "\x80\x02"
           "ctorch\nFloatStorage\n)\x81."),
    PICKLE("EXT1", "unknown: the pickle has instruction 0x82, which no state dict needs",
           "\x80\x02\x82\1."),
    PICKLE("EXT4", "unknown: the pickle has instruction 0x84, which no state dict needs",
           "\x80\x02\x84\1\0\0\0."),
    PICKLE("PERSID as text", "unknown: the pickle has instruction 0x50, which no state dict needs",
           "\x80\x02Pstorage\n."),
    PICKLE("FRAME past the end",
           "unknown: the pickle has instruction 0x95, which no state dict needs",
           "\x80\x02\x95\xff\xff\xff\xff\0\0\0\0."),
    PICKLE("BINUNICODE8 of 2^63",
           "unknown: the pickle has instruction 0x8d, which no state dict needs",
           "\x80\x02\x8d\0\0\0\0\0\0\0\x80."),
    PICKLE("PUT as text", "unknown: the pickle has instruction 0x70, which no state dict needs",
           "\x80\x02Np4294967296\n."),
    PICKLE("protocol 4", "version: pickle protocol 4 is not read", "\x80\x04}."),
    PICKLE("REDUCE of a dict", "schema: the pickle calls something that cannot be called",
           "\x80\x02})R."),
    PICKLE("REDUCE without a tuple", "schema: the pickle calls with something that is not a tuple",
           "\x80\x02"
           "ccollections\nOrderedDict\nNR."),
    PICKLE("BUILD of a tuple", "schema: the pickle sets attributes of something that is not a dict",
           "\x80\x02)}b."),
    PICKLE("SETITEM on a tuple", "schema: the pickle stores into something that is not a dict",
           "\x80\x02)K\1K\1s."),
    PICKLE("APPEND to a dict", "schema: the pickle appends to something that is not a list",
           "\x80\x02}K\1a."),
    PICKLE("a storage that is no tuple", "schema: a reference to a storage has an unknown form",
           "\x80\x02NQ."),
    PICKLE("a storage of another kind", "schema: a reference to a storage has an unknown form",
           "\x80\x02(X\1\0\0\0xctorch\nFloatStorage\n" KEY("0") KEY("c") "K\6tQ."),
    PICKLE("GET before PUT", "syntax: the pickle recalls a value that it never kept",
           "\x80\x02h\5."),
    PICKLE("LONG_GET far away", "syntax: the pickle recalls a value that it never kept",
           "\x80\x02j\xff\xff\xff\xff."),
    PICKLE("LONG_PUT far away", "limit: the pickle remembers more than 1048576 values",
           "\x80\x02Nr\xff\xff\xff\xff."),
    PICKLE("LONG1 of 255 bytes", "overflow: the pickle holds an integer of 255 bytes",
           "\x80\x02\x8a\xff."),
    PICKLE("no STOP", "truncated: the pickle has no end", "\x80\x02}"),
    PICKLE("two STOPs", "syntax: 1 bytes follow the pickle", "\x80\x02}.."),
    PICKLE("two values", "syntax: the pickle leaves 2 values", "\x80\x02}}."),
    PICKLE("an open group", "syntax: the pickle leaves 1 values", "\x80\x02}(."),
    PICKLE("no mark", "syntax: the pickle closes a group that it never opened", "\x80\x02}t."),
    PICKLE("an empty stack", "syntax: the pickle takes more from its stack than there is",
           "\x80\x02\x85."),
    PICKLE("taking from below a mark", "syntax: the pickle takes more from its stack than there is",
           "\x80\x02NN(\x86."),
    PICKLE("PUT of nothing", "syntax: the pickle takes more from its stack than there is",
           "\x80\x02q\0."),
    PICKLE("an odd number of items", "schema: the pickle stores into something that is not a dict",
           "\x80\x02}(K\1u."),
    PICKLE("a string past the end", "truncated: the pickle ends inside a string",
           "\x80\x02X\xff\xff\xff\x7f."),
    PICKLE("a name without end", "truncated: the pickle ends inside a name",
           "\x80\x02"
           "ccollections"),
    PICKLE("nothing but a number", "schema: the file holds no tensors", "\x80\x02K\1."),
    PICKLE("a tensor named by a number", "schema: a tensor's name is not a string",
           "\x80\x02}K\1" TENSOR "s."),
    PICKLE("a tensor without name", "name: a tensor's name has 0 bytes",
           "\x80\x02}X\0\0\0\0" TENSOR "s."),
    PICKLE("a tensor with a zero in its name", "name: a tensor's name contains control characters",
           "\x80\x02}X\3\0\0\0a\0b" TENSOR "s."),
    PICKLE("two tensors of one name", "dup: two tensors are called 'w'",
           "\x80\x02}" KEY("w") TENSOR "s" KEY("w") TENSOR "s."),
    PICKLE("a negative stride", "range: a tensor has a negative dimension or stride",
           "\x80\x02" TENSOR_OF("K\5", "K\2\x85", "J\xff\xff\xff\xff\x85") "."),
    PICKLE("a negative dimension", "range: a tensor has a negative dimension or stride",
           "\x80\x02" TENSOR_OF("K\0", "J\xff\xff\xff\xff\x85", "K\1\x85") "."),
    PICKLE("an offset past the end", "range: a tensor's last element lies outside its storage",
           "\x80\x02" TENSOR_OF("K\6", "K\1\x85", "K\1\x85") "."),
    PICKLE("a negative offset", "range: a tensor starts before its storage",
           "\x80\x02" TENSOR_OF("J\xff\xff\xff\xff", "K\1\x85", "K\1\x85") "."),
    PICKLE("a last element past the end", "range: a tensor's last element lies outside its storage",
           "\x80\x02" TENSOR_OF("K\1", "K\2K\3\x86", "K\3K\1\x86") "."),
    PICKLE("more elements than the storage", "range: a tensor has more elements than its storage",
           "\x80\x02" TENSOR_OF("K\0", "K\7\x85", "K\0\x85") "."),
    PICKLE("shape and strides of unlike length",
           "schema: a tensor's shape and strides differ in length",
           "\x80\x02" TENSOR_OF("K\0", "K\2\x85", "K\3K\1\x86") "."),
    PICKLE("a shape of words", "schema: a tensor's shape is not made of integers",
           "\x80\x02" TENSOR_OF("K\0", KEY("2") "\x85", "K\1\x85") "."),
    PICKLE("nine dimensions", "limit: a tensor has 9 dimensions",
           "\x80\x02" TENSOR_OF("K\0", "(K\1K\1K\1K\1K\1K\1K\1K\1K\1t",
                                "(K\1K\1K\1K\1K\1K\1K\1K\1K\1t") "."),
    PICKLE("a product beyond 64 bits", "overflow: the number of elements exceeds 64 bits",
           "\x80\x02" TENSOR_OF("K\0", "\x8a\5\0\0\0\0\1\x8a\5\0\0\0\0\1\x86", "K\0K\0\x86") "."),
    PICKLE("a stride beyond 64 bits", "overflow: a stride exceeds 64 bits",
           "\x80\x02" TENSOR_OF("K\0", "K\4K\1\x86",
                                "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7fK\1\x86") "."),
    PICKLE("a storage of 2^62 elements", "overflow: a storage of 4611686018427387904 elements",
           "\x80\x02" REBUILD "((X\7\0\0\0storagectorch\nFloatStorage\n" KEY("0")
               KEY("c") "\x8a\x08\0\0\0\0\0\0\0\x40tQK\0K\6\x85K\1\x85\x89" DICT "tR."),
    PICKLE("a name that is not UTF-8", "name: a tensor's name is not UTF-8",
           "\x80\x02}" KEY("\xff") TENSOR "s."),
    PICKLE("an instruction that is cut", "truncated: the pickle ends inside an instruction",
           "\x80\x02}M\1"),
    PICKLE("a storage that is not there", "schema: the storage of 'tensor' is missing",
           "\x80\x02" REBUILD "((X\7\0\0\0storagectorch\nFloatStorage\n" KEY("9")
               KEY("c") "K\6tQK\0K\6\x85K\1"
                        "\x85\x89" DICT "tR."),
    PICKLE("a storage longer than its entry", "range: the storage of 'tensor' is too short",
           "\x80\x02" REBUILD "((X\7\0\0\0storagectorch\nFloatStorage\n" KEY("0")
               KEY("c") "K\7tQK\0K\6\x85K\1"
                        "\x85\x89" DICT "tR."),
};

static void check_pickles(void)
{
    for (size_t i = 0; i < sizeof(pickles) / sizeof(pickles[0]); i++) {
        nino_buf b = pth_archive(pickles[i].p, pickles[i].len);
        pth_expect(&b, pickles[i].what, pickles[i].kind);
    }
    nino_buf deep = { 0 };
    nino_buf_add(&deep, "\x80\x02", 2);
    for (int i = 0; i < 20000; i++)
        nino_buf_addc(&deep, 'N');
    nino_buf b = pth_archive(deep.data, deep.len);
    pth_expect(&b, "a stack of 20000 values",
               "limit: the pickle needs a stack of more than 10000 values");
    nino_buf_clear(&deep);
    nino_buf_add(&deep, "\x80\x02", 2);
    for (int i = 0; i < 20000; i++)
        nino_buf_addc(&deep, '(');
    b = pth_archive(deep.data, deep.len);
    pth_expect(&b, "20000 open groups", "limit: the pickle opens more than 10000 groups");
    nino_buf_release(&deep);
}

// What textual inversion saves: the tensor one level down, beside numbers and names.
static void check_inner(void)
{
    static const char pickle[] =
        "\x80\x02}(X\x0f\0\0\0string_to_token}" KEY("*") "M\x09\1sX\x0f\0\0\0string_to_param}" KEY(
            "*") TENSOR "sX\4\0\0\0name" KEY("x") "X\4\0\0\0stepK\1X\4\0\0\0ckptNu.";
    nino_buf b = pth_archive(pickle, sizeof(pickle) - 1);
    nino_error err = { 0 };
    nino_weights *w = pth_open_bytes(b.data, b.len, &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    CHECK(nino_weights_count(w) == 1);
    const nino_tensor_info *t = nino_weights_find(w, "string_to_param.*");
    CHECK(t && t->rank == 2 && t->dim[0] == 2 && t->dim[1] == 3);
    nino_weights_unref(&w);
    nino_buf_release(&b);
}

static void check_values(void)
{
    static const char pickle[] = "\x80\x02}X\x0a\0\0\0state_dict}(" KEY("w") TENSOR KEY("t")
        TRANSPOSED KEY("n") "K\5us" KEY("e") "K\1s.";
    nino_buf b = pth_archive(pickle, sizeof(pickle) - 1);
    nino_error err = { 0 };
    nino_weights *w = pth_open_bytes(b.data, b.len, &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    CHECK_STR(nino_weights_format(w), "pth");
    CHECK(nino_weights_count(w) == 2 && nino_weights_meta_count(w) == 0);
    const nino_tensor_info *t = nino_weights_find(w, "w");
    CHECK(t && t->dtype == NINO_F32 && t->rank == 2 && t->dim[1] == 3 && !t->is_strided);
    nino_array *a = nino_weights_read_f32(w, t, &err);
    CHECK(a && !memcmp(a->data, storage, sizeof(storage)));
    nino_array_unref(&a);
    t = nino_weights_find(w, "t");
    CHECK(t && t->is_strided && t->bytes == 16);
    const float want[] = { 1, 4, 2, 5 };
    float raw[4];
    CHECK_OK(nino_weights_read(w, t, raw, &err), err);
    CHECK(!memcmp(raw, want, sizeof(want)));
    CHECK_OK(nino_weights_read_rows_f32(w, t, 1, 1, raw, &err), err);
    CHECK(!memcmp(raw, want + 2, 8));
    a = nino_weights_read_f32(w, t, &err);
    CHECK(a && !memcmp(a->data, want, sizeof(want)));
    nino_array_unref(&a);
    nino_weights_unref(&w);
    for (size_t n = 0; n < b.len; n++) // cut anywhere, never accepted
        CHECK(!pth_open_bytes(b.data, n, &err));
    nino_buf_release(&b);

    static const char nested[] = "\x80\x02}X\5\0\0\0model}" KEY("w") TENSOR "ss.";
    b = pth_archive(nested, sizeof(nested) - 1);
    w = pth_open_bytes(b.data, b.len, &err);
    CHECK(w && nino_weights_find(w, "w"));
    nino_weights_unref(&w);
    nino_buf_release(&b);
}

static void check_zip(void)
{
    static const char good[] = "\x80\x02}" KEY("w") TENSOR "s.";
    const part model = { .name = "m/data.pkl", .data = good, .len = sizeof(good) - 1 };
    const part data = { .name = "m/data/0", .data = storage, .len = sizeof(storage) };
    part two[] = { model, data }, three[] = { model, data, data };
    nino_buf b = pth_zip_of(two, 2, false, 0);
    pth_expect(&b, "two entries", "ok");
    b = pth_zip_of(two, 2, true, 0);
    pth_expect(&b, "zip64 records", "ok");
    b = pth_zip_of(two, 2, true, 1);
    pth_expect(&b, "zip64 sizes that disagree",
               "range: the zip64 record disagrees with the archive's end");
    b = pth_zip_of(three, 3, false, 0);
    pth_expect(&b, "an entry twice", "dup: the archive holds 'm/data/0' twice");
    three[2] = model;
    three[2].name = "other/data.pkl";
    b = pth_zip_of(three, 3, false, 0);
    pth_expect(&b, "two models", "dup: the archive holds two models");
    b = pth_zip_of(&data, 1, false, 0);
    pth_expect(&b, "no model", "schema: a zip archive, but not of PyTorch: no data.pkl in it");
    two[1].method = 8;
    b = pth_zip_of(two, 2, false, 0);
    pth_expect(&b, "a deflated entry",
               "schema: 'm/data/0' is compressed or encrypted; only stored entries are read");
    two[1] = data;
    two[1].flags = 1;
    b = pth_zip_of(two, 2, false, 0);
    pth_expect(&b, "an encrypted entry",
               "schema: 'm/data/0' is compressed or encrypted; only stored entries are read");
    two[1] = data;
    two[1].local_lie = 4;
    b = pth_zip_of(two, 2, false, 0);
    pth_expect(&b, "a local header that disagrees",
               "range: an entry and the archive's directory disagree");
    two[1].local_lie = two[1].directory_lie = 0x1000000;
    b = pth_zip_of(two, 2, false, 0);
    pth_expect(&b, "an entry longer than the file", "truncated: an entry ends outside the file");
    two[1] = data;
    two[1].local_name = "m/data/1";
    b = pth_zip_of(two, 2, false, 0);
    pth_expect(&b, "a local name that disagrees",
               "range: an entry and the archive's directory disagree");
    two[1] = data;
    two[1].is_wide = true;
    b = pth_zip_of(two, 2, false, 0);
    pth_expect(&b, "sizes in a zip64 field", "ok");
    two[1].wide_cut = 8;
    b = pth_zip_of(two, 2, false, 0);
    pth_expect(&b, "a zip64 field without position", "range: a zip64 field is too short");
    two[1] = (part){ .name = "m/byteorder", .data = "big", .len = 3 };
    b = pth_zip_of(two, 2, false, 0);
    pth_expect(&b, "big-endian", "version: the numbers are not little-endian");
    two[1].data = "elttil";
    two[1].len = 6;
    b = pth_zip_of(two, 2, false, 0);
    pth_expect(&b, "an unknown byte order", "version: the numbers are not little-endian");
    two[1] = data;
    b = pth_zip_of(two, 2, false, 0);
    nino_buf_addc(&b, 0);
    pth_expect(&b, "a byte behind the archive",
               "truncated: the archive has no directory; the file is incomplete");
    b = pth_zip_of(two, 2, false, 0);
    for (size_t bit = 0; bit < 8 * b.len; bit++) { // any one bit changed: an answer, no harm
        b.data[bit / 8] ^= (char) (1 << bit % 8);
        nino_weights *w = pth_open_bytes(b.data, b.len, NULL);
        nino_weights_unref(&w);
        b.data[bit / 8] ^= (char) (1 << bit % 8);
    }
    nino_buf_release(&b);
}

// Upstream's .pth of TAEF2 holds the same numbers as its safetensors file.
static void check_assets(const char *assets)
{
    char path[512];
    nino_error err = { 0 };
    snprintf(path, sizeof(path), "%s/models/vae_approx/taef2_decoder.pth", assets);
    nino_weights *p = nino_weights_open(path, &err);
    CHECK_OK(p ? NINO_OK : err.code, err);
    snprintf(path, sizeof(path), "%s/models/vae_approx/taef2_decoder.safetensors", assets);
    nino_weights *s = nino_weights_open(path, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    CHECK(nino_weights_count(p) == nino_weights_count(s) && nino_weights_count(p) > 50);
    for (int i = 0; i < nino_weights_count(p); i++) {
        const nino_tensor_info *a = nino_weights_at(p, i), *b = nino_weights_find(s, a->name);
        CHECK(b && a->rank == b->rank && !memcmp(a->dim, b->dim, sizeof(a->dim)));
        nino_array *x = nino_weights_read_f32(p, a, &err), *y = nino_weights_read_f32(s, b, &err);
        CHECK(x && y && x->bytes && !memcmp(x->data, y->data, x->bytes));
        nino_array_unref(&x);
        nino_array_unref(&y);
    }
    nino_weights_unref(&p);
    nino_weights_unref(&s);
}

// Names under which training programs keep the tensors; the first one counts, and only where the
// dict has no tensors itself.
static void check_wrapped(void)
{
    static const struct {
        const char *what, *p;
        size_t len;
        const char *has, *lacks;
    } cases[] = {
#define W(what, has, lacks, bytes) { what, bytes, sizeof(bytes) - 1, has, lacks }
#define PARAMS "X\6\0\0\0params"
#define EMA "X\x0a\0\0\0params_ema"
        W("params_ema before params", "e", "p",
          "\x80\x02}(" PARAMS "}" KEY("p") TENSOR "s" EMA "}" KEY("e") TENSOR "su."),
        W("params beside a number", "p", "step",
          "\x80\x02}(X\4\0\0\0stepK\1" PARAMS "}" KEY("p") TENSOR "su."),
        W("within state_dict", "p", "x",
          "\x80\x02}(X\x0a\0\0\0state_dict}(" PARAMS "}" KEY("p") TENSOR "su" KEY("x") "K\1u."),
        W("tensors of its own", "t", "p",
          "\x80\x02}(" KEY("t") TENSOR PARAMS "}" KEY("p") TENSOR "su."),
        W("one dict in another", "w", "p",
          "\x80\x02}" KEY("a") "}" KEY("b") "}" KEY("w") TENSOR "sss."),
#undef W
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nino_error err = { 0 };
        nino_buf b = pth_archive(cases[i].p, cases[i].len);
        nino_weights *w = pth_open_bytes(b.data, b.len, &err);
        CHECK_OK(w ? NINO_OK : err.code, err);
        if (!nino_weights_find(w, cases[i].has) || nino_weights_find(w, cases[i].lacks)) {
            fprintf(stderr, "%s\n", cases[i].what);
            exit(1);
        }
        nino_weights_unref(&w);
        nino_buf_release(&b);
    }
}

static void check_old(void)
{
    static const struct {
        const char *what, *kind;
        old_file f;
    } bad[] = {
        { "another version", "version: a PyTorch file of another version than 1001",
          OLD("10", 2, 6, .version = "K\1.") },
        { "a version that is a word", "version: a PyTorch file of another version than 1001",
          OLD("10", 2, 6, .version = "N.") },
        { "a storage longer than it says",
          "range: storage 1 has another length than its pickle says", OLD("10", 1, 6, .cut = 0) },
        { "a storage of 2^63 elements", "range: storage 2 has another length than its pickle says",
          OLD("10", 2, 1ull << 63, .cut = 0) },
        { "a file that lacks a byte", "truncated: the file ends inside its storage 2 of 2",
          OLD("10", 2, 6, .cut = 1) },
        { "a file that lacks a storage", "truncated: the file ends before its storage 2 of 2",
          OLD("10", 2, 6, .cut = 8 + sizeof(storage)) },
        { "a storage without a tensor", "schema: the list of storages names one that no tensor has",
          OLD("12", 2, 6, .cut = 0) },
        { "a tensor without a storage", "schema: the storage of 'w' is missing",
          OLD("1", 2, 6, .cut = 0) },
        { "a storage twice", "range: storage 2 has another length than its pickle says",
          OLD("110", 2, 6, .cut = 0) },
        { "a function",
          "unknown: the pickle wants to run os.system, which is never done; convert the file to "
          "safetensors",
          { .object = "cos\nsystem\n)R.", .n_object = 14, .keys = "" } },
        { "an unknown instruction",
          "unknown: the pickle has instruction 0x93, which no state dict needs",
          { .object = "\x93.", .n_object = 2, .keys = "" } },
        { "a number",
          "schema: the file holds no tensors",
          { .object = "K\1.", .n_object = 3, .keys = "" } },
    };
    const old_file good = OLD("10", 2, 6, .cut = 0),
                   big_endian = OLD("10", 2, 6, .info = "}X\x0d\0\0\0little_endian\x89s.");
    nino_buf b = pth_old_bytes(&good);
    nino_error err = { 0 };
    nino_weights *w = pth_open_bytes(b.data, b.len, &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    CHECK_STR(nino_weights_format(w), "pth");
    CHECK(nino_weights_count(w) == 3);
    const struct {
        const char *name;
        int n;
        float first;
    } want[] = { { "w", 6, 0 }, { "v", 1, 1 }, { "x", 3, 3 } };
    for (int i = 0; i < 3; i++) {
        nino_array *a = nino_weights_read_f32(w, nino_weights_find(w, want[i].name), &err);
        CHECK(a && nino_shape_count(&a->shape) == want[i].n);
        for (int k = 0; k < want[i].n; k++)
            CHECK(nino_array_f32(a)[k] == want[i].first + (float) k);
        nino_array_unref(&a);
    }
    nino_weights_unref(&w);
    for (size_t n = 0; n < b.len; n++) // cut anywhere, never accepted
        CHECK(!pth_open_bytes(b.data, n, &err));
    nino_buf_release(&b);
    b = pth_old_bytes(&big_endian);
    pth_expect(&b, "big-endian numbers", "version: the numbers are not little-endian");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        b = pth_old_bytes(&bad[i].f);
        pth_expect(&b, bad[i].what, bad[i].kind);
    }
}

int main(void)
{
    check_pickles();
    check_inner();
    check_wrapped();
    check_values();
    check_old();
    check_zip();
    if (test_assets())
        check_assets(test_assets());
    else
        test_skip_part("files that torch wrote");
    return 0;
}
