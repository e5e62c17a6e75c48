// The cache of results: what nodes showed counts, too, so that long texts push out old results.
#include "core/run/results.h"
#include "tests/test.h"

static nino_hash key_of(uint64_t i) { return (nino_hash){ .lo = i, .hi = 7 }; }

// A result without values that showed a text of so many bytes.
static void put(nino_results *c, uint64_t key, size_t bytes)
{
    nino_shown s = { 0 };
    char *text = malloc(bytes + 1);
    CHECK(text != NULL);
    memset(text, 'x', bytes);
    text[bytes] = 0;
    CHECK(nino_shown_add_text(&s, "title", text));
    nino_results_put(c, key_of(key), NULL, 0, &s);
    CHECK(!s.n_texts); // the cache has them, or nobody
    free(text);
}

static bool has(nino_results *c, uint64_t key, size_t bytes)
{
    const nino_shown *s = NULL;
    if (!nino_results_get(c, key_of(key), NULL, 0, &s))
        return false;
    CHECK(s->n_texts == 1 && strlen(s->text[0].text) == bytes);
    return true;
}

int main(void)
{
    nino_results *c = nino_results_create(10000);
    CHECK(c != NULL);
    put(c, 1, 4000);
    put(c, 2, 4000);
    CHECK(has(c, 1, 4000) && has(c, 2, 4000));
    CHECK(has(c, 1, 4000)); // now 2 is the longest unused
    put(c, 3, 4000);
    CHECK(has(c, 1, 4000) && !has(c, 2, 4000) && has(c, 3, 4000));
    put(c, 4, 20000); // more than all that may be kept
    CHECK(!has(c, 4, 20000));
    put(c, 5, 10);
    const uint64_t bytes = nino_results_clear(c);
    CHECK(bytes > 10 && bytes < 10000);
    CHECK(!has(c, 5, 10));
    nino_results_destroy(&c);
    return 0;
}
