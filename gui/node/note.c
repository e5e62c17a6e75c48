// The text view behind it is the editor that all values of several lines have.
#include "node/note.h"

#include "base/i18n.h"
#include "node/markdown.h"

#define KEY "nino-note"

static GtkWidget *text_of(GtkWidget *editor)
{
    return gtk_scrolled_window_get_child(GTK_SCROLLED_WINDOW(editor));
}

static void show_note(GtkTextBuffer *b, gpointer label)
{
    GtkTextIter from, to;
    gtk_text_buffer_get_bounds(b, &from, &to);
    g_autofree char *text = gtk_text_buffer_get_text(b, &from, &to, FALSE);
    g_autofree char *markup = nino_markdown_to_markup(text);
    gtk_label_set_markup(label, markup);
}

static void on_note_leave(GtkEventControllerFocus *focus, gpointer stack)
{
    (void) focus;
    gtk_stack_set_visible_child_name(stack, "read");
}

static void on_note_click(GtkGestureClick *click, int n, double x, double y, gpointer stack)
{
    (void) x, (void) y;
    if (n != 2)
        return;
    gtk_gesture_set_state(GTK_GESTURE(click), GTK_EVENT_SEQUENCE_CLAIMED);
    nino_note_edit(stack);
}

gboolean nino_note_edit(GtkWidget *note)
{
    GtkWidget *editor = g_object_get_data(G_OBJECT(note), KEY);
    if (!editor)
        return FALSE;
    gtk_stack_set_visible_child_name(GTK_STACK(note), "write");
    return gtk_widget_grab_focus(text_of(editor));
}

GtkWidget *nino_note_new(GtkWidget *editor)
{
    GtkWidget *stack = gtk_stack_new(), *label = gtk_label_new(NULL),
              *scroller = gtk_scrolled_window_new();
    GtkTextBuffer *b = gtk_text_view_get_buffer(GTK_TEXT_VIEW(text_of(editor)));
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_yalign(GTK_LABEL(label), 0);
    gtk_widget_add_css_class(label, "note");
    gtk_widget_set_tooltip_text(label, _("Double click to write"));
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), label);
    gtk_stack_add_named(GTK_STACK(stack), scroller, "read");
    gtk_stack_add_named(GTK_STACK(stack), editor, "write");
    gtk_stack_set_vhomogeneous(GTK_STACK(stack), FALSE);
    g_object_set_data(G_OBJECT(stack), KEY, editor);
    g_signal_connect_object(b, "changed", G_CALLBACK(show_note), label, 0);
    show_note(b, label);
    GtkEventController *focus = gtk_event_controller_focus_new();
    g_signal_connect(focus, "leave", G_CALLBACK(on_note_leave), stack);
    gtk_widget_add_controller(text_of(editor), focus);
    GtkGesture *click = gtk_gesture_click_new();
    g_signal_connect(click, "pressed", G_CALLBACK(on_note_click), stack);
    gtk_widget_add_controller(label, GTK_EVENT_CONTROLLER(click));
    return stack;
}
