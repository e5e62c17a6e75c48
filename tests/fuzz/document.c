// The editable workflow: what is loaded can be edited, every step can be undone to the same text and
// done again, and what is written is read and written the same.
#include "tests/document.h"
#include "tests/fuzz/fuzz.h"

#include <ctype.h>

const size_t fuzz_max_len = 4096;

const char *const fuzz_words[] = {
    "\"nodes\":[",
    "\"links\":[",
    "\"groups\":[",
    "\"id\":1",
    "\"id\":2",
    "\"type\":\"KSampler\"",
    "\"type\":\"Reroute\"",
    "\"type\":\"PrimitiveNode\"",
    "\"type\":\"Note\"",
    "\"pos\":[0,0]",
    "\"size\":{\"0\":1,\"1\":2}",
    "\"mode\":4",
    "\"flags\":{\"collapsed\":true}",
    "\"widgets_values\":[",
    "\"inputs\":[{\"name\":\"a\",\"link\":1}]",
    "\"outputs\":[{\"links\":[1]}]",
    "[1,1,0,2,0,\"LATENT\"]",
    "\"definitions\":{\"subgraphs\":[",
    "\"extra\":{\"reroutes\":[{\"id\":1,\"pos\":[1,2],\"linkIds\":[1]}]}",
    "\"linkExtensions\":[{\"id\":1,\"parentId\":1}]",
    "\"proxyWidgets\":[[\"4\",\"width\"]]",
    "\"last_node_id\":",
    "\"version\":0.4",
    "\"version\":1",
    "1e999",
    "null",
    NULL
};

size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap)
{
    static const char *const seeds[] = {
        "{\"last_node_id\":3,\"last_link_id\":2,\"nodes\":[{\"id\":1,\"type\":\"EmptyLatentImage\","
        "\"pos\":[0,0],\"size\":[200,100],\"flags\":{},\"order\":0,\"mode\":0,\"inputs\":[],"
        "\"outputs\":[{\"name\":\"LATENT\",\"type\":\"LATENT\",\"links\":[1]}],\"properties\":{},"
        "\"widgets_values\":[64,32,1]},{\"id\":2,\"type\":\"LatentUpscaleBy\",\"pos\":[300,0],"
        "\"size\":[200,100],\"inputs\":[{\"name\":\"samples\",\"type\":\"LATENT\",\"link\":1}],"
        "\"outputs\":[{\"name\":\"LATENT\",\"type\":\"LATENT\",\"links\":[2]}],\"widgets_values\":"
        "[\"bilinear\",1.5]},{\"id\":3,\"type\":\"SaveLatent\",\"pos\":{\"0\":600,\"1\":0},"
        "\"inputs\":[{\"name\":\"samples\",\"type\":\"LATENT\",\"link\":2}],\"widgets_values\":"
        "[\"x\"]}],\"links\":[[1,1,0,2,0,\"LATENT\"],[2,2,0,3,0,\"LATENT\"]],\"groups\":[{"
        "\"title\":"
        "\"g\",\"bounding\":[0,0,100,100],\"color\":\"#abc\"}],\"extra\":{\"linkExtensions\":["
        "{\"id\":1,\"parentId\":1}],\"reroutes\":[{\"id\":1,\"pos\":[250,50],\"linkIds\":[1]}]},"
        "\"version\":0.4}",
        "{\"1\":{\"class_type\":\"EmptyLatentImage\",\"inputs\":{\"width\":64,\"height\":64}},"
        "\"2\":"
        "{\"class_type\":\"SaveLatent\",\"inputs\":{\"samples\":[\"1\",0]}}}",
        "{\"nodes\":[{\"id\":5,\"type\":\"S\",\"inputs\":[{\"name\":\"samples\",\"type\":"
        "\"LATENT\","
        "\"link\":null}],\"outputs\":[{\"name\":\"L\",\"type\":\"LATENT\",\"links\":[]}],"
        "\"properties\":{\"proxyWidgets\":[[\"4\",\"scale_by\"]]},\"widgets_values\":[2.5]}],"
        "\"links\":[],\"definitions\":{\"subgraphs\":[{\"id\":\"S\",\"name\":\"Sub\",\"inputs\":["
        "{\"id\":\"a\",\"name\":\"samples\",\"type\":\"LATENT\",\"linkIds\":[1]}],\"outputs\":[{"
        "\"id\":\"b\",\"name\":\"L\",\"type\":\"LATENT\",\"linkIds\":[2]}],\"nodes\":[{\"id\":4,"
        "\"type\":\"LatentUpscaleBy\",\"inputs\":[{\"name\":\"samples\",\"type\":\"LATENT\","
        "\"link\""
        ":1}],\"outputs\":[{\"name\":\"LATENT\",\"type\":\"LATENT\",\"links\":[2]}],"
        "\"widgets_values\":[\"area\",1.5]}],\"links\":[{\"id\":1,\"origin_id\":-10,\"origin_slot\""
        ":0,\"target_id\":4,\"target_slot\":0,\"type\":\"LATENT\"},{\"id\":2,\"origin_id\":4,"
        "\"origin_slot\":0,\"target_id\":-20,\"target_slot\":0,\"type\":\"LATENT\"}]}]},"
        "\"version\":1}",
    };
    return fuzz_text(seeds, sizeof(seeds) / sizeof(seeds[0]), i, buf, cap);
}

// Edits of the first nodes; false: it does not fit, and was refused.
static bool edit(nino_document *d, int round)
{
    const int n = nino_document_n_nodes(d);
    const nino_doc_node *first = n ? nino_document_node(d, round % n) : NULL;
    char *id = strdup(first ? first->id : "1");
    CHECK(id);
    const char *ids[] = { id };
    nino_error e = { 0 };
    char made[32];
    int first_made, n_made;
    switch (round) {
    case 0: nino_document_add(d, "KSampler", 10, 20, made, &e); break;
    case 1: nino_document_move(d, ids, 1, 5, -5, &e); break;
    case 2: nino_document_set_text(d, id, "width", "128", &e); break;
    case 3: nino_document_connect(d, 0, 0, n - 1, 0, &e); break;
    case 4: nino_document_set_mode(d, ids, 1, 4, &e); break;
    case 5: nino_document_make_subgraph(d, ids, 1, "made", made, &e); break;
    case 6: nino_document_unpack(d, id, &first_made, &n_made, &e); break;
    case 7: nino_document_add_reroute(d, 0, 0, 1, 2, &e); break;
    case 8: nino_document_promote(d, id, "width", true, &e); break;
    case 9: nino_document_delete(d, ids, 1, &e); break;
    }
    CHECK(!e.code || (e.msg[0] && !strchr(e.msg, '\n')));
    if (e.code)
        tell_error(&e);
    free(id);
    return !e.code;
}

// A new subgraph has a name by chance, which is left out.
static void tell_text(const char *text)
{
    static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    for (const char *c = text; *c;) {
        size_t n = 0;
        while (shape[n] && (shape[n] == '-' ? c[n] == '-' : isxdigit((unsigned char) c[n])))
            n++;
        const bool is_name = !shape[n];
        tell_bytes(is_name ? shape : c, is_name ? n : 1);
        c += is_name ? n : 1;
    }
}

static void check_steps(nino_document *d)
{
    for (int round = 0; round < 10; round++) {
        char *before = kept_text(d);
        const bool is_done = edit(d, round);
        if (!is_done)
            CHECK_STR(text_of(d), before);
        else if (strcmp(text_of(d), before) != 0)
            check_undo(d, before);
        if (is_done)
            tell_text(text_of(d));
        nino_document_seal(d);
        free(before);
    }
    while (nino_document_undo_name(d))
        OK(nino_document_undo(d, &err));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    nino_error e = { 0 };
    nino_document *d = nino_document_load(data, size, "fuzz.json", &e);
    if (!d) {
        CHECK(e.code && e.kind && e.msg[0] && !strchr(e.msg, '\n'));
        tell_error(&e);
        return 0;
    }
    char *first = kept_text(d);
    tell_text(first);
    nino_document *again = load(first);
    CHECK_STR(text_of(again), first);
    nino_document_destroy(&again);
    check_steps(d);
    CHECK_STR(text_of(d), first);
    if (nino_document_n_nodes(d) && !nino_document_enter(d, nino_document_node(d, 0)->id, &e)) {
        check_steps(d);
        OK(nino_document_leave(d, 1, &err));
        CHECK_STR(text_of(d), first);
    }
    free(first);
    nino_document_destroy(&d);
    return 0;
}
