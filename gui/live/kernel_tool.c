// Pages of text that `ninodes kernel` prints. What has been asked is kept while the kernel stays the same;
// the child ends when another is chosen or the page goes.
#include "live/kernel_tool.h"

#include <signal.h>

#include "base/child.h"
#include "base/i18n.h"
#include "base/tokens.h"
#include "base/places.h"

enum { MAX_TOOLS = 4 };

typedef struct Page {
    const NinoKernelTool *tools;
    char *kernel, *program, *call, *device;
    GtkWidget *box, *bar, *button[MAX_TOOLS], *status;
    GtkTextView *text;
    GSubprocess *child; // NULL: nothing is asked
    GCancellable *cancellable;
    gboolean is_asking, is_busy, has_asked;
    void (*watch)(GtkWidget *to, const char *text);
    GtkWidget *watcher; // it lives as long as the page
} Page;

static void stop(Page *p)
{
    g_cancellable_cancel(p->cancellable); // no answer comes any more
    g_clear_object(&p->cancellable);
    if (p->child)
        nino_child_signal(p->child, SIGKILL);
    g_clear_object(&p->child);
}

static void page_free(gpointer user)
{
    Page *p = user;
    stop(p);
    g_free(p->kernel);
    g_free(p->program);
    g_free(p->call);
    g_free(p->device);
    g_free(p);
}

// What is asked needs the program, or the call.
static const char *told_for(const Page *p)
{
    const char *option = p->tools[0].option;
    const gboolean needs_call = !strcmp(option, "--replay") || !strcmp(option, "--sweep");
    return needs_call ? p->call : p->program;
}

static void page_update(Page *p)
{
    const gboolean is_told = p->kernel && *told_for(p);
    for (int i = 0; i < MAX_TOOLS && p->tools[i].label; i++)
        gtk_widget_set_sensitive(p->button[i],
                                 is_told && !p->child && (p->is_asking || !p->is_busy));
    if (!p->kernel)
        gtk_label_set_text(GTK_LABEL(p->status), _("Choose a kernel"));
    else if (!is_told)
        gtk_label_set_text(GTK_LABEL(p->status),
                           _("The run does not tell what this kernel was compiled from and called "
                             "with: it is a kernel of another program, or a run of an older one"));
    else if (p->child)
        gtk_label_set_text(GTK_LABEL(p->status), _("Asking…"));
    else if (p->is_busy && !p->is_asking)
        gtk_label_set_text(GTK_LABEL(p->status),
                           _("A job runs: the two would slow each other down"));
    else
        gtk_label_set_text(GTK_LABEL(p->status), "");
    gtk_widget_set_visible(p->bar, !p->is_asking || *gtk_label_get_text(GTK_LABEL(p->status)));
}

// The kernel's definition, after all that it uses, is what one wants to see of a source.
static void show_definition(Page *p, const char *text)
{
    GtkTextBuffer *buffer = gtk_text_view_get_buffer(p->text);
    GtkTextIter at;
    g_autofree char *name = g_regex_escape_string(p->kernel, -1);
    g_autofree char *pattern = g_strdup_printf("^[^/\n]*(kernel|KERNEL)\\b.*\\b%s *\\(", name);
    g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_MULTILINE, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    int from = 0;
    if (regex && g_regex_match(regex, text, 0, &match))
        g_match_info_fetch_pos(match, 0, &from, NULL);
    gtk_text_buffer_get_iter_at_offset(buffer, &at,
                                       (int) g_utf8_pointer_to_offset(text, text + from));
    gtk_text_buffer_place_cursor(buffer, &at);
    gtk_text_view_scroll_to_mark(p->text, gtk_text_buffer_get_insert(buffer), 0, TRUE, 0, 0);
}

static void page_show(Page *p, const char *text)
{
    gtk_text_buffer_set_text(gtk_text_view_get_buffer(p->text), text, -1);
    if (p->watch)
        p->watch(p->watcher, text);
}

void nino_kernel_tool_watch(GtkWidget *page, void (*fn)(GtkWidget *to, const char *text),
                            GtkWidget *to)
{
    Page *p = g_object_get_data(G_OBJECT(page), "page");
    p->watch = fn;
    p->watcher = to;
}

static void on_answer(GObject *child, GAsyncResult *result, gpointer user)
{
    g_autofree char *out = NULL, *said = NULL;
    g_autoptr(GError) error = NULL;
    g_subprocess_communicate_utf8_finish(G_SUBPROCESS(child), result, &out, &said, &error);
    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        return; // the page is gone, or about another kernel
    Page *p = user;
    const char *text = error ? error->message : out && *out ? out : said ? said : "";
    page_show(p, text);
    show_definition(p, text);
    g_clear_object(&p->child);
    page_update(p);
}

static void ask(Page *p, const char *option)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *program = nino_place_of_command();
    const char *argv[] = { program ? program : "ninodes",
                           "kernel",
                           p->kernel,
                           "-q",
                           option,
                           "--program",
                           p->program,
                           "--call",
                           p->call,
                           p->device ? "--device" : NULL,
                           p->device,
                           NULL };
    stop(p);
    p->has_asked = TRUE;
    p->child = g_subprocess_newv(
        argv, G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error);
    if (p->child) {
        p->cancellable = g_cancellable_new();
        g_subprocess_communicate_utf8_async(p->child, NULL, p->cancellable, on_answer, p);
    } else {
        page_show(p, error->message);
    }
    page_update(p);
}

static void on_tool(GtkWidget *button, Page *p)
{
    for (int i = 0; i < MAX_TOOLS && p->tools[i].label; i++)
        if (p->button[i] == button)
            ask(p, p->tools[i].option);
}

static void on_tool_map(Page *p)
{
    if (p->is_asking && !p->has_asked && p->kernel && *told_for(p))
        ask(p, p->tools[0].option);
}

static gboolean is_told_same(const Page *p, const char *kernel, const char *program,
                             const char *call, const char *device)
{
    return !g_strcmp0(p->kernel, kernel) && !g_strcmp0(p->program, program) &&
           !g_strcmp0(p->call, call) && !g_strcmp0(p->device, device);
}

void nino_kernel_tool_set(GtkWidget *page, const char *kernel, const char *program,
                          const char *call, const char *device)
{
    Page *p = g_object_get_data(G_OBJECT(page), "page");
    if (is_told_same(p, kernel, program, call, device))
        return;
    stop(p);
    g_free(p->kernel);
    g_free(p->program);
    g_free(p->call);
    g_free(p->device);
    p->kernel = g_strdup(kernel);
    p->program = g_strdup(program ? program : "");
    p->call = g_strdup(call ? call : "");
    p->device = g_strdup(device);
    p->has_asked = FALSE;
    page_show(p, "");
    page_update(p);
    if (gtk_widget_get_mapped(page))
        on_tool_map(p);
}

void nino_kernel_tool_set_busy(GtkWidget *page, gboolean is_busy)
{
    Page *p = g_object_get_data(G_OBJECT(page), "page");
    if (p->is_busy == is_busy)
        return;
    p->is_busy = is_busy;
    page_update(p);
}

GtkWidget *nino_kernel_tool_new(const NinoKernelTool *tools, const char *name, gboolean is_asking)
{
    Page *p = g_new0(Page, 1);
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S);
    p->tools = tools;
    p->is_asking = is_asking;
    p->program = g_strdup("");
    p->call = g_strdup("");
    p->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    for (int i = 0; i < MAX_TOOLS && tools[i].label; i++) {
        p->button[i] = gtk_button_new_with_label(_(tools[i].label));
        gtk_widget_set_tooltip_text(p->button[i], _(tools[i].help));
        g_signal_connect(p->button[i], "clicked", G_CALLBACK(on_tool), p);
        gtk_box_append(GTK_BOX(bar), p->button[i]);
        gtk_widget_set_visible(p->button[i], !is_asking);
    }
    p->status = gtk_label_new("");
    gtk_label_set_wrap(GTK_LABEL(p->status), TRUE);
    gtk_label_set_xalign(GTK_LABEL(p->status), 0);
    gtk_widget_add_css_class(p->status, "dim-label");
    gtk_widget_add_css_class(bar, "strip");
    gtk_box_append(GTK_BOX(bar), p->status);
    p->bar = bar;
    p->text = GTK_TEXT_VIEW(gtk_text_view_new());
    gtk_text_view_set_editable(p->text, FALSE);
    gtk_text_view_set_accepts_tab(p->text, FALSE);
    gtk_widget_add_css_class(GTK_WIDGET(p->text), "log");
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->text), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                   -1);
    GtkWidget *scroll = gtk_scrolled_window_new();
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), GTK_WIDGET(p->text));
    gtk_widget_set_vexpand(scroll, TRUE);
    gtk_box_append(GTK_BOX(p->box), bar);
    gtk_box_append(GTK_BOX(p->box), scroll);
    g_object_set_data_full(G_OBJECT(p->box), "page", p, page_free);
    g_signal_connect_swapped(p->box, "map", G_CALLBACK(on_tool_map), p);
    page_update(p);
    return p->box;
}
