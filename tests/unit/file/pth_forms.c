// What pickles of PyTorch files may hold: every class of storage, numbers of every length, the dicts
// that tensors are wrapped in, and the limits of the machine; of each refusal, what is told.
#include "tests/unit/file/pth_file.h"

static nino_error err;

static nino_weights *open_pickle(const nino_buf *pickle)
{
    nino_buf b = pth_archive(pickle->data, pickle->len);
    err = (nino_error){ 0 };
    nino_weights *w = pth_open_bytes(b.data, b.len, &err);
    nino_buf_release(&b);
    return w;
}

static void add_key(nino_buf *b, const char *s)
{
    nino_buf_addc(b, 'X');
    pth_le(b, strlen(s), 4);
    nino_buf_adds(b, s);
}

// Every class of storage is of the type that PyTorch means; a storage of 24 bytes has as many.
static void check_classes(void)
{
    static const struct {
        const char *name;
        nino_dtype dtype;
        int size;
    } rows[] = {
        { "Float", NINO_F32, 4 },  { "Half", NINO_F16, 2 }, { "BFloat16", NINO_BF16, 2 },
        { "Double", NINO_F64, 8 }, { "Long", NINO_I64, 8 }, { "Int", NINO_I32, 4 },
        { "Short", NINO_I16, 2 },  { "Char", NINO_I8, 1 },  { "Byte", NINO_U8, 1 },
        { "Bool", NINO_BOOL8, 1 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        nino_buf p = { 0 };
        char values[sizeof(storage)];
        const char n = (char) ((int) sizeof(storage) / rows[i].size);
        nino_buf_add(&p, "\x80\x02}" KEY("w") REBUILD "((X\7\0\0\0storagectorch\n",
                     sizeof("\x80\x02}" KEY("w") REBUILD "((X\7\0\0\0storagectorch\n") - 1);
        nino_buf_addf(&p, "%sStorage\n", rows[i].name);
        nino_buf_add(&p, KEY("0") KEY("c") "K", 13);
        nino_buf_addc(&p, n);
        nino_buf_add(&p, "tQK\0K", 5);
        nino_buf_addc(&p, n);
        nino_buf_adds(&p, "\x85K\1\x85\x89" DICT "tRs.");
        nino_weights *w = open_pickle(&p);
        CHECK_OK(w ? NINO_OK : err.code, err);
        const nino_tensor_info *t = nino_weights_find(w, "w");
        CHECK(t && t->dtype == rows[i].dtype && t->rank == 1 && t->dim[0] == n);
        CHECK(t->bytes == sizeof(storage) && !t->is_strided);
        CHECK_OK(nino_weights_read(w, t, values, &err), err);
        CHECK(!memcmp(values, storage, sizeof(storage)));
        nino_weights_unref(&w);
        nino_buf_release(&p);
    }
}

// Where among the wrappers the tensors are: `has` is the name of the only one that is found.
static void check_wrappers(void)
{
    static const char *const rows[][3] = {
        // two dicts in a dict, beside a number: the one with the tensor "e" counts
        { "model_state_dict", "params_ema", "" },
        { "state_dict", "model_state_dict", "" },
        { "params_ema", "params-ema", "" },
        { "params-ema", "params", "" },
        { "params", "model", "" },
        { "model", "net", "" },
        { "net", "other", "" },
        { "model_state_dict", "state_dict", "state_dict" },
        { "state_dict", "params_ema", "state_dict" },
        { "params", "net", "anything" }, // the only value
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int turn = 0; turn < 2; turn++) { // which of them stands first makes no difference
            nino_buf p = { 0 };
            nino_buf_add(&p, "\x80\x02}(", 4);
            if (*rows[i][2]) {
                add_key(&p, rows[i][2]);
                nino_buf_adds(&p, "}(");
            }
            for (int k = 0; k < 2; k++) {
                const int which = k ^ turn;
                add_key(&p, rows[i][which]);
                nino_buf_addc(&p, '}');
                add_key(&p, which ? "l" : "e");
                nino_buf_add(&p, TENSOR "s", sizeof(TENSOR "s") - 1);
            }
            nino_buf_add(&p, KEY("n") "K\1u", 9);
            nino_buf_adds(&p, *rows[i][2] ? "u." : ".");
            nino_weights *w = open_pickle(&p);
            CHECK_OK(w ? NINO_OK : err.code, err);
            if (nino_weights_count(w) != 1 || strcmp(nino_weights_at(w, 0)->name, "e"))
                fprintf(stderr, "%s and %s in '%s'\n", rows[i][0], rows[i][1], rows[i][2]);
            CHECK(nino_weights_count(w) == 1);
            CHECK_STR(nino_weights_at(w, 0)->name, "e");
            nino_weights_unref(&w);
            nino_buf_release(&p);
        }
}

// Dicts whose tensors have the dict's name before theirs; others one level down are left out.
static void check_prefixes(void)
{
    static const char *const dicts[] = { "ip_adapter", "string_to_param", "image_proj", "other" };
    static const char *const names[] = { "w", "string_to_param.s", "image_proj.i", "ip_adapter.i" };
    nino_buf p = { 0 };
    nino_buf_add(&p, "\x80\x02}(", 4);
    for (int i = 0; i < 4; i++) {
        const char letter[2] = { dicts[i][0], 0 };
        add_key(&p, dicts[i]);
        nino_buf_adds(&p, "}(");
        add_key(&p, letter);
        nino_buf_add(&p, TENSOR, sizeof(TENSOR) - 1);
        nino_buf_add(&p, KEY("n") "K\1u", 9);
    }
    nino_buf_add(&p, KEY("w") TENSOR "u.", sizeof(KEY("w") TENSOR "u.") - 1);
    nino_weights *w = open_pickle(&p);
    CHECK_OK(w ? NINO_OK : err.code, err);
    CHECK(nino_weights_count(w) == 4);
    for (int i = 0; i < 4; i++) {
        const nino_tensor_info *t = nino_weights_find(w, names[i]);
        CHECK(t && t->rank == 2 && t->bytes == sizeof(storage));
    }
    nino_weights_unref(&w);
    nino_buf_release(&p);
}

// Integers of every length, as the offset of a tensor of one number: which of the storage's it is.
static void check_numbers(void)
{
    static const struct {
        const char *p;
        size_t len;
        int at; // < 0: refused
        const char *told;
    } rows[] = {
#define N(bytes, ...) { bytes, sizeof(bytes) - 1, __VA_ARGS__ }
#define OUTSIDE "a tensor's last element lies outside its storage"
#define BEFORE "a tensor starts before its storage"
        N("K\5", 5, ""),
        N("K\6", -1, OUTSIDE),
        N("K\xff", -1, OUTSIDE),
        N("M\4\0", 4, ""),
        N("M\0\1", -1, OUTSIDE),
        N("M\xff\xff", -1, OUTSIDE),
        N("J\3\0\0\0", 3, ""),
        N("J\0\0\0\1", -1, OUTSIDE),
        N("J\0\0\0\x80", -1, BEFORE),
        N("J\xff\xff\xff\xff", -1, BEFORE),
        N("\x8a\0", 0, ""),
        N("\x8a\1\2", 2, ""),
        N("\x8a\1\x7f", -1, OUTSIDE),
        N("\x8a\1\x80", -1, BEFORE),
        N("\x8a\2\x80\0", -1, OUTSIDE),
        N("\x8a\2\0\x80", -1, BEFORE),
        N("\x8a\3\1\0\0", 1, ""),
        N("\x8a\7\5\0\0\0\0\0\0", 5, ""),
        N("\x8a\7\xff\xff\xff\xff\xff\xff\xff", -1, BEFORE),
        N("\x8a\x08\5\0\0\0\0\0\0\0", 5, ""),
        N("\x8a\x08\5\0\0\0\0\0\0\x40", -1, OUTSIDE),
        N("\x8a\x08\0\0\0\0\0\0\0\x80", -1, BEFORE),
        N("\x8a\x09\0\0\0\0\0\0\0\0\0", -1, "the pickle holds an integer of 9 bytes"),
        N("\x8a\x08\0\0\0\0\0\0", -1, "a tensor has an unknown form"), // takes what follows
        N("\x88", -1, "a tensor has an unknown form"),
        N("N", -1, "a tensor has an unknown form"),
#undef N
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        static const char begin[] = "\x80\x02}" KEY("w") REBUILD "(" STORAGE,
                          rest[] = "K\1\x85K\1\x85\x89" DICT "tRs.";
        nino_buf p = { 0 };
        float x = -1;
        nino_buf_add(&p, begin, sizeof(begin) - 1);
        nino_buf_add(&p, rows[i].p, rows[i].len);
        nino_buf_add(&p, rest, sizeof(rest) - 1);
        nino_weights *w = open_pickle(&p);
        if (!w != (rows[i].at < 0) || (!w && strcmp(err.msg, rows[i].told)))
            fprintf(stderr, "row %zu: %s\n", i, err.msg);
        CHECK(!w == (rows[i].at < 0));
        if (w)
            CHECK_OK(nino_weights_read(w, nino_weights_find(w, "w"), &x, &err), err);
        else
            CHECK_STR(err.msg, rows[i].told);
        CHECK(!w || x == storage[rows[i].at]);
        nino_weights_unref(&w);
        nino_buf_release(&p);
    }
}

// The stack, its marks and what is remembered, at their limits and one further.
static void check_depth(void)
{
    enum { MOST = 10000 };
    for (int more = 0; more < 2; more++) {
        nino_buf p = { 0 };
        nino_buf_add(&p, "\x80\x02(", 3);
        for (int i = 0; i < MOST + more; i++)
            nino_buf_addc(&p, 'N');
        nino_buf_adds(&p, "t.");
        nino_buf b = pth_archive(p.data, p.len);
        pth_expect(&b, "a stack of 10000 values and one more",
                   more ? "limit: the pickle needs a stack of more than 10000 values"
                        : "schema: the file holds no tensors");
        nino_buf_clear(&p);
        nino_buf_add(&p, "\x80\x02", 2);
        for (int i = 0; i < MOST + more; i++)
            nino_buf_addc(&p, '(');
        nino_buf_adds(&p, ".");
        b = pth_archive(p.data, p.len);
        pth_expect(&b, "10000 groups and one more",
                   more ? "limit: the pickle opens more than 10000 groups"
                        : "syntax: the pickle leaves 0 values");
        nino_buf_release(&p);
    }
}

#define STORAGE_OF(count, more)                                                                    \
    "(X\7\0\0\0storagectorch\nFloatStorage\n" KEY("0") KEY("c") count more "tQ"
#define FORM "schema: a tensor has an unknown form"
#define STORAGE_FORM "schema: a reference to a storage has an unknown form"
#define NEVER "syntax: the pickle recalls a value that it never kept"
#define ENTRY(bytes) "\x80\x02}" KEY("w") bytes "s."

static const pth_pickle forms[] = {
    PICKLE("a tensor of five values", FORM, ENTRY(REBUILD "(" STORAGE "K\0K\6\x85K\1\x85\x89tR")),
    PICKLE("a tensor of seven", "ok",
           ENTRY(REBUILD "(" STORAGE "K\0K\6\x85K\1\x85\x89" DICT "}tR")),
    PICKLE("a tensor of eight", FORM,
           ENTRY(REBUILD "(" STORAGE "K\0K\6\x85K\1\x85\x89" DICT "}}tR")),
    PICKLE("a tensor of a number", FORM, ENTRY(REBUILD "(K\1K\0K\6\x85K\1\x85\x89" DICT "tR")),
    PICKLE("a shape that is a list", FORM, ENTRY(REBUILD "(" STORAGE "K\0]K\1\x85\x89" DICT "tR")),
    PICKLE("strides that are a list", FORM, ENTRY(REBUILD "(" STORAGE "K\0K\6\x85]\x89" DICT "tR")),
    PICKLE("strides of words", "schema: a tensor's shape is not made of integers",
           ENTRY(REBUILD "(" STORAGE "K\0K\6\x85" KEY("1") "\x85\x89" DICT "tR")),
    PICKLE("eight dimensions", "ok",
           ENTRY(REBUILD "(" STORAGE "K\0(K\1K\1K\1K\1K\1K\1K\1K\6t(K\0K\0K\0K\0K\0K\0K\0K\1t"
                         "\x89" DICT "tR")),
    PICKLE("a storage of four values", STORAGE_FORM,
           "\x80\x02(X\7\0\0\0storagectorch\nFloatStorage\n" KEY("0") KEY("c") "tQ."),
    PICKLE("a storage of six", "ok",
           ENTRY(REBUILD "(" STORAGE_OF("K\6", "N") "K\0K\6\x85K\1\x85\x89" DICT "tR")),
    PICKLE("a storage of seven", STORAGE_FORM, "\x80\x02" STORAGE_OF("K\6", "NN") "."),
    PICKLE("a storage of a word's length", STORAGE_FORM, "\x80\x02" STORAGE_OF(KEY("6"), "") "."),
    PICKLE("a storage with a number as its key", STORAGE_FORM,
           "\x80\x02(X\7\0\0\0storagectorch\nFloatStorage\nK\1" KEY("c") "K\6tQ."),
    PICKLE("a storage on no device", STORAGE_FORM,
           "\x80\x02(X\7\0\0\0storagectorch\nFloatStorage\n" KEY("0") "NK\6tQ."),
    PICKLE("a storage of another word", STORAGE_FORM,
           "\x80\x02(X\7\0\0\0storagfctorch\nFloatStorage\n" KEY("0") KEY("c") "K\6tQ."),
    PICKLE("a storage of no class", STORAGE_FORM,
           "\x80\x02(X\7\0\0\0storageN" KEY("0") KEY("c") "K\6tQ."),
    PICKLE("a reference that is no tuple", STORAGE_FORM, "\x80\x02}Q."),
    PICKLE("a tensor that is the storage", "schema: the file holds no tensors",
           "\x80\x02" STORAGE_OF("K\6", "") "."),
    PICKLE("a parameter of two values", "schema: a parameter has an unknown form",
           "\x80\x02"
           "ctorch._utils\n_rebuild_parameter\n(" TENSOR "\x89tR."),
    PICKLE("a call without a function",
           "syntax: the pickle takes more from its stack than there is", "\x80\x02)R."),
    PICKLE("attributes of nothing", "syntax: the pickle takes more from its stack than there is",
           "\x80\x02}b."),
    PICKLE("a reference to nothing", "syntax: the pickle takes more from its stack than there is",
           "\x80\x02Q."),
    PICKLE("a value for no dict", "syntax: the pickle takes more from its stack than there is",
           "\x80\x02" KEY("w") "K\1s."),
    PICKLE("a value for no list", "syntax: the pickle takes more from its stack than there is",
           "\x80\x02K\1a."),
    PICKLE("a group of values for no dict",
           "syntax: the pickle takes more from its stack than there is", "\x80\x02(K\1K\1u."),
    PICKLE("a dict of a group", "ok", "\x80\x02(" KEY("w") TENSOR "d."),
    PICKLE("a dict of a group above another value", "syntax: the pickle leaves 2 values",
           "\x80\x02N(" KEY("w") TENSOR "d."),
    PICKLE("a dict of half a pair", "schema: the pickle stores into something that is not a dict",
           "\x80\x02(" KEY("w") "d."),
    PICKLE("an empty dict of a group", "ok", "\x80\x02(d."),
    PICKLE("protocol 3", "ok", "\x80\x03}."),
    PICKLE("protocol 1", "version: pickle protocol 1 is not read", "\x80\x01}."),
    PICKLE("nothing kept", NEVER, "\x80\x02}h\0."),
    PICKLE("the last that is kept", "syntax: the pickle leaves 2 values", "\x80\x02}q\xffh\xff."),
    PICKLE("one that is not kept", NEVER, "\x80\x02}q\xffh\xfe."),
    PICKLE("one behind those for which there is room", NEVER, "\x80\x02}q\xffj\0\1\0\0."),
    PICKLE("one behind 256", "syntax: the pickle leaves 2 values", "\x80\x02}r\0\1\0\0j\0\1\0\0."),
    PICKLE("one before it", NEVER, "\x80\x02}r\0\1\0\0j\1\1\0\0."),
    PICKLE("kept before there was more room", "syntax: the pickle leaves 2 values",
           "\x80\x02}q\7r\0\2\0\0h\7."),
    PICKLE("as many as are kept", "syntax: the pickle leaves 2 values",
           "\x80\x02}r\xff\xff\x0f\0j\xff\xff\x0f\0."),
    PICKLE("one more", "limit: the pickle remembers more than 1048576 values",
           "\x80\x02}r\0\0\x10\0."),
    PICKLE("a number that is cut", "truncated: the pickle ends inside an instruction",
           "\x80\x02J\0\0\0"),
    PICKLE("a float that is cut", "truncated: the pickle ends inside an instruction",
           "\x80\x02G\0\0\0\0\0\0\0"),
    PICKLE("a long number that is cut", "truncated: the pickle ends inside an instruction",
           "\x80\x02\x8a\4\0\0\0"),
    PICKLE("a string without all of its length", "truncated: the pickle ends inside an instruction",
           "\x80\x02X\1\0\0"),
    PICKLE("a string that lacks a byte", "truncated: the pickle ends inside a string",
           "\x80\x02X\2\0\0\0a"),
    PICKLE("a string that is whole", "truncated: the pickle has no end", "\x80\x02X\2\0\0\0ab"),
    PICKLE("a module without a name", "truncated: the pickle ends inside a name",
           "\x80\x02"
           "ccollections\nOrderedDict"),
    PICKLE("no module",
           "unknown: the pickle wants to run ., which is never done; convert the file "
           "to safetensors",
           "\x80\x02"
           "c\n\n."),
};

static void check_forms(void)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        nino_buf b = pth_archive(forms[i].p, forms[i].len);
        pth_expect(&b, forms[i].what, forms[i].kind);
    }
    nino_buf p = { 0 }, told = { 0 }; // of long names sixty letters each are told
    nino_buf_adds(&p, "\x80\x02"
                      "c");
    nino_buf_adds(&told, "the pickle wants to run ");
    for (int word = 0; word < 2; word++) {
        for (int i = 0; i < 61; i++)
            nino_buf_addc(i < 60 ? &told : &p, word ? 'f' : 'm');
        for (int i = 0; i < 60; i++)
            nino_buf_addc(&p, word ? 'f' : 'm');
        nino_buf_addc(&p, '\n');
        nino_buf_adds(&told, word ? ", which is never done; convert the file to safetensors" : ".");
    }
    nino_buf_adds(&p, ".");
    nino_buf_addc(&told, 0);
    CHECK(!open_pickle(&p));
    CHECK_STR(err.msg, told.data);
    nino_buf_release(&p);
    nino_buf_release(&told);
}

int main(void)
{
    check_classes();
    check_wrappers();
    check_prefixes();
    check_numbers();
    check_depth();
    check_forms();
    return 0;
}
