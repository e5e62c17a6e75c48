// Driver of the fuzz targets without a fuzzing engine: replays files, or mutates the target's own
// seeds. Every run tries the same inputs, so a failure is repeated with `NAME -n NUMBER`.
//
//     NAME             what ever failed (tests/data/fuzz/NAME), the corpus and what it comes to,
//                      corpus and seeds while memory runs out, then 20 000 mutated inputs, 500 000 with
//                      NINODES_TEST_LONG=1; NINODES_TEST_SHORTAGES=N: allocations that fail
//     NAME -n NUMBER   that one of them only; -o FILE also writes it out
//     NAME FILE...     these inputs
//     NAME -r FILE     records what the corpus comes to (tests/fuzz/outcome.h)
//     NAME -p FILE DIR makes the file of a corpus (tests/fuzz/corpus.h) of the inputs in DIR
//     NAME -w DIR      writes seeds and corpus to DIR, as SEED-0 and so on, the words to DIR.dict and
//                      the longest length to DIR.len: what an engine begins with
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/outcome.h"
#include "tests/fuzz/reshape.h"
#include "tests/fuzz/shortage.h"
#include "tests/figure.h"
#include "tests/test.h"

#include <signal.h>
#include <stdbool.h>

enum { SHORT_RUNS = 20000, LONG_RUNS = 500000, MAX_SEEDS = 64, SECONDS_PER_INPUT = 30 };
enum { SHORTAGES = 400, LONG_SHORTAGES = 200000 }; // of all inputs together
enum { CHANGED_FORMS = 20 };                       // of each input whose outcome is compared
enum { KEPT = 16 }; // allocations that a target may keep from one input to the next

typedef struct input {
    uint8_t *data;
    size_t len;
} input;

static input own_seeds[MAX_SEEDS];
static const input *seeds = own_seeds; // what inputs are made of: these, or those of the corpus
static unsigned seed_count, word_count;
static long first_live = -1;   // allocations that there were after the first input
static long n_inputs, n_short; // tried; allocations that failed in them
static char current[320];      // says which input is being tried, "" for none

// ---- saying which input it was ----------------------------------------------------------------

static void say_current(void)
{
    if (write(STDERR_FILENO, current, strlen(current)) < 0)
        return;
}

static void on_signal(int sig)
{
    say_current();
    signal(sig, SIG_DFL);
    raise(sig);
}

// The sanitizers end the process without a signal, but call this.
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void watch(void)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM };
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        if (!__sanitizer_set_death_callback || signals[i] == SIGALRM)
            signal(signals[i], on_signal);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(say_current);
    atexit(say_current); // CHECK
}

// ---- mutation ---------------------------------------------------------------------------------

static uint64_t state;

static uint64_t next_random(void) // splitmix64
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// 0 .. n - 1; 0 for n = 0
static size_t pick(size_t n) { return n ? (size_t) (next_random() % n) : 0; }

// Makes room for n bytes at `at`, as far as there is room; returns how many.
static size_t open_gap(input *in, size_t at, size_t n)
{
    if (n > fuzz_max_len - in->len)
        n = fuzz_max_len - in->len;
    memmove(in->data + at + n, in->data + at, in->len - at);
    in->len += n;
    return n;
}

static void insert(input *in, size_t at, const void *p, size_t n)
{
    uint8_t copy[256]; // p may lie in the input
    n = n < sizeof(copy) ? n : sizeof(copy);
    memcpy(copy, p, n);
    n = open_gap(in, at, n);
    memcpy(in->data + at, copy, n);
}

// A little-endian integer of 1, 2, 4 or 8 bytes that is likely to matter.
static void put_integer(input *in)
{
    const size_t width = (size_t) 1 << pick(4);
    const uint64_t around[] = { 0,         0x7f,       0x80,      0xff,
                                0x7fff,    0xffff,     INT32_MAX, UINT32_MAX,
                                INT64_MAX, UINT64_MAX, in->len,   (uint64_t) 1 << pick(64) };
    if (in->len < width)
        return;
    const uint64_t v = around[pick(sizeof(around) / sizeof(around[0]))] + pick(5) - 2;
    memcpy(in->data + pick(in->len - width + 1), &v, width);
}

static void mutate_once(input *in)
{
    const size_t at = pick(in->len + 1), some = pick(in->len - at < 64 ? in->len - at + 1 : 64);
    const input *other = &seeds[pick(seed_count)];
    switch (pick(10)) {
    case 0: // one bit
        if (at < in->len)
            in->data[at] ^= (uint8_t) (1u << pick(8));
        break;
    case 1: // one byte
        if (at < in->len)
            in->data[at] = (uint8_t) next_random();
        break;
    case 2: { // a new byte, a few times
        const uint8_t byte = (uint8_t) next_random();
        const size_t n = open_gap(in, at, 1 + pick(pick(4) ? 4 : 200));
        memset(in->data + at, byte, n);
        break;
    }
    case 3: // a part goes
        memmove(in->data + at, in->data + at + some, in->len - at - some);
        in->len -= some;
        break;
    case 4: // a part again, elsewhere
        insert(in, pick(in->len + 1), in->data + at, some);
        break;
    case 5: { // a part of a seed
        const size_t from = pick(other->len + 1), n = pick(other->len - from + 1);
        insert(in, at, other->data + from, n);
        break;
    }
    case 6: // a word
    case 7:
        if (word_count) {
            const char *word = fuzz_words[pick(word_count)];
            insert(in, at, word, strlen(word));
        }
        break;
    case 8: put_integer(in); break;
    case 9: // the end goes
        if (!pick(4))
            in->len = at;
        break;
    }
}

// Input `number` of the run: a seed with 0 to 8 mutations.
static void make_input(long number, input *in)
{
    state = (uint64_t) number * 0xd1342543de82ef95u + 1;
    const input *seed = &seeds[(size_t) number % seed_count];
    in->len = seed->len;
    memcpy(in->data, seed->data, seed->len);
    if ((unsigned long) number < seed_count)
        return; // the seeds as they are come first
    for (size_t n = 1 + pick(8); n; n--)
        mutate_once(in);
}

// ---- running ----------------------------------------------------------------------------------

static void run_one(const uint8_t *data, size_t len)
{
    uint8_t *exact = malloc(len ? len : 1); // so that a sanitizer sees the first byte too many
    CHECK(exact);
    if (len)
        memcpy(exact, data, len);
    n_inputs++;
    alarm(SECONDS_PER_INPUT);
    CHECK(LLVMFuzzerTestOneInput(exact, len) == 0);
    alarm(0);
    if (first_live < 0)
        first_live = shortage_live();
    CHECK(shortage_live() <= first_live + KEPT);
    free(exact);
}

static void run_file(const char *path, uint8_t *buf)
{
    FILE *f = fopen(path, "rb");
    CHECK(f);
    run_one(buf, fread(buf, 1, fuzz_max_len, f));
    fclose(f);
}

// Inputs that once failed. Their folder is found from where tests run; without it there are none.
static void run_kept(const char *program, uint8_t *buf)
{
    char dir[128], path[640];
    const char *slash = strrchr(program, '/');
    snprintf(dir, sizeof(dir), "tests/data/fuzz/%s", slash ? slash + 1 : program);
    DIR *d = opendir(dir);
    char cwd[256] = "";
    CHECK(!d || getcwd(cwd, sizeof(cwd))); // a target may go elsewhere
    for (const struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(current, sizeof(current), "failed at %s/%.150s\n", dir, e->d_name);
        snprintf(path, sizeof(path), "%s/%s/%.150s", cwd, dir, e->d_name);
        run_file(path, buf);
    }
    if (d)
        closedir(d);
    current[0] = 0;
}

static void write_word(FILE *f, const char *word)
{
    fputc('"', f);
    for (; *word; word++)
        fprintf(f, "\\x%02x", (unsigned) (unsigned char) *word);
    fputs("\"\n", f);
}

static void write_input(const char *dir, unsigned number, const uint8_t *data, size_t len)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/seed-%u", dir, number);
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(data, 1, len, f) == len && !fclose(f));
}

static void write_corpus(const char *dir, const uint8_t *at, size_t left)
{
    char path[512];
    size_t len = 0;
    unsigned n = 0;
    for (; n < seed_count; n++)
        write_input(dir, n, seeds[n].data, seeds[n].len);
    for (const uint8_t *p; (p = corpus_next(&at, &left, &len)) != NULL; n++)
        write_input(dir, n, p, len);
    snprintf(path, sizeof(path), "%s.len", dir);
    FILE *f = fopen(path, "w");
    CHECK(f && fprintf(f, "%zu\n", fuzz_max_len) > 0 && !fclose(f));
    snprintf(path, sizeof(path), "%s.dict", dir);
    f = fopen(path, "w");
    CHECK(f);
    for (unsigned i = 0; i < word_count; i++)
        write_word(f, fuzz_words[i]);
    CHECK(!fclose(f));
}

static void load_seeds(uint8_t *buf)
{
    for (; seed_count < MAX_SEEDS; seed_count++) {
        const size_t n = fuzz_seed(seed_count, buf, fuzz_max_len);
        if (!n)
            break;
        CHECK(n <= fuzz_max_len);
        own_seeds[seed_count] = (input){ malloc(n), n };
        CHECK(own_seeds[seed_count].data);
        memcpy(own_seeds[seed_count].data, buf, n);
    }
    CHECK(seed_count > 0);
    while (fuzz_words[word_count])
        word_count++;
}

static void run_corpus(const uint8_t *at, size_t left)
{
    size_t len = 0;
    unsigned n = 0;
    for (const uint8_t *p; (p = corpus_next(&at, &left, &len)) != NULL; n++) {
        snprintf(current, sizeof(current), "failed at input %u of the corpus\n", n);
        run_one(p, len);
    }
    current[0] = 0;
}

// ---- what inputs come to ----------------------------------------------------------------------

// Where the seeds are pictures and clips, libraries make them, not always of the same bytes; inputs of
// the corpus are the same everywhere.
static input *corpus_as_seeds(const uint8_t *at, size_t left, unsigned *n)
{
    input *list = NULL;
    size_t len = 0;
    *n = 0;
    for (const uint8_t *p; (p = corpus_next(&at, &left, &len)) != NULL; ++*n) {
        list = realloc(list, (*n + 1) * sizeof(*list));
        CHECK(list && len <= fuzz_max_len);
        list[*n] = (input){ (uint8_t *) p, len };
    }
    return list;
}

static uint64_t told(const input *in)
{
    outcome_begin();
    run_one(in->data, in->len);
    return outcome_end();
}

static bool is_json(const input *in)
{
    return in->len > 2 && (in->data[0] == '{' || in->data[0] == '[');
}

// What input i of the corpus comes to; *is_told: the target says so.
static outcome_line line_of(unsigned i, input *in, bool *is_told)
{
    outcome_line line = { told(&seeds[i]), 0xcbf29ce484222325u };
    *is_told |= *outcome_said() != 0;
    for (long k = 1; k <= CHANGED_FORMS; k++) {
        make_input((long) i + k * (long) seed_count, in);
        line.changed = (line.changed ^ told(in)) * 0x100000001b3u;
    }
    for (long k = 1; k <= CHANGED_FORMS && is_json(&seeds[i]); k++) {
        state = ((uint64_t) i * CHANGED_FORMS + (uint64_t) k) * 0xd1342543de82ef95u + 2;
        in->len = seeds[i].len;
        memcpy(in->data, seeds[i].data, in->len);
        for (size_t n = 1 + pick(3); n; n--)
            in->len = reshape(in->data, in->len, fuzz_max_len, pick);
        line.changed = (line.changed ^ told(in)) * 0x100000001b3u;
    }
    return line;
}

static void say_difference(const char *name, unsigned i, const outcome_line *now,
                           const outcome_line *then)
{
    const bool is_plain = now->plain != then->plain;
    if (is_plain) // its text once more
        told(&seeds[i]);
    fprintf(stderr,
            "%s: input %u of the corpus%s comes to something else than tests/data/outcomes/%s "
            "says\n%s",
            name, i, is_plain ? "" : ", changed,", name, is_plain ? outcome_said() : "");
}

// Compares with `recorded`, or writes that file anew.
static void run_told(const char *name, const uint8_t *at, size_t left, input *in,
                     const outcome_file *recorded, const char *write_to)
{
    const unsigned n_seeds = seed_count;
    unsigned n_other = 0;
    bool is_told = false;
    input *list = corpus_as_seeds(at, left, &seed_count);
    outcome_file now = { calloc(seed_count + 1, sizeof(outcome_line)), seed_count };
    CHECK(now.lines);
    seeds = list;
    for (unsigned i = 0; i < seed_count; i++) {
        snprintf(current, sizeof(current), "failed at input %u of the corpus, changed\n", i);
        now.lines[i] = line_of(i, in, &is_told);
        if (write_to || i >= recorded->n)
            continue;
        if (now.lines[i].plain != recorded->lines[i].plain ||
            now.lines[i].changed != recorded->lines[i].changed)
            if (n_other++ < 2)
                say_difference(name, i, &now.lines[i], &recorded->lines[i]);
    }
    current[0] = 0;
    if (write_to)
        outcome_write(write_to, &now);
    CHECK(!n_other);
    CHECK(write_to || (is_told ? recorded->n == seed_count : !recorded->n));
    outcome_release(&now);
    free(list);
    seeds = own_seeds;
    seed_count = n_seeds;
}

// Seeds and corpus with allocations failing (tests/fuzz/shortage.c).
static void run_short_of_memory(const uint8_t *at, size_t left, long most)
{
    long n = 0, refused = 0, count = (long) seed_count;
    size_t len = 0, rest = left;
    for (const uint8_t *p = at; corpus_next(&p, &rest, &len); count++) {
    }
    for (long i = 0; i < count; i++) {
        const uint8_t *p = i < (long) seed_count ? seeds[i].data : corpus_next(&at, &left, &len);
        snprintf(current, sizeof(current), "failed at input %ld, short of memory\n", i);
        n += shortage_try(LLVMFuzzerTestOneInput, p, i < (long) seed_count ? seeds[i].len : len,
                          most / count + 1, i, &refused);
    }
    current[0] = 0;
    first_live = -1; // tries that ended early have left some
    printf("  %ld allocations failed, %ld times it could not go on\n", n, refused);
    n_short = n;
}

int main(int argc, char **argv)
{
    const char *out = NULL, *corpus = NULL, *packed = NULL, *record = NULL;
    long only = -1;
    int opt;
    input in = { malloc(fuzz_max_len), 0 };
    CHECK(in.data);
    while ((opt = getopt(argc, argv, "n:o:p:r:w:")) != -1) {
        CHECK(opt != '?');
        if (opt == 'n')
            only = atol(optarg);
        else if (opt == 'w')
            corpus = optarg;
        else if (opt == 'p')
            packed = optarg;
        else if (opt == 'r')
            record = optarg;
        else
            out = optarg;
    }
    watch();
    if (packed) {
        CHECK(optind + 1 == argc);
        corpus_write(packed, argv[optind]);
        free(in.data);
        return 0;
    }
    for (int i = optind; i < argc; i++)
        run_file(argv[i], in.data);
    if (optind < argc) {
        free(in.data);
        return 0;
    }
    load_seeds(in.data);
    const char *slash = strrchr(argv[0], '/');
    char path[128];
    size_t n_found = 0;
    snprintf(path, sizeof(path), "tests/data/corpus/%s", slash ? slash + 1 : argv[0]);
    uint8_t *found = corpus_read(path, &n_found);
    outcome_file recorded;
    snprintf(path, sizeof(path), "tests/data/outcomes/%s", slash ? slash + 1 : argv[0]);
    outcome_read(path, &recorded);
    if (corpus)
        write_corpus(corpus, found, n_found);
    const char *long_run = getenv("NINODES_TEST_LONG");
    if (record)
        run_told(argv[0], found, n_found, &in, &recorded, record);
    if (!corpus && only < 0 && !record) {
        const char *most = getenv("NINODES_TEST_SHORTAGES");
        run_kept(argv[0], in.data);
        run_corpus(found, n_found);
        run_told(slash ? slash + 1 : argv[0], found, n_found, &in, &recorded, NULL);
        run_short_of_memory(found, n_found,
                            most && *most           ? atol(most)
                            : long_run && *long_run ? LONG_SHORTAGES
                                                    : SHORTAGES);
    }
    const long first = only >= 0 ? only : 0, end = only >= 0               ? only + 1
                                                   : long_run && *long_run ? LONG_RUNS
                                                                           : SHORT_RUNS;
    for (long i = first; i < end && !corpus && !record; i++) {
        make_input(i, &in);
        if (out) {
            FILE *f = fopen(out, "wb");
            CHECK(f && fwrite(in.data, 1, in.len, f) == in.len && !fclose(f));
        }
        snprintf(current, sizeof(current), "failed at input: -n %ld\n", i);
        run_one(in.data, in.len);
    }
    current[0] = 0;
    if (!corpus && only < 0 && !record) // tests/reliability.py adds up those of all targets
        figure_add("inputs of a parser", "none crashes, hangs or leaks", true, "%ld and %ld",
                   n_inputs, n_short);
    for (unsigned i = 0; i < seed_count; i++)
        free(own_seeds[i].data);
    outcome_release(&recorded);
    free(found);
    free(in.data);
    return 0;
}
