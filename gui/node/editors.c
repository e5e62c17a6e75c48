// Editors are plain widgets with a record behind them; which one a value gets is decided here and
// nowhere else. Seeds are entries: a spin button counts in doubles, which cannot hold 64 bits.
#include "node/editors.h"

#include "node/choice.h"
#include "node/folders.h"
#include "node/input_file.h"
#include "node/note.h"
#include "base/i18n.h"
#include "base/tokens.h"

#include <math.h>
#include <string.h>

typedef struct Editor {
    char *name;
    const nino_param *param;
    nino_doc_widget_kind kind;
    NinoEditFn fn;
    gpointer user;
    gboolean is_updating, is_control;
    GtkWidget *input; // spin, entry, text view, check or choice
    GtkWidget *scale; // forms only
} Editor;

static Editor *editor_of(GtkWidget *w) { return g_object_get_data(G_OBJECT(w), "nino-editor"); }

static void editor_free(gpointer p)
{
    Editor *e = p;
    g_free(e->name);
    g_free(e);
}

static void editors_report(Editor *e, const char *text)
{
    if (e->fn && !e->is_updating)
        e->fn(e->user, e->name, e->is_control ? NINO_EDIT_CONTROL : NINO_EDIT_VALUE, text);
}

static void on_editors_leave(GtkEventControllerFocus *focus, gpointer user)
{
    Editor *e = user;
    (void) focus;
    if (e->fn)
        e->fn(e->user, e->name, NINO_EDIT_DONE, NULL);
}

// ---- numbers ---------------------------------------------------------------------------------

static int digits_of(const nino_param *p)
{
    int digits = 0;
    double step = p && p->step.f > 0 ? p->step.f : 0.01;
    for (; digits < 6 && fabs(step - rint(step)) > 1e-9; digits++)
        step *= 10;
    return MAX(digits, 1);
}

static void print_number(const Editor *e, double v, char text[G_ASCII_DTOSTR_BUF_SIZE])
{
    if (e->kind == NINO_WIDGET_INT) {
        g_snprintf(text, G_ASCII_DTOSTR_BUF_SIZE, "%.0f", v);
        return;
    }
    v = rint(v * 1e9) / 1e9; // what a person can have typed
    g_ascii_formatd(text, G_ASCII_DTOSTR_BUF_SIZE, "%.12g", v);
}

static void on_spin(GtkSpinButton *spin, gpointer user)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    print_number(user, gtk_spin_button_get_value(spin), text);
    editors_report(user, text);
}

// The text is the value: as many digits as it has, the same in every locale.
static gboolean on_editors_output(GtkSpinButton *spin, gpointer user)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    print_number(user, gtk_spin_button_get_value(spin), text);
    if (strcmp(text, gtk_editable_get_text(GTK_EDITABLE(spin))) != 0)
        gtk_editable_set_text(GTK_EDITABLE(spin), text);
    return TRUE;
}

static int on_input(GtkSpinButton *spin, double *value, gpointer user)
{
    char *end = NULL;
    const char *text = gtk_editable_get_text(GTK_EDITABLE(spin));
    (void) user;
    *value = g_strtod(text, &end); // with either decimal mark
    return end != text && !*end ? TRUE : GTK_INPUT_ERROR;
}

static void range_of(const nino_param *p, double *lo, double *hi, double *step)
{
    *lo = -1e15;
    *hi = 1e15;
    *step = 1;
    if (p && p->type == NINO_INT) {
        *lo = (double) p->min.i;
        *hi = (double) p->max.i;
        *step = p->step.i > 0 ? (double) p->step.i : 1;
    } else if (p && p->type == NINO_FLOAT) {
        *lo = p->min.f;
        *hi = p->max.f;
        *step = p->step.f > 0 ? p->step.f : 0.01;
    } else {
        *step = 0.01;
    }
}

static GtkWidget *new_spin(Editor *e)
{
    double lo, hi, step;
    range_of(e->param, &lo, &hi, &step);
    if (e->kind == NINO_WIDGET_INT && !e->param)
        step = 1;
    GtkAdjustment *a = gtk_adjustment_new(lo, lo, hi, step, step * 10, 0);
    GtkWidget *spin =
        gtk_spin_button_new(a, step, e->kind == NINO_WIDGET_INT ? 0 : (guint) digits_of(e->param));
    gtk_spin_button_set_numeric(GTK_SPIN_BUTTON(spin), FALSE);
    gtk_editable_set_width_chars(GTK_EDITABLE(spin), 4);
    gtk_editable_set_max_width_chars(GTK_EDITABLE(spin), 8);
    g_signal_connect(spin, "output", G_CALLBACK(on_editors_output), e);
    g_signal_connect(spin, "input", G_CALLBACK(on_input), e);
    g_signal_connect(spin, "value-changed", G_CALLBACK(on_spin), e);
    return spin;
}

// A slider needs their room, and does what they do.
static void hide_buttons(GtkWidget *spin)
{
    for (GtkWidget *w = gtk_widget_get_first_child(spin); w; w = gtk_widget_get_next_sibling(w))
        if (GTK_IS_BUTTON(w))
            gtk_widget_set_visible(w, FALSE);
}

// A form has room for a slider beside the number, where the table gives it a narrow range.
static GtkWidget *new_slider(Editor *e)
{
    const nino_param *p = e->param;
    const gboolean is_int = p->type == NINO_INT;
    const double lo = is_int ? (double) p->ui_min.i : p->ui_min.f;
    const double hi = is_int ? (double) p->ui_max.i : p->ui_max.f;
    GtkWidget *scale = gtk_scale_new(GTK_ORIENTATION_HORIZONTAL, NULL);
    GtkAdjustment *a = gtk_spin_button_get_adjustment(GTK_SPIN_BUTTON(e->input));
    GtkAdjustment *own = gtk_adjustment_new(lo, lo, hi, gtk_adjustment_get_step_increment(a),
                                            gtk_adjustment_get_page_increment(a), 0);
    gtk_range_set_adjustment(GTK_RANGE(scale), own);
    g_object_bind_property(a, "value", own, "value",
                           G_BINDING_BIDIRECTIONAL | G_BINDING_SYNC_CREATE);
    gtk_widget_set_hexpand(scale, TRUE);
    gtk_widget_set_size_request(scale, 120, -1); // a shorter one has no way to go
    gtk_editable_set_max_width_chars(GTK_EDITABLE(e->input), 6);
    hide_buttons(e->input);
    return scale;
}

static gboolean has_slider(const nino_param *p)
{
    return p && ((p->type == NINO_INT && p->ui_max.i > p->ui_min.i) ||
                 (p->type == NINO_FLOAT && p->ui_max.f > p->ui_min.f));
}

// ---- texts -----------------------------------------------------------------------------------

static gboolean is_number_text(const char *s)
{
    return *s && strspn(s, "0123456789") == strlen(s) && strlen(s) <= 20;
}

static void on_entry(GtkEditable *entry, gpointer user)
{
    Editor *e = user;
    const char *text = gtk_editable_get_text(entry);
    if (e->kind == NINO_WIDGET_INT && !is_number_text(text))
        return; // not yet a number
    editors_report(e, text);
}

static void on_editors_text(GtkTextBuffer *buffer, gpointer user)
{
    GtkTextIter from, to;
    gtk_text_buffer_get_bounds(buffer, &from, &to);
    g_autofree char *text = gtk_text_buffer_get_text(buffer, &from, &to, FALSE);
    editors_report(user, text);
}

static GtkWidget *new_text(Editor *e, GtkWidget **outer)
{
    GtkWidget *view = gtk_text_view_new();
    gtk_text_view_set_wrap_mode(GTK_TEXT_VIEW(view), GTK_WRAP_WORD_CHAR);
    gtk_text_view_set_accepts_tab(GTK_TEXT_VIEW(view), FALSE); // Tab leaves, as everywhere
    gtk_text_view_set_left_margin(GTK_TEXT_VIEW(view), 6);
    gtk_text_view_set_right_margin(GTK_TEXT_VIEW(view), 6);
    gtk_text_view_set_top_margin(GTK_TEXT_VIEW(view), 3);
    *outer = gtk_scrolled_window_new();
    gtk_scrolled_window_set_has_frame(GTK_SCROLLED_WINDOW(*outer), TRUE);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(*outer), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(*outer), view);
    g_signal_connect(gtk_text_view_get_buffer(GTK_TEXT_VIEW(view)), "changed",
                     G_CALLBACK(on_editors_text), e);
    return view;
}

gboolean nino_editor_is_multiline(const nino_doc_widget *w)
{
    return w->param
               ? w->param->type == NINO_STRING && w->param->multiline
               : w->kind == NINO_WIDGET_STRING &&
                     (strchr(w->text, '\n') || strlen(w->text) > 80 || !strcmp(w->name, "text"));
}

// ---- choices ---------------------------------------------------------------------------------

static char **editors_choices_of(gpointer user)
{
    static const char *const controls[] = { "fixed", "increment", "decrement", "randomize", NULL };
    const Editor *e = user;
    if (e->is_control)
        return g_strdupv((char **) controls);
    if (e->param && e->param->type == NINO_FILE)
        return nino_folders_files(e->param->folder, e->param->extra);
    return e->param && e->param->names ? g_strdupv((char **) e->param->names) : NULL;
}

static void on_editors_choice(gpointer user, const char *text) { editors_report(user, text); }

// ---- files from elsewhere --------------------------------------------------------------------

static void on_browsed(gpointer user, const char *value, const char *error)
{
    Editor *e = user;
    if (error && e->fn)
        e->fn(e->user, e->name, NINO_EDIT_REFUSED, error);
    else if (!error)
        editors_report(e, value);
    if (!error)
        nino_choice_set_text(e->input, value);
}

static void on_browse(GtkWidget *button, gpointer user)
{
    Editor *e = user;
    nino_input_browse(button, e->param, on_browsed, e);
}

static gboolean on_editors_drop(GtkDropTarget *target, const GValue *value, double x, double y,
                                gpointer user)
{
    Editor *e = user;
    const GSList *files = g_value_get_boxed(value);
    g_autofree char *path = files ? g_file_get_path(files->data) : NULL;
    g_autoptr(GError) error = NULL;
    g_autofree char *name = path ? nino_input_take(path, &error) : NULL;
    g_autofree char *text = name ? nino_input_value(e->param, name) : NULL;
    (void) target, (void) x, (void) y;
    if (path)
        on_browsed(e, text, error ? error->message : NULL);
    return path != NULL;
}

static void on_mask(GtkWidget *button, gpointer user)
{
    Editor *e = user;
    const nino_doc_widget w = { .param = e->param, .text = nino_choice_get_text(e->input) };
    nino_input_edit_mask(button, &w, on_browsed, e);
}

static void add_file_button(Editor *e, GtkWidget *box, const char *icon, const char *name,
                            const char *tip, void (*clicked)(GtkWidget *, gpointer))
{
    GtkWidget *button = gtk_button_new_from_icon_name(icon);
    gtk_widget_set_tooltip_text(button, tip);
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    gtk_widget_add_css_class(button, "browse");
    g_signal_connect(button, "clicked", G_CALLBACK(clicked), e);
    gtk_box_append(GTK_BOX(box), button);
}

// On a node the whole node takes what is dropped.
static GtkWidget *with_file_buttons(Editor *e, GtkWidget *choice, gboolean compact)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, compact ? 2 : 8);
    gtk_widget_set_hexpand(choice, TRUE);
    gtk_box_append(GTK_BOX(box), choice);
    add_file_button(e, box, "document-open-symbolic", _("Choose a file"),
                    _("Choose a file of this computer"), on_browse);
    if (nino_input_has_mask(e->param))
        add_file_button(e, box, "document-edit-symbolic", _("Paint the mask"),
                        _("Paint the picture's mask"), on_mask);
    if (compact)
        return box;
    GtkDropTarget *drop = gtk_drop_target_new(GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);
    g_signal_connect(drop, "drop", G_CALLBACK(on_editors_drop), e);
    gtk_widget_add_controller(box, GTK_EVENT_CONTROLLER(drop));
    return box;
}

static void on_editors_check(GtkCheckButton *check, gpointer user)
{
    editors_report(user, gtk_check_button_get_active(check) ? "true" : "false");
}

// ---- making ----------------------------------------------------------------------------------

static GtkWidget *editors_make_input(Editor *e, const nino_doc_widget *w, gboolean compact,
                                     GtkWidget **outer)
{
    const gboolean is_seed =
        e->param ? e->param->type == NINO_SEED : w->control && w->kind == NINO_WIDGET_INT;
    GtkWidget *entry;
    if ((e->kind == NINO_WIDGET_INT || e->kind == NINO_WIDGET_FLOAT) && !is_seed) {
        e->input = new_spin(e);
        if (compact || !has_slider(e->param))
            return e->input;
        e->scale = new_slider(e);
        *outer = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S);
        gtk_box_append(GTK_BOX(*outer), e->scale);
        gtk_box_append(GTK_BOX(*outer), e->input);
        return e->input;
    }
    if (e->kind == NINO_WIDGET_BOOL) {
        entry = gtk_check_button_new();
        g_signal_connect(entry, "toggled", G_CALLBACK(on_editors_check), e);
        return entry;
    }
    if (e->kind == NINO_WIDGET_CHOICE && e->param) {
        GtkWidget *choice = nino_choice_new(editors_choices_of, on_editors_choice, e);
        if (e->param->type == NINO_FILE && e->param->upload_slot)
            *outer = with_file_buttons(e, choice, compact);
        return choice;
    }
    if (nino_editor_is_multiline(w))
        return new_text(e, outer);
    entry = gtk_entry_new();
    gtk_editable_set_width_chars(GTK_EDITABLE(entry), 4);
    gtk_editable_set_max_width_chars(GTK_EDITABLE(entry), 12);
    if (is_seed)
        gtk_entry_set_input_purpose(GTK_ENTRY(entry), GTK_INPUT_PURPOSE_DIGITS);
    g_signal_connect(entry, "changed", G_CALLBACK(on_entry), e);
    return entry;
}

static char *help_of(const nino_doc_widget *w)
{
    const nino_param *p = w->param;
    if (!p)
        return NULL;
    const char *help = p->help ? p->help : "";
    if (p->is_inert)
        return g_strdup_printf("%s%s%s", help, *help ? "\n" : "",
                               _("Accepted, but without effect here"));
    if (p->acts_for)
        return g_strdup_printf(_("%s\nActs for %s only"), help, p->acts_for);
    if (p->unit && *p->unit)
        return g_strdup_printf("%s%s(%s)", help, *help ? " " : "", p->unit);
    return *help ? g_strdup(help) : NULL;
}

static GtkWidget *editors_finish(Editor *e, GtkWidget *outer, const nino_doc_widget *w,
                                 const char *name)
{
    GtkEventController *focus = gtk_event_controller_focus_new();
    g_autofree char *help = help_of(w);
    g_signal_connect(focus, "leave", G_CALLBACK(on_editors_leave), e);
    gtk_widget_add_controller(e->input, focus);
    gtk_accessible_update_property(GTK_ACCESSIBLE(e->input), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                   -1);
    if (e->scale)
        gtk_accessible_update_property(GTK_ACCESSIBLE(e->scale), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                       name, -1);
    if (help && !e->is_control) {
        gtk_widget_set_tooltip_text(outer, help);
        gtk_accessible_update_property(GTK_ACCESSIBLE(e->input),
                                       GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, help, -1);
    }
    if (w->param && w->param->is_inert)
        gtk_widget_add_css_class(outer, "inert");
    g_object_set_data_full(G_OBJECT(outer), "nino-editor", e, editor_free);
    nino_editor_update(outer, w);
    return outer;
}

GtkWidget *nino_editor_new(const nino_doc_widget *w, gboolean compact, NinoEditFn fn, gpointer user)
{
    Editor *e = g_new0(Editor, 1);
    GtkWidget *outer = NULL;
    *e = (Editor){ .name = g_strdup(w->name),
                   .param = w->param,
                   .kind = w->kind,
                   .fn = fn,
                   .user = user,
                   .is_updating = TRUE };
    e->input = editors_make_input(e, w, compact, &outer);
    const char *label = w->label                      ? w->label
                        : w->param && w->param->label ? w->param->label
                                                      : w->name;
    GtkWidget *editor = editors_finish(e, outer ? outer : e->input, w, label);
    e->is_updating = FALSE;
    return editor;
}

GtkWidget *nino_editor_new_control(const nino_doc_widget *w, NinoEditFn fn, gpointer user)
{
    Editor *e = g_new0(Editor, 1);
    g_autofree char *label = g_strdup_printf(_("%s after a run"), w->name);
    *e = (Editor){ .name = g_strdup(w->name), .kind = NINO_WIDGET_CHOICE, .fn = fn, .user = user };
    e->is_control = TRUE;
    e->input = nino_choice_new(editors_choices_of, on_editors_choice, e);
    gtk_widget_set_tooltip_text(e->input, _("What happens to the value after a run was queued"));
    return editors_finish(e, e->input, w, label);
}

GtkWidget *nino_editor_as_note(GtkWidget *editor)
{
    Editor *e = editor_of(editor);
    GtkWidget *note = nino_note_new(editor);
    g_object_set_data(G_OBJECT(note), "nino-editor", e); // owned by what is in it
    return note;
}

static void show_text(GtkWidget *view, const char *text)
{
    GtkTextBuffer *b = gtk_text_view_get_buffer(GTK_TEXT_VIEW(view));
    GtkTextIter from, to;
    gtk_text_buffer_get_bounds(b, &from, &to);
    g_autofree char *now = gtk_text_buffer_get_text(b, &from, &to, FALSE);
    if (strcmp(now, text) != 0)
        gtk_text_buffer_set_text(b, text, -1);
}

void nino_editor_update(GtkWidget *editor, const nino_doc_widget *w)
{
    Editor *e = editor_of(editor);
    const gboolean was = e->is_updating;
    e->is_updating = TRUE;
    if (e->is_control)
        nino_choice_set_text(e->input, w->control ? w->control : "");
    else if (GTK_IS_SPIN_BUTTON(e->input))
        gtk_spin_button_set_value(GTK_SPIN_BUTTON(e->input), g_ascii_strtod(w->text, NULL));
    else if (GTK_IS_CHECK_BUTTON(e->input))
        gtk_check_button_set_active(GTK_CHECK_BUTTON(e->input), !strcmp(w->text, "true"));
    else if (GTK_IS_TEXT_VIEW(e->input))
        show_text(e->input, w->text);
    else if (NINO_IS_CHOICE(e->input))
        nino_choice_set_text(e->input, w->text);
    else if (strcmp(gtk_editable_get_text(GTK_EDITABLE(e->input)), w->text) != 0)
        gtk_editable_set_text(GTK_EDITABLE(e->input), w->text);
    gtk_widget_set_sensitive(editor, !w->is_linked || e->is_control);
    e->is_updating = was;
}

void nino_editor_stop(GtkWidget *editor)
{
    Editor *e = editor_of(editor);
    if (e)
        e->fn = NULL;
}
