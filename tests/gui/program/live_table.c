// The kernel table: its head, what is at its top while records come, rows by shape and by work
// size, the filter, what is written out.
#include "live/kernel_row.h"
#include "tests/gui/program/views.h"

#include <math.h>

static const char *kernel_name(void *priv, uint32_t id)
{
    static char text[16];
    (void) priv;
    g_snprintf(text, sizeof(text), "kernel %u", id);
    return id >= 3000 ? "100x1x1//7" : id >= 2000 ? "4096x2x1/64x1x1/5" : id ? text : "";
}

static void add_kernels(NinoRun *run, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        const nino_event ev[] = { { .t_ns = 1000000000 + i * 10000000ull,
                                    .kind = NINO_EV_KERNEL,
                                    .track = 256,
                                    .name = i,
                                    .id = nino_kernel_id(16, 2000),
                                    .u.kernel = { .dur_ns = i * 1000ull } },
                                  { .t_ns = 1005000000 + i * 10000000ull,
                                    .kind = NINO_EV_KERNEL,
                                    .track = 256,
                                    .name = i,
                                    .id = nino_kernel_id(16, i > 100 ? 0 : 3000),
                                    .u.kernel = { .dur_ns = i * 500ull, .shape = 1000 } } };
        nino_run_add(run, ev, 2, kernel_name, NULL);
    }
}

typedef struct Told {
    const char *column, *text; // rows with this text in the column
    int n, rows;
} Told;

static void count_told(gpointer user, const NinoCell *cells, size_t n)
{
    Told *t = user;
    t->rows++;
    for (size_t i = 0; i < n; i++)
        t->n += !strcmp(cells[i].column, t->column) && !g_strcmp0(cells[i].text, t->text);
}

static int rows_with(GtkWidget *view, const char *column, const char *text, int *rows)
{
    Told t = { .column = column, .text = text };
    nino_view_get_export(view)->rows(view, count_told, &t);
    *rows = t.rows;
    return t.n;
}

static void count_unknown(gpointer user, const NinoCell *cells, size_t n)
{
    Told *t = user;
    for (size_t i = 0; i < n; i++)
        t->n += !strcmp(cells[i].column, t->column) && isnan(cells[i].number);
}

// A row for every work size, which the filter finds; the columns are there only then. The rows that
// are written out are those that are seen.
static void check_work(GtkWidget *view, NinoRun *run)
{
    int rows;
    GtkWidget *table = find(view, GTK_TYPE_COLUMN_VIEW),
              *search = find(view, GTK_TYPE_SEARCH_ENTRY);
    GListModel *columns = gtk_column_view_get_columns(GTK_COLUMN_VIEW(table));
    g_autoptr(GtkColumnViewColumn) global = g_list_model_get_item(columns, 2);
    CHECK(!gtk_column_view_column_get_visible(global));
    CHECK(rows_with(view, "global", "", &rows) == 120 && rows == 120);
    GtkWidget *by_work = toggle_of(view, "By work size"), *by_shape = toggle_of(view, "By shape");
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(by_shape), TRUE);
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(by_work), TRUE); // the two exclude each other
    CHECK(!gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(by_shape)));
    CHECK(gtk_column_view_column_get_visible(global));
    // two sizes each, the last twenty of which do not tell the second one
    WAIT_FOR(has_label(view, "240 work sizes of kernels"));
    CHECK(rows_with(view, "global", "4096x2x1", &rows) == 120 && rows == 240);
    CHECK(rows_with(view, "local", "64x1x1", &rows) == 120);
    CHECK(rows_with(view, "local", "driver's choice", &rows) == 100);
    CHECK(rows_with(view, "local", "", &rows) == 20);
    CHECK(rows_with(view, "kernel", "kernel 7", &rows) == 2);
    Told unknown = { .column = "sigma_ns" }; // each ran once with one size
    nino_view_get_export(view)->rows(view, count_unknown, &unknown);
    CHECK(unknown.n == 240);
    CHECK(has_label(view, "4096x2x1") && has_label(view, "64x1x1"));
    CHECK(has_label(view, "driver's choice") && has_label(view, "–"));
    gtk_editable_set_text(GTK_EDITABLE(search), "64X1");
    WAIT_FOR(rows_with(view, "local", "64x1x1", &rows) == 120 && rows == 120);
    gtk_editable_set_text(GTK_EDITABLE(search), "driver");
    WAIT_FOR(rows_with(view, "local", "driver's choice", &rows) == 100 && rows == 100);
    gtk_editable_set_text(GTK_EDITABLE(search), "");
    WAIT_FOR(rows_with(view, "global", "", &rows) == 20 && rows == 240);

    // a row selects its kernel; what is opened is its own longest call
    GtkSelectionModel *model = gtk_column_view_get_model(GTK_COLUMN_VIEW(table));
    for (guint i = 0; i < 240; i++) {
        g_autoptr(GObject) row = g_list_model_get_item(G_LIST_MODEL(model), i);
        const NinoCell cell = nino_kernel_row_cell(NINO_KERNEL_ROW(row), 3);
        if (g_strcmp0(cell.text, "driver's choice") != 0)
            continue;
        gtk_selection_model_select_item(model, i, TRUE);
        CHECK(!strcmp(nino_run_name(run, nino_run_kernel(run)), "kernel 100"));
        g_signal_emit_by_name(table, "activate", i);
        CHECK(nino_run_cursor(run) >= 1005000000 + 100 * 10000000ull);
        break;
    }
    nino_run_set_kernel(run, 0);
    nino_run_set_view(run, 0, 0);
    nino_run_set_cursor(run, 0);
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(by_work), FALSE);
    CHECK(!gtk_column_view_column_get_visible(global));
    WAIT_FOR(has_label(view, "120 kernels"));
}

// Every column explains itself; who looks at the top goes on seeing what takes longest.
static void check_table(void)
{
    NinoRun *run = nino_run_new();
    add_kernels(run, 1, 41);
    GtkWidget *view, *window = show(run, "kernels", &view);
    GtkWidget *table = find(view, GTK_TYPE_COLUMN_VIEW);
    GtkWidget *head = gtk_widget_get_first_child(gtk_widget_get_first_child(table));
    guint n = 0;
    size_t m;
    for (; head; head = gtk_widget_get_next_sibling(head), n++) {
        const char *tip = gtk_widget_get_tooltip_text(head);
        CHECK(tip && strlen(tip) > 8); // of numbers it stands where they do
        CHECK((gtk_widget_get_halign(gtk_widget_get_first_child(head)) == GTK_ALIGN_END) ==
              (n != NINO_KERNEL_NAME && n != NINO_KERNEL_FAMILY));
    }
    CHECK(n == g_list_model_get_n_items(gtk_column_view_get_columns(GTK_COLUMN_VIEW(table))));
    GtkAdjustment *v = gtk_scrollable_get_vadjustment(GTK_SCROLLABLE(table));
    CHECK(gtk_adjustment_get_upper(v) > gtk_adjustment_get_page_size(v) * 1.5);
    for (uint32_t i = 41; i < 121; i += 20) {
        add_kernels(run, i, i + 20);
        spin_loop(700);
        CHECK(gtk_adjustment_get_value(v) < 1);
    }
    WAIT_FOR(has_label(view, "120 kernels"));
    GtkWidget *by_shape = toggle_of(view, "By shape");
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(by_shape), TRUE); // each ran with two
    WAIT_FOR(has_label(view, "240 shapes of kernels"));
    const nino_event *ev = nino_history_slices(nino_run_history(run), 256, &m);
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(by_shape), FALSE);
    WAIT_FOR(m == 240 && ev && has_label(view, "120 kernels"));
    check_work(view, run);
    spin_loop(100); // the rows take their places
    gtk_adjustment_set_value(v, 300);
    spin_loop(100);
    add_kernels(run, 121, 131);
    WAIT_FOR(has_label(view, "130 kernels"));
    CHECK(gtk_adjustment_get_value(v) > 200);
    gtk_window_destroy(GTK_WINDOW(window));
    g_object_unref(run);
}

int main(void)
{
    if (!gtk_init_check()) {
        g_print("skip: no display\n");
        return 77;
    }
    check_table();
    return 0;
}
