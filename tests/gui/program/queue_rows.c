// The queue's rows: running, waiting, done, failed, cancelled and killed ones look different and say
// what they are; how long the waiting ones take is known from what they compute.
#include "engine/job_values.h"
#include "engine/queue_panel.h"

#include "tests/gui/program/loop.h"

static void add(GPtrArray *jobs, guint64 id, nino_queue_state state, gboolean lost)
{
    NinoJob *j = g_new0(NinoJob, 1);
    j->id = id;
    j->state = state;
    j->lost = lost;
    j->name = g_strdup("a.json");
    j->outputs = g_new0(char *, 1);
    g_ptr_array_add(jobs, j);
}

static GtkWidget *find(GtkWidget *w, GType type, int *nth)
{
    if (G_TYPE_CHECK_INSTANCE_TYPE(w, type) && (*nth)-- == 0)
        return w;
    for (GtkWidget *c = gtk_widget_get_first_child(w); c; c = gtk_widget_get_next_sibling(c)) {
        GtkWidget *found = find(c, type, nth);
        if (found)
            return found;
    }
    return NULL;
}

#define WORKFLOW(seed, text, steps)                                                                \
    "{\"3\": {\"class_type\": \"KSampler\", \"inputs\": {\"seed\": " seed ", \"steps\": " steps    \
    "}}, \"4\": {\"class_type\": \"CLIPTextEncode\", \"inputs\": {\"text\": \"" text "\"}}}"

// Times are learned for what is computed, not for a name: other seeds and prompts take as long, other
// steps do not.
static void check_content(NinoEngine *e, GtkWidget *panel)
{
    static const char *const text[] = { WORKFLOW("1", "a \\\"cat\\\"", "20"),
                                        WORKFLOW("2", "dogs", "20"), WORKFLOW("1", "dogs", "4") };
    NinoQueuePanel *p = NINO_QUEUE_PANEL(panel);
    GPtrArray *jobs = nino_engine_jobs(e);
    char *key[3];
    for (int i = 0; i < 3; i++)
        CHECK((key[i] = nino_queue_content(text[i], strlen(text[i]))));
    CHECK_STR(key[0], key[1]);
    CHECK(strcmp(key[0], key[2]) != 0);
    add(jobs, 100, NINO_QUEUE_DONE, FALSE);
    NinoJob *done = jobs->pdata[jobs->len - 1];
    done->started_s = 1000;
    done->ended_s = 1012;
    CHECK(!nino_queue_content("no", 2));
    nino_queue_panel_tell(p, 100, key[0]);
    g_signal_emit_by_name(e, "queue");
    CHECK(nino_queue_panel_seconds(p, key[1]) == 12);
    CHECK(nino_queue_panel_seconds(p, key[2]) != nino_queue_panel_seconds(p, key[2])); // NaN
    for (int i = 0; i < 3; i++)
        g_free(key[i]);
}

static gboolean has_text(GtkWidget *w, const char *part)
{
    if (GTK_IS_LABEL(w) && tells(gtk_label_get_text(GTK_LABEL(w)), part))
        return TRUE;
    for (GtkWidget *c = gtk_widget_get_first_child(w); c; c = gtk_widget_get_next_sibling(c))
        if (has_text(c, part))
            return TRUE;
    return FALSE;
}

// A row says what differs from the job of this name that was queued before.
static void check_differences(NinoEngine *e, GtkWidget *panel)
{
    static const char *const text[] = {
        WORKFLOW("7", "a cat", "20"), WORKFLOW("8", "a cat", "20"),
        WORKFLOW("8", "a cat beside a very small green house", "9"),
        "{\"1\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": {\"width\": 64}}}"
    };
    for (guint64 i = 0; i < G_N_ELEMENTS(text); i++) {
        add(nino_engine_jobs(e), 200 + i, NINO_QUEUE_WAITING, FALSE);
        g_autoptr(GHashTable) values = nino_job_values(text[i], strlen(text[i]));
        CHECK(values);
        nino_queue_panel_tell_values(NINO_QUEUE_PANEL(panel), 200 + i, values);
    }
    CHECK(!nino_job_values("no", 2));
    CHECK(has_text(panel, "seed 7 → 8 · waiting"));
    CHECK(has_text(panel, "steps 20 → 9, text a cat → a cat beside a very smal…"));
    CHECK(!has_text(panel, "width")); // of another workflow
}

// A job that wrote a picture shows it small, also in the row that is made anew; what no picture is shows none.
static void check_thumbs(NinoEngine *e, GtkWidget *panel, const char *picture)
{
    static const char *const outputs[] = { "a.txt", NULL, NULL };
    GPtrArray *jobs = nino_engine_jobs(e);
    const char *with[] = { outputs[0], picture, NULL };
    g_ptr_array_set_size(jobs, 0);
    add(jobs, 1, NINO_QUEUE_DONE, FALSE);
    add(jobs, 2, NINO_QUEUE_DONE, FALSE);
    for (guint i = 0; i < 2; i++) {
        NinoJob *j = jobs->pdata[i];
        g_strfreev(j->outputs);
        j->outputs = g_strdupv((char **) (i ? outputs : with));
    }
    for (int round = 0; round < 2; round++) {
        g_signal_emit_by_name(e, "queue");
        int first = 0, second = 1;
        GtkPicture *made = GTK_PICTURE(find(panel, GTK_TYPE_PICTURE, &first)),
                   *none = GTK_PICTURE(find(panel, GTK_TYPE_PICTURE, &second));
        if (!round)
            WAIT_FOR(gtk_picture_get_paintable(made));
        CHECK(gtk_picture_get_paintable(made) && !gtk_picture_get_paintable(none));
    }
    g_ptr_array_set_size(jobs, 0);
}

int main(int argc, char **argv)
{
    CHECK(argc > 1);
    gtk_init();
    NinoEngine *e = nino_engine_new();
    GtkWidget *panel = g_object_ref_sink(nino_queue_panel_new(e));
    GPtrArray *jobs = nino_engine_jobs(e);
    const char *seen[7];
    static const struct {
        nino_queue_state state;
        gboolean lost;
    } kinds[] = { { NINO_QUEUE_RUNNING, FALSE }, { NINO_QUEUE_WAITING, FALSE },
                  { NINO_QUEUE_WAITING, TRUE },  { NINO_QUEUE_DONE, FALSE },
                  { NINO_QUEUE_FAILED, FALSE },  { NINO_QUEUE_CANCELLED, FALSE } };
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        add(jobs, i + 1, kinds[i].state, kinds[i].lost);
    g_signal_emit_by_name(e, "queue");
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        int row = (int) i, first = 0;
        GtkWidget *r = find(panel, GTK_TYPE_LIST_BOX_ROW, &row);
        CHECK(r);
        GtkWidget *icon = find(r, GTK_TYPE_IMAGE, &first);
        CHECK(icon && gtk_widget_get_tooltip_text(icon));
        seen[i] = gtk_image_get_icon_name(GTK_IMAGE(icon));
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(seen[i], seen[k]) != 0);
    }
    check_content(e, panel);
    check_differences(e, panel);
    check_thumbs(e, panel, argv[1]);
    g_object_unref(panel);
    g_object_unref(e);
    return 0;
}
