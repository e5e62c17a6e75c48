// Checking workflows: every problem of a file in one pass, which of them count, the order of a run.
#include "core/workflow/workflow.h"
#include "tests/unit/catalogue.h"

#include <ninodes/ctx.h>

typedef struct seen {
    char text[8192]; // "E code node.input|" or "W ..." an issue
    char message[16384];
} seen;

static void note(void *priv, const nino_issue *i)
{
    seen *s = priv;
    const size_t n = strlen(s->text), m = strlen(s->message);
    snprintf(s->text + n, sizeof(s->text) - n, "%c %s %s.%s|",
             i->severity == NINO_ISSUE_ERROR ? 'E' : 'W', i->code, i->node, i->input);
    snprintf(s->message + m, sizeof(s->message) - m, "%s|", i->message);
    CHECK(i->message[0] && !strchr(i->message, '\n'));
}

// Issues of a workflow given with ' for ".
static const char *check(const char *quoted, seen *s)
{
    static seen own;
    nino_error err = { 0 };
    char *json = strdup(quoted);
    s = s ? s : &own;
    *s = (seen){ 0 };
    for (char *c = json; *c; c++)
        if (*c == '\'')
            *c = '"';
    nino_graph *g = nino_graph_load(json, strlen(json), "test", &err);
    CHECK_OK(err.code, err);
    const size_t n = nino_graph_check(g, NULL, note, s);
    size_t errors = 0;
    for (const char *t = s->text; *t; t = strchr(t, '|') + 1)
        errors += *t == 'E';
    CHECK(n == errors);
    CHECK(nino_graph_check(g, NULL, NULL, NULL) == n); // again, and nobody listens
    nino_graph_destroy(&g);
    free(json);
    return s->text;
}

#define LOAD "'1': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'x.safetensors'}},"
#define LATENT "'2': {'class_type': 'LoadLatent', 'inputs': {'latent': 'x.latent'}},"
#define DECODE(samples)                                                                            \
    "'3': {'class_type': 'VAEDecode', 'inputs': {'samples': " samples ", 'vae': ['1', 0]}},"
#define SAVE(extra)                                                                                \
    "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['3', 0], 'filename_prefix': 'o'" extra \
    "}}"
#define FLOW(samples) "{" LOAD LATENT DECODE(samples) SAVE("") "}"

static void links(void)
{
    CHECK_STR(check(FLOW("['2', 0]"), NULL), "");
    CHECK_STR(check(FLOW("[2, 0]"), NULL), "");
    CHECK_STR(check(FLOW("['77', 0]"), NULL), "E bad_link 3.samples|");
    CHECK_STR(check(FLOW("['2', 9]"), NULL), "E bad_link 3.samples|");
    CHECK_STR(check(FLOW("['2', -1]"), NULL), "E bad_link 3.samples|");
    CHECK_STR(check(FLOW("['2', 0.5]"), NULL), "E bad_link 3.samples|");
    CHECK_STR(check(FLOW("['2', '0']"), NULL), "E bad_link 3.samples|");
    CHECK_STR(check(FLOW("['2', 0, 0]"), NULL), "E bad_link 3.samples|");
    CHECK_STR(check(FLOW("'text'"), NULL), "E bad_link 3.samples|");
    CHECK_STR(check(FLOW("['1', 0]"), NULL), "E type_mismatch 3.samples|");
    CHECK_STR(check(FLOW("['3', 0]"), NULL), "E cycle 3.|E type_mismatch 3.samples|");
    CHECK_STR(
        check("{" LOAD LATENT "'3': {'class_type': 'VAEDecode', 'inputs': {}}," SAVE("") "}", NULL),
        "E missing_input 3.samples|E missing_input 3.vae|");
    // a value that comes through a link
    CHECK_STR(
        check("{" LOAD LATENT DECODE(
                  "['2', 0]") "'5': {'class_type': 'ROCMMemoryOptimizer', 'inputs': "
                              "{'optimization_level': "
                              "'balanced', 'enable_gc': true, 'clear_cache': true, "
                              "'cleanup_frequency': 1}},"
                              "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['3', 0], "
                              "'filename_prefix': ['5', 1]}}}",
              NULL),
        "");
    CHECK_STR(
        check("{" LOAD LATENT DECODE(
                  "['2', 0]") "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['3', 0], "
                              "'filename_prefix': ['3', 0]}}}",
              NULL),
        "E type_mismatch 4.filename_prefix|");
    // reroutes
#define REROUTED(to)                                                                               \
    "{" LOAD LATENT DECODE("['r1', 0]") "'r1': {'class_type': 'Reroute', 'inputs': {'': ['r2', "   \
                                        "0]}}, 'r2': {'class_type': 'Reroute', 'inputs': {" to     \
                                        "}}," SAVE("") "}"
    CHECK_STR(check(REROUTED("'': ['2', 0]"), NULL), "");
    CHECK_STR(check(REROUTED("'': ['1', 0]"), NULL), "E type_mismatch 3.samples|");
    CHECK_STR(check(REROUTED("'': ['r1', 0]"), NULL), "E bad_link 3.samples|");
    CHECK_STR(check(REROUTED(""), NULL), "E bad_link 3.samples|");
}

static void classes(void)
{
    seen s;
    CHECK_STR(
        check("{" LOAD LATENT DECODE("['2', 0]") SAVE(
                  "") ", '9': {'class_type': 'EvilCustomNode'}, '8': {'class_type': '../../x.so'}, "
                      "'7': {'class_type': 'VAEDecod'}}",
              &s),
        "E unknown_class 9.|E unknown_class 8.|E unknown_class 7.|");
    CHECK(strstr(s.message, "did you mean VAEDecode?"));
    // known elsewhere: only counts where an output needs it
    CHECK_STR(
        check(
            "{" LOAD LATENT DECODE("['2', 0]") SAVE(
                "") ", '9': {'class_type': 'GLIGENLoader', 'inputs': {'latent_image': ['2', 0]}}}",
            NULL),
        "W unsupported_class 9.|");
    CHECK_STR(check(FLOW("['5', 0]"), NULL), "E bad_link 3.samples|");
    CHECK_STR(check("{'5': {'class_type': 'GLIGENLoader'}, " LOAD LATENT DECODE("['5', 0]")
                        SAVE("") "}",
                    NULL),
              "E unsupported_class 5.|");
    CHECK_STR(check("{'1': {'class_type': 'SaveAudioMP3', 'inputs': {'audio': ['2', 0]}}, "
                    "'2': {'class_type': 'RecordAudio'}}",
                    NULL),
              "E unsupported_class 1.|E unsupported_class 2.|");
    // a former name says so once, and its old inputs say nothing
    CHECK_STR(check("{" LOAD LATENT
                    "'3': {'class_type': 'ROCMOptimizedVAEDecodeV3', 'inputs': {'samples': "
                    "['2', 0], 'vae': ['1', 0], 'tile_size': 512, 'overlap': 64, "
                    "'use_rocm_optimizations': true, 'batch_optimization': true, "
                    "'precision_mode': 'mixed', 'temporal_consistency': true, "
                    "'video_chunk_size': 8}}," SAVE("") "}",
                    NULL),
              "W alias 3.|");
}

static void values(void)
{
    CHECK_STR(check("{" LOAD LATENT DECODE("['2', 0]") SAVE(", '_note': 'x'") "}", NULL),
              "W ignored_input 4._note|");
    CHECK_STR(check("{" LOAD LATENT "'3': {'class_type': 'VAEDecodeTiled', 'inputs': {'samples': "
                    "['2', 0], 'vae': ['1', 0], 'tile_size': 0, 'overlap': 64}}," SAVE("") "}",
                    NULL),
              "E range 3.tile_size|W missing_input 3.temporal_size|"
              "W missing_input 3.temporal_overlap|");
    seen s; // what is taken for it is told
    check("{" LOAD LATENT
          "'3': {'class_type': 'VAEDecodeTiled', 'inputs': {'samples': ['2', 0], 'vae': ['1', 0], "
          "'tile_size': 512, 'overlap': 64, 'temporal_overlap': 8}}," SAVE("") "}",
          &s);
    CHECK_STR(s.message, "not given, 64 is taken|");
    // everything at once, in file order
    CHECK_STR(
        check("{'1': {'class_type': 'VAELoader', 'inputs': {'vae_name': '../x'}},"
              "'2': {'class_type': 'EmptyLatentImage', 'inputs': {'width': -8, 'height': "
              "'tall', 'batch_size': 5000}}," DECODE(
                  "['2', 0]") "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['3', 0], "
                              "'filename_prefix': '../../etc/x'}}}",
              NULL),
        "E path 1.vae_name|E range 2.width|E value 2.height|E range 2.batch_size|"
        "E path 4.filename_prefix|");
    CHECK_STR(
        check("{'1': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'pixel_space'}}," LATENT
                  DECODE("['2', 0]") SAVE("") "}",
              NULL),
        "E value 1.vae_name|");
    CHECK_STR(check("{'1': {'class_type': 'VAELoader', 'inputs': {}}," LATENT DECODE("['2', 0]")
                        SAVE("") "}",
                    NULL),
              "E missing_input 1.vae_name|");
    // what no output needs is a warning
    CHECK_STR(
        check("{" LOAD LATENT DECODE("['2', 0]") SAVE(
                  "") ", '9': {'class_type': 'LatentUpscaleBy', 'inputs': {'samples': ['9', 0], "
                      "'upscale_method': 'x', 'scale_by': 99}}}",
              NULL),
        "W cycle 9.|W value 9.upscale_method|W range 9.scale_by|");
    CHECK_STR(check("{}", NULL), "E no_output .|");
    CHECK_STR(check("{" LATENT "'1': {'class_type': 'Note', 'inputs': {'x': 1}}}", NULL),
              "E no_output .|");
}

// What is said of many of a kind has an end.
static void many(void)
{
    nino_buf b = { 0 };
    seen s;
    nino_buf_adds(&b, "{" LOAD LATENT DECODE("['2', 0]") SAVE(""));
    for (int i = 0; i < 103; i++)
        nino_buf_addf(&b, ",'u%d':{'class_type':'VAEDecod'}", i);
    nino_buf_addc(&b, '}');
    CHECK(!b.failed);
    check(b.data, &s);
    int unknown = 0, near = 0;
    for (const char *t = s.text; (t = strstr(t, "E unknown_class")); t++)
        unknown++;
    for (const char *t = s.message; (t = strstr(t, "did you mean")); t++)
        near++;
    CHECK(unknown == 103 && near == 100); // looking for similar ones takes long
    nino_buf_clear(&b);
    nino_buf_adds(&b, "{" LOAD LATENT DECODE("['2', 0]") SAVE(""));
    b.len -= 2; // into the last node's inputs
    for (int i = 0; i < 19; i++)
        nino_buf_addf(&b, ",'i%d':%d", i, i);
    nino_buf_adds(&b, "}}}");
    check(b.data, &s);
    CHECK(strstr(s.text, "W ignored_input 4.i15|W ignored_input 4.|") && !strstr(s.text, "4.i16"));
    CHECK(strstr(s.message, "3 more inputs are ignored"));
    nino_buf_release(&b);
    // what a former class had is not worth a word; what it never had is
    CHECK_STR(check("{'1': {'class_type': 'UNETLoaderMultiGPU', 'inputs': {'unet_name': 'x', "
                    "'weight_dtype': 'default', 'device': 'a', 'virtual_device': 1, 'other': 2}}, "
                    "'2': {'class_type': 'ModelSave', 'inputs': {'model': ['1', 0], "
                    "'filename_prefix': 'x'}}}",
                    NULL),
              "W ignored_input 1.other|");
}

// A value that decides which of the others are needed: as it stands, from a constant, or not known yet.
static void switches(void)
{
#define SWITCH(value, from)                                                                        \
    "{'1': {'class_type': 'ComfySwitchNode', 'inputs': {'on_false': 1, 'on_true': 2" value         \
    "}}, '2': {'class_type': 'PreviewAny', 'inputs': {'source': ['1', 0]}}" from "}"
#define CONSTANT(inputs) ", 'c': {'class_type': 'PrimitiveBoolean', 'inputs': {" inputs "}}"
#define GIVEN ", 'switch': ['c', 0]"
    static const struct {
        const char *json;
        unsigned untaken; // a bit an input
        bool is_late;
    } rows[] = {
        { SWITCH("", ""), 2, false },
        { SWITCH(", 'switch': true", ""), 1, false },
        { SWITCH(", 'switch': 'x'", ""), 0, false },
        { SWITCH(GIVEN, CONSTANT("'value': true")), 1, false },
        { SWITCH(GIVEN, CONSTANT("'value': false")), 2, false },
        { SWITCH(GIVEN, CONSTANT("")), 2, false },
        { SWITCH(GIVEN, CONSTANT("'value': 'x'")), 0, true },
        { SWITCH(GIVEN, CONSTANT("'value': ['c', 0]")), 0, true },
        { SWITCH(GIVEN, ""), 0, true },
        { SWITCH(GIVEN, ", 'c': {'class_type': 'NoSuchClass'}"), 0, true },
        { SWITCH(GIVEN, ", 'c': {'class_type': 'PrimitiveInt', 'inputs': {'value': 1}}"), 0, true },
        { SWITCH(GIVEN, ", 'c': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'x'}}"), 0,
          true },
        { SWITCH(GIVEN, ", 'c': {'class_type': 'EmptyImage', 'inputs': {}}"), 0, true },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        nino_error err = { 0 };
        char *json = test_quoted(rows[i].json);
        nino_graph *g = nino_graph_load(json, strlen(json), "test", &err);
        CHECK_OK(g ? NINO_OK : err.code, err);
        nino_graph_check(g, NULL, NULL, NULL);
        const nino_gnode *n = &g->nodes[nino_graph_find(g, "1")];
        if (n->untaken != rows[i].untaken || n->decides_late != rows[i].is_late)
            fprintf(stderr, "row %zu: %u %d\n", i, (unsigned) n->untaken, n->decides_late);
        CHECK(n->untaken == rows[i].untaken && n->decides_late == rows[i].is_late);
        nino_graph_destroy(&g);
        free(json);
    }
}

static void order(void)
{
    // outputs in file order, each with what it needs before it; the unused node is left out
    const char *json =
        "{\"9\":{\"class_type\":\"SaveLatent\",\"inputs\":{\"samples\":[\"5\",0],"
        "\"filename_prefix\":\"a\"}},"
        "\"1\":{\"class_type\":\"EmptyLatentImage\",\"inputs\":{}},"
        "\"2\":{\"class_type\":\"EmptyLatentImage\",\"inputs\":{}},"
        "\"5\":{\"class_type\":\"LatentUpscaleBy\",\"inputs\":{\"samples\":[\"2\",0]}},"
        "\"7\":{\"class_type\":\"SaveLatent\",\"inputs\":{\"samples\":[\"2\",0]}}}";
    nino_error err = { 0 };
    nino_graph *g = nino_graph_load(json, strlen(json), "order", &err);
    CHECK(g && nino_graph_check(g, NULL, NULL, NULL) == 0);
    static const char *const want[] = { "2", "5", "9", "7" };
    CHECK(g->n_order == 4);
    for (int i = 0; i < 4; i++)
        CHECK_STR(g->nodes[g->order[i]].id, want[i]);
    nino_graph_destroy(&g);
}

// A long chain and a long circle: no recursion, no quadratic time.
static void long_ones(void)
{
    nino_error err = { 0 };
    for (int is_circle = 0; is_circle < 2; is_circle++) {
        nino_buf b = { 0 };
        seen s = { 0 };
        nino_buf_adds(&b, "{\"0\":{\"class_type\":\"EmptyLatentImage\",\"inputs\":{\"width\":64,"
                          "\"height\":64,\"batch_size\":1}}");
        for (int i = 1; i < 50000; i++)
            nino_buf_addf(&b,
                          ",\"%d\":{\"class_type\":\"LatentUpscaleBy\",\"inputs\":{\"samples\":"
                          "[\"%d\",0],\"upscale_method\":\"area\",\"scale_by\":1}}",
                          i, is_circle && i == 1 ? 49999 : i - 1);
        nino_buf_adds(&b, ",\"s\":{\"class_type\":\"SaveLatent\",\"inputs\":{\"samples\":"
                          "[\"49999\",0],\"filename_prefix\":\"x\"}}}");
        nino_graph *g = nino_graph_load(b.data, b.len, "long", &err);
        CHECK_OK(err.code, err);
        CHECK(nino_graph_check(g, NULL, note, &s) == (size_t) is_circle);
        CHECK(g->n_order == (is_circle ? 50000 : 50001));
        CHECK(!is_circle || !strncmp(s.text, "E cycle ", 8));
        nino_graph_destroy(&g);
        nino_buf_release(&b);
    }
}

static catalogue german;

static const char *to_german(const char *text)
{
    for (int i = 0; i < german.n; i++)
        if (!strcmp(german.text[i].english, text))
            return german.text[i].other;
    return text;
}

// The context of who reads another language has the messages in it.
static void language(void)
{
    static const char workflow[] =
        "{\"1\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": {\"width\": 7, \"height\": "
        "true,"
        " \"batch_size\": \"x\"}}, \"2\": {\"class_type\": \"VAEDecode\", \"inputs\": {\"samples\":"
        " [\"77\", 0]}}, \"3\": {\"class_type\": \"SaveImage\", \"inputs\": {\"images\": [\"2\", "
        "4],"
        " \"filename_prefix\": \"a\"}}, \"4\": {\"class_type\": \"VAELoader\", \"inputs\":"
        " {\"vae_name\": \"x.safetensors\"}}}";
    static const char *const said[] = { "7 liegt nicht in 16..",
                                        "ist keine ganze Zahl",
                                        "Die Verbindung führt zu einem Knoten, den es nicht gibt|",
                                        "VAE ist nicht verbunden|",
                                        "hat so viele Ausgänge: 1; verlangt ist Nummer 4|",
                                        "„x.safetensors“ ist nicht in " };
    nino_error err = { 0 };
    if (!catalogue_read(&german, "data/po/de.po", "core/")) {
        test_skip_part("German, there is no data/po");
        return;
    }
    nino_graph *g = nino_graph_load(workflow, strlen(workflow), "test", &err);
    CHECK_OK(err.code, err);
    nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = "ref", .translate = to_german };
    for (int i = 0; i < 2; i++, p.translate = NULL) {
        seen s = { 0 };
        nino_ctx *ctx = nino_ctx_create(&p, &err);
        CHECK_OK(!ctx, err);
        nino_graph_check(g, ctx, note, &s);
        nino_ctx_destroy(&ctx);
        for (size_t k = 0; k < sizeof(said) / sizeof(*said); k++)
            CHECK((strstr(s.message, said[k]) != NULL) == !i);
        CHECK((strstr(s.message, "is not connected") != NULL) == i);
    }
    nino_graph_destroy(&g);
}

int main(void)
{
    links();
    classes();
    values();
    many();
    switches();
    order();
    long_ones();
    language();
    return 0;
}
