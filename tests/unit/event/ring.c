// Event rings: order, exact loss counts, threads, names, scopes, readers that stay behind.
#include "core/base/time.h"
#include "core/event/ring.h"
#include "tests/test.h"

#include <malloc.h>

static nino_event out[NINO_RING_SIZE * 2];

static void test_off(void)
{
    nino_monitor *m = nino_monitor_create();
    CHECK(m && !nino_monitor_is_on(m));
    nino_monitor_publish(m, &(nino_event){ .kind = NINO_EV_MEM });
    CHECK(atomic_load(&m->n_rings) == 0); // not even a ring
    nino_mon_reader *r = nino_mon_reader_create(m);
    CHECK(nino_monitor_is_on(m));
    CHECK(nino_mon_reader_read(r, out, 10, NULL) == 0);
    nino_mon_reader_destroy(&r);
    CHECK(!r && !nino_monitor_is_on(m));
    nino_monitor_destroy(&m);
    CHECK(!m);
    nino_monitor_destroy(&m);
    // no monitor at all
    nino_monitor_publish(NULL, &(nino_event){ .kind = NINO_EV_MEM });
    nino_monitor_end(NULL, nino_monitor_begin(NULL, NINO_EV_JOB, "x", 0, 0));
    CHECK(nino_monitor_current(NULL) == 0 && nino_monitor_name(NULL, "a") == 0);
    CHECK_STR(nino_monitor_name_text(NULL, 3), "");
}

static void test_names(void)
{
    nino_monitor *m = nino_monitor_create();
    CHECK(nino_monitor_name(m, "") == 0 && nino_monitor_name(m, NULL) == 0);
    CHECK_STR(nino_monitor_name_text(m, 0), "");
    CHECK_STR(nino_monitor_name_text(m, 77), "");
    uint32_t id[5000];
    char text[32];
    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof(text), "name %d", i);
        id[i] = nino_monitor_name(m, text);
        CHECK(id[i] == (uint32_t) i + 1);
    }
    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof(text), "name %d", i);
        CHECK(nino_monitor_name(m, text) == id[i]);
        CHECK_STR(nino_monitor_name_text(m, id[i]), text);
    }
    CHECK(nino_monitor_name(m, "name") != id[0]); // a prefix is another name
    char longer[4000];
    memset(longer, 'a', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = 0;
    const uint32_t cut = nino_monitor_name(m, longer);
    CHECK(strlen(nino_monitor_name_text(m, cut)) == 1000 && nino_monitor_name(m, longer) == cut);
    nino_monitor_destroy(&m);
}

// Says n messages that nobody said before, and reads them; the ids of the first and the last.
static void say_messages(nino_monitor *m, nino_mon_reader *r, int first, int n, uint32_t id[2])
{
    for (int i = first; i < first + n; i++) {
        char text[64];
        nino_event ev;
        snprintf(text, sizeof(text), "a message of its own with the number %d", i);
        nino_monitor_message(m, NINO_LOG_INFO, "%s", text);
        CHECK(nino_mon_reader_read(r, &ev, 1, NULL) == 1 && ev.kind == NINO_EV_MESSAGE);
        CHECK_STR(nino_monitor_name_text(m, ev.name), text);
        id[i > first] = ev.name;
    }
}

static size_t bytes_in_use(void)
{
    const struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd; // 0 where a sanitizer has its own malloc
}

// What is said once is known for a while and then forgotten: a process that runs for weeks does not
// grow with it, and names stay to be had.
static void test_passing(void)
{
    nino_monitor *m = nino_monitor_create();
    nino_mon_reader *r = nino_mon_reader_create(m);
    uint32_t id[2], older[2];
    say_messages(m, r, 0, 30000, older);
    const size_t before = bytes_in_use();
    say_messages(m, r, 30000, 70000, id);
    const size_t after = bytes_in_use();
    printf("  70000 messages: %zd bytes more\n", (ssize_t) (after - before));
    CHECK(after < before + 65536);
    CHECK_STR(nino_monitor_name_text(m, older[1]), "");
    CHECK_STR(nino_monitor_name_text(m, id[0]), "");
    CHECK_STR(nino_monitor_name_text(m, id[1] + 1), "");
    say_messages(m, r, 100000, 8191, older);
    CHECK_STR(nino_monitor_name_text(m, id[1]), "a message of its own with the number 99999");
    say_messages(m, r, 108191, 1, older);
    CHECK_STR(nino_monitor_name_text(m, id[1]), "");
    CHECK(nino_monitor_name(m, "a name") == 1);
    nino_mon_reader_destroy(&r);
    nino_monitor_destroy(&m);
}

static void *add_names(void *m)
{
    char text[32];
    static uint32_t ids[1000];
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof(text), "shared %d", i);
        const uint32_t id = nino_monitor_name(m, text);
        CHECK_STR(nino_monitor_name_text(m, id), text);
        uint32_t none = 0;
        if (!__atomic_compare_exchange_n(&ids[i], &none, id, false, __ATOMIC_SEQ_CST,
                                         __ATOMIC_SEQ_CST))
            CHECK(none == id);
    }
    return NULL;
}

static void test_names_threads(void)
{
    nino_monitor *m = nino_monitor_create();
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        CHECK(!pthread_create(&t[i], NULL, add_names, m));
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    CHECK(nino_names_count(m->names) == 1001);
    nino_monitor_destroy(&m);
}

static void test_lost_is_exact(void)
{
    nino_monitor *m = nino_monitor_create();
    nino_mon_reader *r = nino_mon_reader_create(m);
    uint64_t lost = 0;
    for (uint32_t i = 0; i < 1000; i++)
        nino_monitor_publish(m, &(nino_event){ .t_ns = i + 1, .kind = NINO_EV_CACHE, .id = i });
    CHECK(nino_mon_reader_read(r, out, 400, &lost) == 400 && lost == 0);
    CHECK(nino_mon_reader_read(r, out + 400, 4000, &lost) == 600 && lost == 0);
    for (uint32_t i = 0; i < 1000; i++)
        CHECK(out[i].id == i && out[i].t_ns == i + 1 && out[i].kind == NINO_EV_CACHE);

    const uint32_t many = 3 * NINO_RING_SIZE + 17;
    for (uint32_t i = 0; i < many; i++)
        nino_monitor_publish(m, &(nino_event){ .t_ns = i + 1, .kind = NINO_EV_CACHE, .id = i });
    const size_t n = nino_mon_reader_read(r, out, sizeof(out) / sizeof(out[0]), &lost);
    CHECK(n + lost == many && n >= NINO_RING_SIZE / 2 && n < NINO_RING_SIZE);
    for (size_t i = 0; i < n; i++) // the newest ones, without holes
        CHECK(out[i].id == many - n + i);
    nino_mon_reader_destroy(&r);
    nino_monitor_destroy(&m);
}

enum { WRITERS = 3, EACH = 400000 };
static atomic_int running;

static void *writer(void *m)
{
    // The words of a record depend on each other: a torn copy is noticed.
    for (uint64_t i = 0; i < EACH; i++) {
        nino_event e = { .t_ns = i + 1, .kind = NINO_EV_CACHE };
        for (int k = 0; k < 5; k++)
            e.u.pad[k] = (i + 1) * (uint64_t) (k + 3);
        nino_monitor_publish(m, &e);
        if (i % 5000 == 0)
            sched_yield();
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

static void test_threads(void)
{
    nino_monitor *m = nino_monitor_create();
    nino_mon_reader *fast = nino_mon_reader_create(m), *slow = nino_mon_reader_create(m);
    atomic_store(&running, WRITERS);
    pthread_t t[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        CHECK(!pthread_create(&t[i], NULL, writer, m));
    uint64_t lost[2] = { 0, 0 }, got[2] = { 0, 0 }, last[NINO_MAX_RINGS] = { 0 };
    for (bool more = true; more;) {
        more = atomic_load(&running) > 0;
        size_t n;
        while ((n = nino_mon_reader_read(fast, out, 1000, &lost[0]))) {
            got[0] += n;
            for (size_t i = 0; i < n; i++) {
                for (int k = 0; k < 5; k++)
                    CHECK(out[i].u.pad[k] == out[i].t_ns * (uint64_t) (k + 3));
                CHECK(out[i].track < NINO_MAX_RINGS && out[i].t_ns > last[out[i].track]);
                last[out[i].track] = out[i].t_ns;
            }
        }
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(t[i], NULL);
    for (size_t n; (n = nino_mon_reader_read(fast, out, 1000, &lost[0]));)
        got[0] += n;
    for (size_t n; (n = nino_mon_reader_read(slow, out, 1000, &lost[1]));)
        got[1] += n;
    CHECK(got[0] + lost[0] == (uint64_t) WRITERS * EACH);
    CHECK(got[1] + lost[1] == (uint64_t) WRITERS * EACH && lost[1] > 0);
    CHECK(atomic_load(&m->n_rings) <= WRITERS);
    // Rings of threads that have ended are used again.
    for (int i = 0; i < 20; i++) {
        atomic_store(&running, 1);
        CHECK(!pthread_create(&t[0], NULL, writer, m));
        pthread_join(t[0], NULL);
    }
    CHECK(atomic_load(&m->n_rings) <= WRITERS);
    nino_mon_reader_destroy(&fast);
    nino_mon_reader_destroy(&slow);
    nino_monitor_destroy(&m);
}

static void test_scopes(void)
{
    nino_monitor *m = nino_monitor_create();
    const uint32_t job = nino_monitor_begin(m, NINO_EV_JOB, "job", 0, 0); // nobody listens yet
    CHECK(job && nino_monitor_current(m) == job);
    nino_mon_reader *r = nino_mon_reader_create(m);
    const uint32_t node = nino_monitor_begin(m, NINO_EV_NODE, "8 VAEDecode", 1, 3);
    const uint32_t tile = nino_monitor_begin(m, NINO_EV_TILE, "tile", 0, 4);
    nino_monitor_publish(m, &(nino_event){ .kind = NINO_EV_KERNEL, .track = 256 });
    nino_monitor_end_with(m, node, NINO_ERR_DEVICE); // ends the tile too
    CHECK(nino_monitor_current(m) == job);
    nino_monitor_end(m, node); // again: nothing
    nino_monitor_end(m, job);
    CHECK(nino_monitor_current(m) == 0);
    CHECK(nino_mon_reader_read(r, out, 100, NULL) == 6);
    CHECK(out[0].kind == NINO_EV_NODE && out[0].id == node && out[0].parent == job &&
          out[0].u.scope.arg0 == 1 && out[0].u.scope.arg1 == 3 && out[0].track == 0);
    CHECK_STR(nino_monitor_name_text(m, out[0].name), "8 VAEDecode");
    CHECK(out[1].id == tile && out[1].parent == node);
    CHECK(out[2].kind == NINO_EV_KERNEL && out[2].parent == tile && out[2].track == 256 &&
          out[2].t_ns >= out[1].t_ns);
    CHECK(out[3].kind == NINO_EV_END && out[3].id == tile && out[3].parent == node);
    CHECK(out[4].kind == NINO_EV_END && out[4].id == node && out[4].parent == job);
    CHECK(out[4].u.scope.arg0 == (uint32_t) -NINO_ERR_DEVICE);
    CHECK(out[5].id == job && out[5].parent == 0 && out[5].u.scope.arg0 == 0);

    // deeper than what is kept: still balanced
    uint32_t ids[NINO_MAX_DEPTH + 10];
    for (int i = 0; i < NINO_MAX_DEPTH + 10; i++)
        ids[i] = nino_monitor_begin(m, NINO_EV_STAGE, "deep", 0, 0);
    for (int i = NINO_MAX_DEPTH + 10; i-- > 0;)
        nino_monitor_end(m, ids[i]);
    CHECK(nino_monitor_current(m) == 0);
    CHECK(nino_mon_reader_read(r, out, 1000, NULL) == 2 * NINO_MAX_DEPTH);
    nino_mon_reader_destroy(&r);
    nino_monitor_destroy(&m);
}

// A reader that keeps the monitor on without watching, stays behind, and is followed.
static void test_behind(void)
{
    nino_monitor *m = nino_monitor_create();
    const uint32_t job = nino_monitor_begin(m, NINO_EV_JOB, "job", 0, 0); // the monitor is off
    nino_event open[8];
    uint64_t lost = 0;
    size_t n;
    nino_mon_reader *r = nino_mon_reader_create_quiet(m, open, 8, &n);
    CHECK(r && nino_monitor_is_on(m) && n == 1 && open[0].id == job);
    const uint32_t node = nino_monitor_begin(m, NINO_EV_NODE, "node", 0, 0);
    for (uint32_t i = 1; i < 100; i++)
        nino_monitor_publish(m, &(nino_event){ .kind = NINO_EV_CACHE, .u.scope.arg0 = i });
    CHECK(nino_mon_reader_read_behind(r, out, 1000, 100, &lost) == 0);
    CHECK(nino_mon_reader_read_behind(r, out, 1000, 70, &lost) == 30);
    CHECK(out[0].id == node && out[0].parent == job && out[29].u.scope.arg0 == 29);
    nino_mon_reader *f = nino_mon_reader_follow(r);
    CHECK(f && nino_mon_reader_read(f, out, 1000, &lost) == 70 && out[0].u.scope.arg0 == 30);
    CHECK(nino_mon_reader_read_behind(r, out, 1000, 69, &lost) == 1 && out[0].u.scope.arg0 == 30);
    nino_mon_reader_destroy(&r);
    CHECK(nino_monitor_is_on(m)); // for the follower
    nino_mon_reader_destroy(&f);
    CHECK(!nino_monitor_is_on(m) && !lost);
    nino_monitor_destroy(&m);
}

// For people; machines differ.
static void print_cost(void)
{
    nino_monitor *m = nino_monitor_create();
    nino_event e = { .t_ns = 1, .kind = NINO_EV_KERNEL, .track = 256, .parent = 1 };
    const int n = 2000000;
    uint64_t t0 = nino_now_ns();
    for (int i = 0; i < n; i++)
        nino_monitor_publish(m, &e);
    const double off = (double) (nino_now_ns() - t0) / n;
    nino_monitor_hold(m);
    nino_monitor_publish(m, &e);
    t0 = nino_now_ns();
    for (int i = 0; i < n; i++)
        nino_monitor_publish(m, &e);
    const double on = (double) (nino_now_ns() - t0) / n;
    printf("  publish: off %.1f ns, on %.1f ns\n", off, on);
    nino_monitor_destroy(&m);
}

int main(void)
{
    test_off();
    test_names();
    test_passing();
    test_names_threads();
    test_lost_is_exact();
    test_threads();
    test_scopes();
    test_behind();
    print_cost();
    return 0;
}
