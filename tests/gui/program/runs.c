// Kept runs: a run that ended is kept, listed, opened, compared, named and deleted; the oldest without a
// name go; what a crash or somebody else left in the folder does no harm.
// usage: runs FOLDER
#include "plot/kept_runs.h"

#include <glib/gstdio.h>

#include "settings/prefs.h"
#include "tests/gui/program/views.h"

static char *opened, *baseline;

static void on_action(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a;
    char **to = user;
    g_free(*to);
    *to = g_variant_dup_string(parameter, NULL);
}

static const char *run_name(void *priv, uint32_t id)
{
    (void) priv;
    return id == 1 ? "/somewhere/flow.json" : id ? "gemm" : "";
}

static NinoRun *test_run(guint64 seconds)
{
    NinoRun *run = nino_run_new();
    const nino_event ev[] = {
        { .t_ns = 1000000000, .kind = NINO_EV_JOB, .id = 7, .name = 1 },
        { .t_ns = 1000000100, .kind = NINO_EV_KERNEL, .track = 256, .name = 2, .parent = 7 },
        { .t_ns = 1000000000 * (1 + seconds), .kind = NINO_EV_END, .id = 7 },
    };
    nino_run_add(run, ev, G_N_ELEMENTS(ev), run_name, NULL);
    return run;
}

static void keep(guint64 seconds)
{
    g_autoptr(NinoRun) run = test_run(seconds);
    g_autoptr(GError) error = NULL;
    CHECK(nino_kept_add(run, &error) && !error);
}

static GtkListBoxRow *row(GtkWidget *view, int i)
{
    return gtk_list_box_get_row_at_index(GTK_LIST_BOX(find(view, GTK_TYPE_LIST_BOX)), i);
}

static GtkWidget *button(GtkWidget *w, const char *label)
{
    if (GTK_IS_BUTTON(w) && !g_strcmp0(gtk_button_get_label(GTK_BUTTON(w)), label))
        return w;
    GtkWidget *found = NULL;
    for (GtkWidget *c = gtk_widget_get_first_child(w); c && !found;
         c = gtk_widget_get_next_sibling(c))
        found = button(c, label);
    return found;
}

static void choose(GtkWidget *view, int a, int b)
{
    GtkListBox *list = GTK_LIST_BOX(find(view, GTK_TYPE_LIST_BOX));
    gtk_list_box_unselect_all(list);
    gtk_list_box_select_row(list, row(view, a));
    if (b >= 0)
        gtk_list_box_select_row(list, row(view, b));
}

static gboolean is_of_run(const char *path, double seconds)
{
    nino_error err;
    nino_history *h = nino_history_create(0);
    CHECK_OK(nino_history_load(h, path, &err), err);
    const double took = (double) (nino_history_end(h) - nino_history_begin(h)) * 1e-9;
    nino_history_destroy(&h);
    return took > seconds - 0.01 && took < seconds + 0.01;
}

// Which row is marked as what is shown: one, -1: none, -2: several.
static int shown(GtkWidget *view)
{
    int at = -1;
    for (int i = 0; row(view, i); i++)
        if (gtk_widget_has_css_class(GTK_WIDGET(row(view, i)), "shown"))
            at = at == -1 ? i : -2;
    return at;
}

static void test_shown(NinoRun *run, GtkWidget *view, const char *path, int at)
{
    CHECK(shown(view) == -1);
    CHECK(nino_run_load(run, path, NULL));
    CHECK(shown(view) == at);
    keep(9); // the rows are made anew
    CHECK(shown(view) == at + 1);
    nino_kept_remove(((NinoKept *) g_object_get_data(G_OBJECT(row(view, 0)), "kept"))->id);
    CHECK(shown(view) == at);
    nino_run_restart(run, 0);
    CHECK(shown(view) == -1);
}

static void test_list(NinoRun *run, GtkWidget *view)
{
    CHECK(!row(view, 0) && has_label(view, "Runs that end while"));
    CHECK(!gtk_widget_get_sensitive(button(view, "Open")));
    for (guint64 i = 1; i <= 3; i++)
        keep(i);
    CHECK(row(view, 2) && !row(view, 3)); // the list has heard of them
    CHECK(has_label(view, "flow.json") && has_label(view, "3.00 s"));
    choose(view, 0, -1); // the newest
    // 2 s, then 3 s: half as much again; of ln 2, ln 1.5 and ln 3 / 2 the median is the last
    CHECK(has_label(view, "3.00 s +50.0 %"));
    CHECK(has_label(view, "Trend of 3 runs: +73.2 % a run; too few to tell from chance"));
    g_signal_emit_by_name(button(view, "Open"), "clicked");
    CHECK(opened && is_of_run(opened, 3));
    choose(view, 2, 1);
    CHECK(!gtk_widget_get_sensitive(button(view, "Open")));
    g_signal_emit_by_name(button(view, "Compare"), "clicked");
    CHECK(is_of_run(opened, 2) && is_of_run(baseline, 1)); // the older one is the baseline
    choose(view, 0, -1);
    g_signal_emit_by_name(button(view, "Compare"), "clicked");
    CHECK(is_of_run(opened, 2) && is_of_run(baseline, 3)); // of what is shown
    test_shown(run, view, opened, 1);
}

static void test_name(GtkWidget *view)
{
    GtkWidget *entry = find(view, GTK_TYPE_ENTRY);
    choose(view, 2, -1);
    gtk_editable_set_text(GTK_EDITABLE(entry), "before the [change]=1;\xc3\xa4");
    g_signal_emit_by_name(entry, "activate");
    CHECK(has_label(view, "before the [change]=1;\xc3\xa4"));
    for (int i = 0; i < NINO_KEPT_MOST; i++)
        keep(5);
    g_autoptr(GPtrArray) list = nino_kept_list();
    CHECK(list->len == NINO_KEPT_MOST);
    const NinoKept *oldest = g_ptr_array_index(list, list->len - 1);
    CHECK_STR(oldest->name,
              "before the [change]=1;\xc3\xa4"); // stays, the others of its age are gone
    choose(view, 0, 1);
    g_signal_emit_by_name(button(view, "Delete"), "clicked");
    g_autoptr(GPtrArray) left = nino_kept_list();
    CHECK(left->len == NINO_KEPT_MOST - 2 && !row(view, NINO_KEPT_MOST - 2));
}

// A trace from elsewhere that was opened is in the list, once; one of the list is not added to it.
static void test_taken(const char *dir)
{
    g_autofree char *path = g_build_filename(dir, "other program.ninotrace", NULL);
    g_autoptr(NinoRun) run = test_run(2), again = nino_run_new();
    g_autoptr(GError) error = NULL;
    nino_error err = { 0 };
    CHECK_OK(nino_history_save(nino_run_history(run), path, &err), err);
    CHECK(nino_run_load(again, path, NULL));
    g_autoptr(GPtrArray) before = nino_kept_list();
    CHECK(nino_kept_take(again, path, &error) && !error);
    CHECK(!nino_kept_take(again, path, &error) && !error);
    g_autoptr(GPtrArray) list = nino_kept_list();
    CHECK(list->len == before->len + 1);
    const NinoKept *k = g_ptr_array_index(list, 0);
    CHECK_STR(k->title, "other program.ninotrace");
    CHECK(k->seconds > 1.9 && k->seconds < 2.1);
    g_autofree char *own = nino_kept_path(k->id);
    CHECK(!nino_kept_take(again, own, &error) && !error);
    g_autoptr(NinoRun) empty = nino_run_new();
    CHECK(!nino_kept_take(empty, "/nowhere.json", NULL));
}

// No run is lost with its row, nor with the whole list, be that damaged or out of reach for a while.
static void test_folder(void)
{
    g_autofree char *stray = nino_kept_path("17"), *ini = nino_state_path("runs/runs.ini");
    g_autofree char *other = nino_kept_path("x"), *aside = g_strconcat(ini, ".damaged", NULL);
    g_autofree char *gone = NULL, *text = NULL;
    CHECK(g_file_set_contents(stray, "x", 1, NULL) && g_file_set_contents(other, "x", 1, NULL));
    g_autoptr(GPtrArray) list = nino_kept_list();
    CHECK_STR(((NinoKept *) g_ptr_array_index(list, list->len - 1))->title, "17.ninotrace");
    CHECK(g_file_test(other, G_FILE_TEST_EXISTS)); // not ours
    gone = nino_kept_path(((NinoKept *) g_ptr_array_index(list, 0))->id);
    CHECK(!g_unlink(gone));
    g_autoptr(GPtrArray) fewer = nino_kept_list();
    CHECK(fewer->len == list->len - 1);
    nino_kept_remove("no such");
    nino_kept_rename("no such", "x");
    CHECK(g_file_set_contents(ini, "[../../etc]\ntitle=x\n[a\n", -1, NULL));
    g_autoptr(GPtrArray) anew = nino_kept_list();
    CHECK(anew->len == fewer->len);
    for (guint i = 0; i < anew->len; i++)
        CHECK_STR(((NinoKept *) g_ptr_array_index(anew, i))->id,
                  ((NinoKept *) g_ptr_array_index(fewer, i))->id);
    CHECK(g_file_get_contents(aside, &text, NULL, NULL) && strstr(text, "../../etc"));
    nino_kept_rename("17", "found again");
    // a list that cannot be read: nothing is shown, nothing is removed or written
    g_autofree char *away = g_strconcat(ini, ".away", NULL);
    CHECK(!g_rename(ini, away) && !g_mkdir(ini, 0700));
    g_autoptr(GPtrArray) none = nino_kept_list();
    CHECK(!none->len);
    g_autoptr(NinoRun) run = test_run(3);
    g_autoptr(GError) error = NULL;
    CHECK(!nino_kept_add(run, &error) && error);
    nino_kept_remove("17");
    nino_kept_rename("17", "lost");
    CHECK(!g_rmdir(ini) && !g_rename(away, ini));
    g_autoptr(GPtrArray) again = nino_kept_list();
    CHECK(again->len == fewer->len);
    CHECK_STR(((NinoKept *) g_ptr_array_index(again, again->len - 1))->name, "found again");
    nino_kept_remove("17");
    CHECK(!g_file_test(stray, G_FILE_TEST_EXISTS));
    g_autoptr(NinoRun) empty = nino_run_new();
    CHECK(!nino_kept_add(empty, NULL));
}

int main(int argc, char **argv)
{
    CHECK(argc > 1);
    if (!gtk_init_check()) {
        g_print("skip: no display\n");
        return 77;
    }
    g_setenv("XDG_STATE_HOME", argv[1], TRUE); // before it is first asked for
    g_autoptr(NinoRun) run = nino_run_new();
    GtkWidget *view, *window = show(run, "runs", &view);
    g_autoptr(GSimpleActionGroup) actions = g_simple_action_group_new();
    const char *const names[] = { "open-path", "baseline" };
    char **const to[] = { &opened, &baseline };
    for (int i = 0; i < 2; i++) {
        g_autoptr(GSimpleAction) a = g_simple_action_new(names[i], G_VARIANT_TYPE_STRING);
        g_signal_connect(a, "activate", G_CALLBACK(on_action), to[i]);
        g_action_map_add_action(G_ACTION_MAP(actions), G_ACTION(a));
    }
    gtk_widget_insert_action_group(window, "win", G_ACTION_GROUP(actions));
    test_list(run, view);
    test_name(view);
    gtk_window_destroy(GTK_WINDOW(window));
    test_taken(argv[1]);
    test_folder();
    return 0;
}
