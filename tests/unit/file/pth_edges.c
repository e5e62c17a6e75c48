// PyTorch files at their edges: zip64 records that lie, sizes that follow the data, long names, limits;
// views of storages and pickles of more than a mebibyte in files older than 1.6.
#include "tests/unit/file/pth_file.h"

static nino_error err;

enum { END = 22, LOCATOR = 20, RECORD = 56 }; // bytes of the three records of a zip64 archive's end

static const char model_pickle[] = "\x80\x02}" KEY("w") TENSOR "s.";
static const part model = { .name = "m/data.pkl",
                            .data = model_pickle,
                            .len = sizeof(model_pickle) - 1 };
static const part data = { .name = "m/data/0", .data = storage, .len = sizeof(storage) };

static void put_at(nino_buf *b, size_t from_end, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        b->data[b->len - from_end + (size_t) i] = (char) (v >> (8 * i));
}

static nino_buf zip64_of(int n)
{
    const part two[] = { model, data };
    return pth_zip_of(two, n, true, 0);
}

// ---- archives ----------------------------------------------------------------------------------

static void check_zip64(void)
{
    enum { RECORD_AT = END + LOCATOR + RECORD, LOCATOR_AT = END + LOCATOR }; // before the end
    nino_buf b = zip64_of(2);
    put_at(&b, LOCATOR_AT - 8, b.len, 8);
    pth_expect(&b, "a record behind the end", "range: the zip64 record lies outside the file");
    b = zip64_of(2);
    put_at(&b, LOCATOR_AT - 8, b.len - END - RECORD, 8);
    pth_expect(&b, "a record for which there is no room",
               "range: the zip64 record lies outside the file");
    b = zip64_of(2);
    put_at(&b, LOCATOR_AT - 8, 0, 8);
    pth_expect(&b, "no record where one is announced",
               "syntax: there is no zip64 record where one is announced");
    b = zip64_of(2);
    put_at(&b, RECORD_AT - 32, 3, 8);
    pth_expect(&b, "another number of entries",
               "range: the zip64 record disagrees with the archive's end");
    b = zip64_of(2);
    put_at(&b, RECORD_AT - 40, 1, 8);
    pth_expect(&b, "another length of the directory",
               "range: the zip64 record disagrees with the archive's end");
    b = zip64_of(2);
    put_at(&b, END - 10, 0xffff, 2);
    put_at(&b, END - 12, 0xffffffff, 4);
    pth_expect(&b, "all of it in the record", "ok");
    b = zip64_of(2);
    put_at(&b, END - 10, 0xffff, 2);
    put_at(&b, RECORD_AT - 32, 100001, 8);
    pth_expect(&b, "100001 entries", "limit: 100001 entries, at most 100000 are read");
    b = zip64_of(2);
    put_at(&b, END - 10, 1, 2);
    put_at(&b, RECORD_AT - 32, 1, 8);
    pth_expect(&b, "an entry that is not counted",
               "range: the archive's directory holds more than its entries");
    b = zip64_of(2);
    put_at(&b, END - 10, 3, 2);
    put_at(&b, RECORD_AT - 32, 3, 8);
    pth_expect(&b, "an entry that is not there", "syntax: the archive's directory is damaged");
}

// Sizes in the header before the data: where they follow it, or are in a zip64 field, they are not there.
static void check_local(void)
{
    static const struct {
        const char *what, *kind;
        int flags;
        uint32_t local, size; // lies
    } cases[] = {
        { "sizes that follow", "ok", 8, 0 - (uint32_t) sizeof(storage), 0 },
        { "sizes that follow, and are there", "ok", 8, 0, 0 },
        { "one that follows, and one that is another",
          "range: an entry and the archive's directory disagree", 8, 0 - (uint32_t) sizeof(storage),
          1 },
        { "zeros that nothing follows", "range: an entry and the archive's directory disagree", 0,
          0 - (uint32_t) sizeof(storage), 0 },
        { "sizes in a zip64 field", "ok", 0, UINT32_MAX - (uint32_t) sizeof(storage), 0 },
        { "one in a zip64 field, and one that is another",
          "range: an entry and the archive's directory disagree", 0,
          UINT32_MAX - (uint32_t) sizeof(storage), 2 },
        { "only the second is another", "range: an entry and the archive's directory disagree", 0,
          0, 4 },
        { "only the first is another", "range: an entry and the archive's directory disagree", 0, 4,
          0 - (uint32_t) 4 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        part two[] = { model, data };
        two[1].flags = cases[i].flags;
        two[1].local_lie = cases[i].local;
        two[1].size_lie = cases[i].size;
        nino_buf b = pth_zip_of(two, 2, false, 0);
        pth_expect(&b, cases[i].what, cases[i].kind);
    }
}

// Names of more than a hundred letters are cut in what is said about them.
static void check_names(void)
{
    char name[1400], root[1400];
    memset(name, 'n', sizeof(name));
    memset(root, 'r', sizeof(root));
    name[120] = 0;
    part three[] = { model, data, data };
    three[1].name = three[2].name = name;
    nino_buf b = pth_zip_of(three, 3, false, 0);
    pth_expect(&b, "an entry with a long name twice", "dup");
    three[1].method = 8;
    b = pth_zip_of(three, 2, false, 0);
    pth_expect(&b, "a deflated entry with a long name", "schema");
    three[1] = data;
    three[2].name = "m/n/data.pkl";
    b = pth_zip_of(three, 3, false, 0);
    pth_expect(&b, "a model in a folder of the model's", "ok");
    three[2].name = "/data.pkl";
    b = pth_zip_of(three, 3, false, 0);
    pth_expect(&b, "a model in no folder", "ok");
    memcpy(root + 1100, "/data.pkl", sizeof("/data.pkl"));
    three[0].name = root;
    b = pth_zip_of(three, 1, false, 0);
    pth_expect(&b, "a folder with a name of 1100 letters",
               "schema: a zip archive, but not of PyTorch: no data.pkl in it");
    three[0] = model;
    three[1] = (part){ .name = "m/byteorder", .data = "little", .len = 6, .local_lie = 1 };
    b = pth_zip_of(three, 2, false, 0);
    pth_expect(&b, "a byte order that disagrees with the directory",
               "range: an entry and the archive's directory disagree");
}

// A file with a hole: nothing of it is read.
static nino_weights *open_hole(const nino_buf *head, off_t hole, const nino_buf *tail)
{
    const int fd = memfd_create("hole.pth", MFD_CLOEXEC);
    CHECK(fd >= 0 && pwrite(fd, head->data, head->len, 0) == (ssize_t) head->len &&
          pwrite(fd, tail->data, tail->len, (off_t) head->len + hole) == (ssize_t) tail->len);
    return nino_weights_open_fd(fd, "hole.pth", &err);
}

static void check_limits(void)
{
    const uint32_t mib = 1 << 20;
    nino_buf head = { 0 }, tail = { 0 };
    nino_buf_adds(&head, "PK\3\4");
    pth_le(&head, 0, 8);
    nino_buf_add(&tail, "PK\5\6\0\0\0\0\1\0\1\0", 12); // a directory of 65 MiB, from the beginning
    pth_le(&tail, 65 * mib, 4);
    pth_le(&tail, 0, 6);
    CHECK(!open_hole(&head, (off_t) 65 * mib, &tail) && !strcmp(err.kind, "limit"));
    nino_buf_release(&head);
    nino_buf_release(&tail);

    part one = model; // a pickle of more than 64 MiB
    one.local_lie = one.directory_lie = 64 * mib;
    nino_buf b = pth_zip_of(&one, 1, false, 0);
    const size_t end_of_data = 30 + strlen(one.name) + 3 + one.len;
    nino_buf_add(&head, b.data, end_of_data);
    nino_buf_add(&tail, b.data + end_of_data, b.len - end_of_data);
    put_at(&tail, 6, end_of_data + 64 * mib, 4); // where the directory is
    CHECK(!open_hole(&head, (off_t) 64 * mib, &tail));
    CHECK(!strcmp(err.kind, "limit") && strstr(err.msg, "a pickle of"));
    nino_buf_release(&head);
    nino_buf_release(&tail);
    nino_buf_release(&b);
}

// ---- pickles -----------------------------------------------------------------------------------

#define VIEW(view) OLD_TENSOR("0", "K\6", view, "K\0", "K\2\x85", "K\1\x85")

static const pth_pickle pickles[] = {
    PICKLE("an OrderedDict made of a list", "schema: an OrderedDict made from a list is not read",
           "\x80\x02"
           "ccollections\nOrderedDict\n]\x85R."),
    PICKLE("a parameter", "ok",
           "\x80\x02}" KEY("w") "ctorch._utils\n_rebuild_parameter\n(" TENSOR "\x89" DICT "tRs."),
    PICKLE("a parameter of a number", "schema: a parameter has an unknown form",
           "\x80\x02"
           "ctorch._utils\n_rebuild_parameter\n(K\1\x89" DICT "tR."),
    PICKLE("a parameter without hooks", "schema: a parameter has an unknown form",
           "\x80\x02"
           "ctorch._utils\n_rebuild_parameter\n(" TENSOR "\x89tR."),
    PICKLE("a storage of 2^61 elements", "overflow: a storage of 2305843009213693952 elements",
           "\x80\x02" OLD_TENSOR("0", "\x8a\x08\0\0\0\0\0\0\0\x20", "N", "K\0", "K\6\x85",
                                 "K\1\x85") "."),
    PICKLE("a storage of less than none", "schema: a reference to a storage has an unknown form",
           "\x80\x02" OLD_TENSOR("0", "J\xff\xff\xff\xff", "N", "K\0", "K\6\x85", "K\1\x85") "."),
    PICKLE("strides that add up to more than 64 bits", "overflow: a stride exceeds 64 bits",
           "\x80\x02" OLD_TENSOR(
               "0", "K\x08", "N", "K\0", "K\2K\2K\2\x87",
               "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x8a\x08\xff\xff\xff\xff\xff\xff"
               "\xff\x7f\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x87") "."),
    PICKLE("an offset of a view and of the tensor that add up to 2^64 - 2",
           "range: a tensor's last element lies outside its storage",
           "\x80\x02" OLD_TENSOR(
               "0", "K\6", KEY("7") "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7fK\4\x87",
               "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f", "K\1\x85", "K\1\x85") "."),
    PICKLE("a view", "ok", "\x80\x02" VIEW(KEY("7") "K\2K\4\x87") "."),
    PICKLE("a view that ends behind its storage",
           "range: a tensor's last element lies outside its storage",
           "\x80\x02" VIEW(KEY("7") "K\5K\4\x87") "."),
    PICKLE("a view that is a list", "schema: a view of a storage has an unknown form",
           "\x80\x02" VIEW("]") "."),
    PICKLE("a view of two values", "schema: a view of a storage has an unknown form",
           "\x80\x02" VIEW(KEY("7") "K\2\x86") "."),
    PICKLE("a view from a word on", "schema: a view of a storage has an unknown form",
           "\x80\x02" VIEW(KEY("7") KEY("2") "K\4\x87") "."),
    PICKLE("a view of as many as a word", "schema: a view of a storage has an unknown form",
           "\x80\x02" VIEW(KEY("7") "K\2" KEY("4") "\x87") "."),
    PICKLE("a view before its storage", "schema: a view of a storage has an unknown form",
           "\x80\x02" VIEW(KEY("7") "J\xff\xff\xff\xffK\4\x87") "."),
    PICKLE("a number called state_dict", "ok",
           "\x80\x02}(X\x0a\0\0\0state_dictK\1" KEY("w") TENSOR "u."),
};

static void check_pickles(void)
{
    for (size_t i = 0; i < sizeof(pickles) / sizeof(pickles[0]); i++) {
        nino_buf b = pth_archive(pickles[i].p, pickles[i].len);
        pth_expect(&b, pickles[i].what, pickles[i].kind);
    }
}

static void add_string(nino_buf *b, char c, size_t n)
{
    nino_buf_addc(b, 'X');
    pth_le(b, n, 4);
    for (size_t i = 0; i < n; i++)
        nino_buf_addc(b, c);
}

// A dict of one tensor, its name of n letters, its storage's of n_key.
static nino_buf named(size_t n, size_t n_key)
{
    nino_buf p = { 0 };
    nino_buf_add(&p, "\x80\x02}", 3);
    add_string(&p, 'n', n);
    nino_buf_adds(&p, REBUILD "((");
    nino_buf_add(&p, "X\7\0\0\0storage", 12);
    nino_buf_adds(&p, "ctorch\nFloatStorage\n");
    add_string(&p, '0', n_key);
    static const char rest[] = KEY("c") "K\6tQK\0K\6\x85K\1\x85\x89" DICT "tRs.";
    nino_buf_add(&p, rest, sizeof(rest) - 1);
    nino_buf b = pth_archive(p.data, p.len);
    nino_buf_release(&p);
    return b;
}

static void check_long_names(void)
{
    nino_buf b = named(1024, 1);
    pth_expect(&b, "a name of 1024 letters", "ok");
    b = named(1025, 1);
    pth_expect(&b, "a name of 1025 letters", "limit: a tensor's name has 1025 bytes");
    b = named(1, 1017);
    pth_expect(&b, "a storage's name of 1017 letters",
               "limit: the name of a tensor's storage has 1017 bytes");
    b = named(120, 1016);
    pth_expect(&b, "a storage that is missing, its name of 1016 letters", "schema");
}

// n references to what was kept as 1, put into a list or (as pairs) into a dict in groups of 4000.
static nino_buf many(const char *begin, size_t n_begin, long n, char close, const char *end)
{
    nino_buf p = { 0 };
    nino_buf_add(&p, begin, n_begin);
    while (n > 0) {
        nino_buf_addc(&p, '(');
        for (int i = 0; i < 4000 && n > 0; i++, n--)
            nino_buf_add(&p, "h\1", 2);
        nino_buf_addc(&p, close);
    }
    nino_buf_adds(&p, end);
    nino_buf b = pth_archive(p.data, p.len);
    nino_buf_release(&p);
    return b;
}

static void check_many(void)
{
    enum { MAX_VALUES = 4 << 20, MAX_TENSORS = 262144 };
    static const char list[] = "\x80\x02]q\1", dict[] = "\x80\x02}q\1";
    nino_buf b = many(dict, 5, 2 * MAX_TENSORS, 'u', ".");
    pth_expect(&b, "as many names as tensors are read", "ok");
    b = many(dict, 5, 2 * MAX_TENSORS + 2, 'u', ".");
    pth_expect(&b, "one name more", "limit: 262145 tensors, at most 262144 are read");
    b = many(list, 5, MAX_VALUES - 1, 'e', "}.");
    pth_expect(&b, "a dict after as many values as are made",
               "limit: the pickle makes more than 4194304 values");
    b = many(list, 5, MAX_VALUES, 'e', ".");
    pth_expect(&b, "a value in a list after as many as are made",
               "limit: the pickle makes more than 4194304 values");
}

// ---- files older than PyTorch 1.6 ----------------------------------------------------------------

#define OBJECT(text) .object = text, .n_object = sizeof(text) - 1

static void check_old(void)
{
    static const struct {
        const char *what, *kind;
        old_file f;
    } cases[] = {
        { "a byte order that is no truth",
          "ok",
          { .info = "}X\x0d\0\0\0little_endianNs.",
            OBJECT("}" KEY("v") OLD_V "s."),
            .keys = "1",
            .count = { 2 } } },
        { "references that disagree on the length",
          "schema: two references to a storage disagree",
          { OBJECT("}(" KEY("w") OLD_W KEY("v")
                       OLD_TENSOR("0", "K\5", "N", "K\0", "K\1\x85", "K\1\x85") "u."),
            .keys = "0", .count = { 6 } } },
        { "a tensor without a name",
          "name: a tensor's name has 0 bytes",
          { OBJECT("}X\0\0\0\0" OLD_V "s."), .keys = "1", .count = { 2 } } },
        { "no list of storages",
          "schema: the list of storages is no list",
          { OBJECT("}" KEY("v") OLD_V "s.\x80\x02}."), .keys = "" } },
        { "a number in the list of storages",
          "schema: the list of storages names one that no tensor has",
          { OBJECT("}" KEY("v") OLD_V "s.\x80\x02]K\1a."), .keys = "" } },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nino_buf b = pth_old_bytes(&cases[i].f);
        pth_expect(&b, cases[i].what, cases[i].kind);
    }
}

// Begins as pth_old_bytes() does; then this object, these keys and storages.
static nino_buf old_of(const nino_buf *object, const char *keys, size_t n_keys)
{
    const old_file none = { .object = "", .keys = "" };
    nino_buf b = pth_old_bytes(&none);
    b.len = 15 + 6 + 24; // up to the object
    nino_buf_add(&b, "\x80\x02", 2);
    nino_buf_add(&b, object->data, object->len);
    nino_buf_add(&b, "\x80\x02](", 4);
    nino_buf_add(&b, keys, n_keys);
    nino_buf_adds(&b, "e.");
    return b;
}

static void add_storage(nino_buf *b, int n)
{
    pth_le(b, (uint64_t) n, 8);
    nino_buf_add(b, storage, (size_t) n * sizeof(float));
}

static void check_old_storages(void)
{
    static const char one[] = "}" KEY("v") OLD_V "s.";
    static const char two[] = "}(" KEY("v") OLD_V KEY("w") REBUILD
        "((X\7\0\0\0storagectorch\nFloatStorage\nX\2\0\0\0"
        "1a" KEY("c") "K\6NtQK\0K\6\x85K\1\x85\x89" DICT "tRu.";
    nino_buf object = { 0 };
    nino_buf_add(&object, one, sizeof(one) - 1);
    nino_buf b = old_of(&object, KEY("1") KEY("1"), 12);
    add_storage(&b, 2);
    add_storage(&b, 2);
    pth_expect(&b, "a storage twice", "dup: the list of storages names one twice");
    nino_buf_clear(&object); // keys of unlike length, of which one begins with the other
    nino_buf_add(&object, two, sizeof(two) - 1);
    b = old_of(&object,
               "X\2\0\0\0"
               "1a" KEY("1"),
               13);
    add_storage(&b, 6);
    add_storage(&b, 2);
    nino_weights *w = pth_open_bytes(b.data, b.len, &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    float v[6];
    CHECK(nino_weights_bytes(w, "v") == 4 && nino_weights_bytes(w, "w") == sizeof(v));
    CHECK_OK(nino_weights_read(w, nino_weights_find(w, "w"), v, &err), err);
    CHECK(!memcmp(v, storage, sizeof(v)));
    nino_weights_unref(&w);
    nino_buf_release(&b);
    nino_buf_release(&object);
}

// The pickles are read a mebibyte first, then more of them: until they are whole, or until it is clear
// that they are none.
static void check_old_long(void)
{
    static const char head[] = "}(" KEY("t"), tail[] = KEY("v") OLD_V "u.", bad[] = "\x93";
    for (int k = 0; k < 4; k++) {
        nino_buf object = { 0 };
        if (k == 3)
            nino_buf_add(&object, bad, 1);
        nino_buf_add(&object, head, sizeof(head) - 1);
        add_string(&object, 'x', 3 << 19);
        if (k == 2)
            nino_buf_add(&object, bad, 1);
        nino_buf_add(&object, tail, sizeof(tail) - 1);
        nino_buf b = old_of(&object, KEY("1"), 6);
        add_storage(&b, 2);
        if (k == 1)
            b.len = 5 << 18; // inside the long text
        nino_weights *w = pth_open_bytes(b.data, b.len, NULL);
        CHECK(!w == (k > 0));
        if (w)
            CHECK(nino_weights_count(w) == 1 && nino_weights_bytes(w, "v") == 4);
        nino_weights_unref(&w);
        static const char *const kinds[] = { "ok", "truncated", "unknown", "unknown" };
        nino_buf_release(&object);
        pth_expect(&b, "a pickle of more than a mebibyte", kinds[k]);
    }
}

int main(void)
{
    check_zip64();
    check_local();
    check_names();
    check_limits();
    check_pickles();
    check_long_names();
    check_many();
    check_old();
    check_old_storages();
    check_old_long();
    return 0;
}
