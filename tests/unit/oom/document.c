// Every allocation of editing a workflow fails once: a clean "nomem", the document stays as it was,
// nothing leaks.
#include <ninodes/document.h>

#include "tests/unit/oom/arena.h"

static nino_error err;

static const char flow[] =
    "{\"nodes\": [{\"id\": 1, \"type\": \"EmptyLatentImage\", \"pos\": [1, 2], \"outputs\": "
    "[{\"name\": \"LATENT\", \"type\": \"LATENT\", \"links\": [1]}], \"widgets_values\": [64, 32, "
    "1]}, {\"id\": 2, \"type\": \"S\", \"inputs\": [{\"name\": \"samples\", \"type\": \"LATENT\", "
    "\"link\": 1}]}], \"links\": [[1, 1, 0, 2, 0, \"LATENT\"]], \"definitions\": {\"subgraphs\": "
    "[{\"id\": \"S\", \"inputs\": [{\"name\": \"samples\", \"type\": \"LATENT\", \"linkIds\": "
    "[1]}], \"outputs\": [], \"nodes\": [{\"id\": 4, \"type\": \"LatentUpscaleBy\", \"inputs\": "
    "[{\"name\": \"samples\", \"type\": \"LATENT\", \"link\": 1}], \"widgets_values\": "
    "[\"bilinear\", 1.5]}], \"links\": [{\"id\": 1, \"origin_id\": -10, \"origin_slot\": 0, "
    "\"target_id\": 4, \"target_slot\": 0}]}]}}";
static const char api[] =
    "{\"1\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": {\"width\": 64}}, \"2\": "
    "{\"class_type\": \"Other\", \"inputs\": {\"x\": [\"1\", 0], \"y\": 3}}}";

// what editors of today write beside it: names of values, values shown from inside, a folder in a file's name
static const char today[] =
    "{\"nodes\": [{\"id\": 1, \"type\": \"LoadImage\", \"widgets_values\": [\"a\\\\b.png\", "
    "\"image\"]}, {\"id\": 2, \"type\": \"ResizeImageMaskNode\", \"widgets_values\": [\"scale "
    "dimensions\", 8, 8, \"center\", \"area\"], \"widgets_values_named\": {\"resize_type\": "
    "\"scale "
    "dimensions\", \"resize_type.width\": 8, \"resize_type.height\": 8, \"resize_type.crop\": "
    "\"center\", \"scale_method\": \"area\"}}, {\"id\": 9, \"type\": \"S\", \"properties\": "
    "{\"proxyWidgets\": [[\"-1\", \"method\"], [\"4\", \"scale_by\"]]}, \"inputs\": [{\"name\": "
    "\"method\", \"type\": \"COMBO\", \"link\": null, \"widget\": {\"name\": \"method\"}}], "
    "\"widgets_values\": [\"area\", 2], \"widgets_values_named\": {\"method\": \"area\", "
    "\"scale_by\": 2}}], \"links\": [], \"definitions\": {\"subgraphs\": [{\"id\": \"S\", "
    "\"inputs\": [{\"name\": \"method\", \"type\": \"COMBO\", \"linkIds\": [1]}], \"outputs\": [], "
    "\"nodes\": [{\"id\": 4, \"type\": \"LatentUpscaleBy\", \"inputs\": [{\"name\": "
    "\"upscale_method\", \"type\": \"COMBO\", \"link\": 1, \"widget\": {\"name\": "
    "\"upscale_method\"}}], \"widgets_values\": [\"bilinear\", 1.5]}], \"links\": [{\"id\": 1, "
    "\"origin_id\": -10, \"origin_slot\": 0, \"target_id\": 4, \"target_slot\": 0}]}]}}";
static const char *base = flow; // what is changed

static nino_document *load(const char *json)
{
    const long at = oom_pause();
    nino_document *d = nino_document_load(json, strlen(json), "flow.json", &err);
    CHECK(d);
    oom_resume(at);
    return d;
}

// A failed call says so; what it was about to change is as before.
static bool done(nino_document *d, nino_status st, int may_fail)
{
    if (!st)
        return true;
    CHECK(may_fail && oom.fired);
    CHECK(st == NINO_ERR_NOMEM && err.code == NINO_ERR_NOMEM);
    const long at = oom_pause();
    size_t len = 0;
    const char *text = nino_document_ui_json(d, &len);
    CHECK(text && len == strlen(base) && !memcmp(text, base, len));
    CHECK(!nino_document_is_changed(d) || nino_document_redo_name(d));
    oom.at = at;
    return false;
}

static void test_load(int may_fail)
{
    static const char *const texts[] = { flow, api, today };
    for (int i = 0; i < 3; i++) {
        nino_document *d = nino_document_load(texts[i], strlen(texts[i]), "flow.json", &err);
        CHECK(d || (may_fail && err.code == NINO_ERR_NOMEM));
        // what is shown is what the file says, or the document is not there
        const nino_doc_node *n = d && i == 2 ? nino_document_node(d, 0) : NULL;
        CHECK(!n || (n->n_widgets == 1 && !strcmp(n->widgets[0].text, "a/b.png")));
        n = d && i == 2 ? nino_document_node(d, 2) : NULL;
        CHECK(!n || (n->n_widgets == 2 && !strcmp(n->widgets[0].text, "area") &&
                     n->widgets[0].param && !strcmp(n->widgets[1].text, "2")));
        if (d && !nino_document_json(d, NULL, &err))
            CHECK(may_fail && err.code == NINO_ERR_NOMEM);
        if (d && !nino_document_api_json(d, NULL, &err))
            CHECK(may_fail && err.code == NINO_ERR_NOMEM);
        nino_document_destroy(&d);
    }
}

static nino_status add(nino_document *d)
{
    return nino_document_add(d, "KSampler", 0, 0, NULL, &err);
}
static nino_status set(nino_document *d)
{
    return nino_document_set_text(d, "1", "width", "128", &err);
}
static nino_status cut(nino_document *d) { return nino_document_disconnect(d, 1, 0, &err); }
static nino_status bend(nino_document *d) { return nino_document_add_reroute(d, 0, 0, 1, 2, &err); }
static nino_status drop(nino_document *d)
{
    return nino_document_delete(d, (const char *[]){ "1", "2" }, 2, &err);
}
static nino_status group(nino_document *d)
{
    return nino_document_add_group(d, "G", 0, 0, 9, 9, &err);
}
static nino_status color(nino_document *d)
{
    return nino_document_set_color(d, (const char *[]){ "1" }, 1, "#123", "#456", &err);
}

static nino_status paste(nino_document *d)
{
    char *clip = nino_document_copy(d, (const char *[]){ "2" }, 1, &err);
    const nino_status st =
        clip ? nino_document_paste(d, clip, strlen(clip), 5, 5, true, NULL, NULL, &err) : err.code;
    free(clip);
    return st;
}

static nino_status convert(nino_document *d)
{
    return nino_document_make_subgraph(d, (const char *[]){ "2" }, 1, "S", NULL, &err);
}
static nino_status unpack(nino_document *d)
{
    return nino_document_unpack(d, "2", NULL, NULL, &err);
}

static nino_status rename_port(nino_document *d)
{
    return nino_document_rename_port(d, 1, false, 0, "picture", &err);
}
static nino_status remove_port(nino_document *d)
{
    return nino_document_remove_port(d, 1, false, 0, &err);
}
static nino_status add_port(nino_document *d)
{
    const nino_status st = nino_document_enter(d, "2", &err);
    return st ? st : nino_document_add_port(d, 0, false, 1, &err);
}
static nino_status promote(nino_document *d)
{
    nino_status st = nino_document_enter(d, "2", &err);
    if (!st)
        st = nino_document_promote(d, "4", "scale_by", true, &err);
    return st;
}

static nino_status form(nino_document *d)
{
    static const nino_doc_form_input in[] = { { "2", "scale_method" }, { "9", "scale_by" } };
    return nino_document_set_form_inputs(d, in, 2, true, &err);
}
static nino_status choose(nino_document *d)
{
    return nino_document_set_text(d, "2", "resize_type", "scale by multiplier", &err);
}
static nino_status set_shown(nino_document *d)
{
    return nino_document_set_text(d, "9", "scale_by", "3", &err);
}
static nino_status set_own(nino_document *d)
{
    return nino_document_set_text(d, "9", "method", "bicubic", &err);
}
static nino_status demote(nino_document *d)
{
    return nino_document_demote(d, "9", "scale_by", &err);
}

// Two changes as one: the second may fail after the first went well.
static nino_status both(nino_document *d)
{
    nino_document_begin(d, "Both");
    nino_status st = color(d);
    if (!st)
        st = cut(d);
    if (st)
        nino_document_cancel(d);
    return st ? st : nino_document_end(d, &err);
}

static nino_status (*change)(nino_document *d);

static void test_change(int may_fail)
{
    nino_document *d = load(base);
    if (done(d, change(d), may_fail)) {
        const nino_status st = nino_document_undo(d, &err);
        CHECK(!st || (may_fail && st == NINO_ERR_NOMEM));
        if (!st && done(d, NINO_OK, may_fail)) {
            const nino_status again = nino_document_redo(d, &err);
            done(d, again, may_fail);
        }
    }
    nino_document_destroy(&d);
}

static void test_subgraph(int may_fail)
{
    nino_document *d = load(flow);
    nino_status st = nino_document_enter(d, "2", &err);
    if (done(d, st, may_fail)) {
        st = nino_document_set_text(d, "4", "scale_by", "2", &err);
        if (done(d, st, may_fail))
            st = nino_document_leave(d, 1, &err);
        CHECK(!st || may_fail);
    }
    nino_document_destroy(&d);
}

static void test_new(int may_fail)
{
    nino_document *d = nino_document_new(&err);
    CHECK(d || (may_fail && err.code == NINO_ERR_NOMEM));
    CHECK(!d || (!nino_document_is_changed(d) && !nino_document_n_nodes(d)));
    nino_document_destroy(&d);
}

int main(void)
{
    static nino_status (*const changes[])(nino_document *) = {
        add,  set,     cut,    bend,        drop,        group,    color,  paste,
        both, convert, unpack, rename_port, remove_port, add_port, promote
    };
    static nino_status (*const todays[])(nino_document *) = { form, choose, set_shown, set_own,
                                                              demote };
    oom_each(test_load);
    oom_each(test_new);
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        change = changes[i];
        oom_each(test_change);
    }
    oom_each(test_subgraph);
    base = today;
    for (size_t i = 0; i < sizeof(todays) / sizeof(todays[0]); i++) {
        change = todays[i];
        oom_each(test_change);
    }
    return 0;
}
