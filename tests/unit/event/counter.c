// The table of counters: every row is complete, numbers stay what they were, the schema of JSON
// lines has them all; and samples as records.
#include "core/base/json.h"
#include "tests/test.h"
#include <ninodes/monitor.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

// Trace files hold the place of a counter in this list, counted from 1: it only grows.
static const char *const settled[] = {
    "gpu.busy",      "gpu.clock",  "gpu.power",    "gpu.temperature", "vram.used",    "gtt.used",
    "ram.available", "vram.total", "gtt.total",    "ram.total",       "swap.total",   "swap.used",
    "process.ram",   "cpu.busy",   "fabric.clock", "memory.clock",    "gpu.throttle", "gtt.others"
};

static bool is_dotted(const char *s)
{
    int parts = 0;
    for (; islower((unsigned char) *s); s++, parts++) {
        s += strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_");
        if (!*s)
            return parts > 0;
        if (*s != '.')
            return false;
    }
    return false;
}

static void same_word(const char *a, const char *b) { CHECK(!a || !b || strcmp(a, b) != 0); }

static void test_rows(void)
{
    unsigned n = 1;
    CHECK(!nino_counter_row(NINO_COUNTER_NONE) && !nino_counter_row(NINO_COUNTER_MAX));
    for (const nino_counter *c; (c = nino_counter_row(n)); n++) {
        CHECK(c->id == n && is_dotted(c->name) && *c->label);
        CHECK(c->sample == NINO_EV_DEVICE || c->sample == NINO_EV_HOST);
        CHECK(c->kind <= NINO_COUNTER_FLAGS && c->unit <= NINO_UNIT_CELSIUS);
        CHECK(c->lo < c->hi && strlen(c->text) > 10 && isupper((unsigned char) c->text[0]));
        CHECK(c->text[strlen(c->text) - 1] == '.' && c->arg_scale >= 0);
        CHECK(!c->unit || *nino_unit_text((nino_unit) c->unit));
        const char *m = nino_counter_word(c, c->metric);
        CHECK(strspn(m, "abcdefghijklmnopqrstuvwxyz0123456789_.") == strlen(m));
        for (unsigned k = 1; k < n; k++) {
            const nino_counter *d = nino_counter_row(k);
            same_word(c->name, d->name);
            same_word(c->json, d->json);
            same_word(c->track, d->track);
            same_word(c->metric, d->metric);
            same_word(c->column, d->column);
            same_word(c->arg, d->arg);
            CHECK(!c->plot || !d->plot || strcmp(c->plot, d->plot) != 0 || c->unit == d->unit);
        }
    }
    CHECK(n == NINO_COUNTER_END && n > sizeof(settled) / sizeof(settled[0]));
    for (unsigned i = 0; i < sizeof(settled) / sizeof(settled[0]); i++)
        CHECK_STR(nino_counter_row(i + 1)->name, settled[i]);
    CHECK(is_dotted("a.b") && !is_dotted("a") && !is_dotted("a.") && !is_dotted(".a"));
    CHECK(!is_dotted("A.b") && !is_dotted("a..b") && !is_dotted("a.b c"));
}

static void test_samples(void)
{
    nino_event ev[NINO_SAMPLE_RECORDS];
    nino_sample s, t = { 0 };
    double v = 0;
    nino_sample_clear(&s, NINO_EV_HOST);
    s.t_ns = 77;
    for (unsigned id = 1; id < NINO_COUNTER_END; id += 2)
        s.value[id] = id + 0.25;
    const size_t n = nino_sample_write(&s, ev);
    CHECK(n >= 2);
    for (size_t i = 0; i < n; i++) {
        CHECK(ev[i].t_ns == 77 && ev[i].kind == NINO_EV_HOST && ev[i].sub == n - 1 - i);
        CHECK(nino_sample_add(&t, &ev[i]) == (i == n - 1));
    }
    for (unsigned id = 1; id < NINO_COUNTER_END; id++) {
        const bool is_told = id % 2 && nino_counter_row(id)->sample == NINO_EV_HOST;
        CHECK(is_told ? t.value[id] == id + 0.25 : isnan(t.value[id]));
    }
    // the next one begins anew, also when the one before has lost its end
    nino_sample_add(&t, &ev[0]);
    CHECK(isnan(t.value[ev[n - 1].u.sample.id[0]]) && !t.is_whole);
    ev[1].t_ns = 78;
    nino_sample_add(&t, &ev[1]);
    CHECK(isnan(t.value[ev[0].u.sample.id[0]]) && t.t_ns == 78);
    // counters of a newer program, and records of other kinds
    nino_event odd = { .kind = NINO_EV_HOST,
                       .u.sample = { { NINO_COUNTER_END, 0xffff, NINO_COUNTER_CPU_BUSY },
                                     { 1, 2, 3 } } };
    CHECK(nino_sample_add(&t, &odd) && t.value[NINO_COUNTER_CPU_BUSY] == 3);
    CHECK(nino_sample_value(&odd, NINO_COUNTER_CPU_BUSY, &v) && v == 3);
    CHECK(!nino_sample_value(&odd, NINO_COUNTER_GPU_BUSY, &v) && v == 3);
    odd.kind = NINO_EV_MEM;
    CHECK(!nino_sample_value(&odd, NINO_COUNTER_CPU_BUSY, &v));
}

static char *slurp(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    CHECK(f && fseek(f, 0, SEEK_END) == 0);
    *n = (size_t) ftell(f);
    rewind(f);
    char *p = malloc(*n + 1);
    CHECK(p && fread(p, 1, *n, f) == *n);
    fclose(f);
    return p;
}

// The schema of one type of line has the counters of its samples, as lines have them, and no
// others.
static void check_line(const nino_json *defs, const char *type, nino_event_kind kind)
{
    const nino_json *def = nino_json_get(defs, type), *p = nino_json_get(def, "properties");
    const nino_json *required = nino_json_get(def, "required");
    const nino_counter *c;
    size_t n = 3; // schema, type, t_ns
    CHECK(p && required);
    for (unsigned id = 1; (c = nino_counter_row(id)); id++) {
        const char *key = nino_counter_word(c, c->json);
        const nino_json *v = nino_json_get(p, key), *t = nino_json_get(v, "type");
        if (c->sample != kind)
            continue;
        n++;
        if (!t)
            fprintf(stderr, "data/schema/lines.schema.json: %s lacks %s: make doc\n", type, key);
        CHECK(t);
        if (c->unit == NINO_UNIT_BYTES)
            CHECK_STR(nino_json_str(t), "integer");
        else
            CHECK(t->child && t->child->next && !strcmp(nino_json_str(t->child), "number") &&
                  !strcmp(nino_json_str(t->child->next), "null"));
        const nino_json *r = required->child;
        while (r && strcmp(nino_json_str(r), key) != 0)
            r = r->next;
        CHECK(r);
    }
    for (const nino_json *v = p->child; v; v = v->next)
        n--;
    CHECK(n == 0);
}

static void test_schema(void)
{
    nino_error err;
    nino_json_doc *doc = NULL;
    size_t n;
    char *text = slurp("data/schema/lines.schema.json", &n);
    CHECK_OK(nino_json_parse(text, n, "schema", NULL, &doc, &err), err);
    const nino_json *defs = nino_json_get(doc->root, "$defs");
    check_line(defs, "device", NINO_EV_DEVICE);
    check_line(defs, "host", NINO_EV_HOST);
    nino_json_doc_destroy(&doc);
    free(text);
}

int main(void)
{
    test_rows();
    test_samples();
    test_schema();
    return 0;
}
