// The keys are those of ComfyUI's editor where it has them.
#include "app/commands.h"

#include <string.h>

// clang-format off
const NinoCommand nino_commands[] = {
    { "win.new", "New workflow", "File", { "<Control>t" }, TRUE },
    { "win.open", "Open…", "File", { "<Control>o" }, TRUE },
    { "win.open-trace", "Open trace…", "File", { "<Control><Shift>o" }, TRUE },
    { "win.save", "Save", "File", { "<Control>s" }, TRUE },
    { "win.save-as", "Save as…", "File", { "<Control><Shift>s" }, TRUE },
    { "win.export-api", "Export in API form…", "File", { "<Control>e" }, TRUE },
    { "win.close-tab", "Close workflow", "File", { "<Control>w" }, TRUE },
    { "win.run", "Run (add to the queue)", "Run", { "<Control>Return", "<Control>KP_Enter" }, TRUE },
    { "win.run-front", "Run next (front of the queue)", "Run", { "<Control><Shift>Return", "<Control><Shift>KP_Enter" }, TRUE },
    { "win.cancel", "Interrupt", "Run", { "<Control><Alt>Return", "<Control><Alt>KP_Enter" }, TRUE },
    { "win.pause", "Pause the queue", "Run", { "<Control><Shift>space" }, TRUE },
    { "win.measure-again", "Measure again", "Run", { "F5" }, TRUE },
    { "win.plan", "What does it need?", "Run", { "<Control>k" }, TRUE },
    { "win.attach-list", "Running jobs…", "Run", { "<Control>j" }, TRUE },
    { "win.detach", "Detach", "Run", { NULL }, TRUE },
    { "win.restart-worker", "Restart the worker", "Run", { NULL }, TRUE },
    { "win.trim", "Give memory back", "Run", { NULL }, TRUE },
    { "win.reload", "Read models and folders again", "Run", { "r" }, TRUE },
    { "win.undo", "Undo", "Edit", { "<Control>z" }, TRUE },
    { "win.redo", "Redo", "Edit", { "<Control>y", "<Control><Shift>z" }, TRUE },
    { "win.export-plot", "Export the plot…", "View", { NULL }, TRUE },
    { "win.export-table", "Export the table…", "View", { NULL }, TRUE },
    { "win.export-trace", "Export the trace…", "View", { NULL }, TRUE },
    { "win.panel::result", "Results", "View", { "<Control>1" }, FALSE },
    { "win.panel::queue", "Queue", "View", { "<Control>2", "q" }, FALSE },
    { "win.panel::problems", "Problems", "View", { "<Control>3" }, FALSE },
    { "win.panel::form", "Form", "View", { "<Control>4" }, FALSE },
    { "win.panel::log", "Log", "View", { "<Control>5", "<Control>grave" }, FALSE },
    { "win.live", "Live views", "View", { "<Control><Shift>p" }, TRUE },
    { "win.side", "Side panel", "View", { "F9" }, TRUE },
    { "win.focus-mode", "Only the canvas", "View", { "f" }, TRUE },
    { "win.next-tab", "Next workflow", "View", { "<Control>Page_Down" }, FALSE },
    { "win.previous-tab", "Previous workflow", "View", { "<Control>Page_Up" }, FALSE },
    { "win.viewer-compare", "Compare results", "Result", { "<Control><Shift>d" }, FALSE },
    { "win.viewer-play", "Play frames", "Result", { "<Control>space" }, FALSE },
    { "win.viewer-next-result", "Next result", "Result", { "<Alt>Right" }, FALSE },
    { "win.viewer-previous-result", "Previous result", "Result", { "<Alt>Left" }, FALSE },
    { "win.viewer-save-as", "Save the result as…", "Result", { NULL }, FALSE },
    { "app.preferences", "Preferences", "App", { "<Control>comma" }, TRUE },
    { "win.shortcuts", "Keyboard shortcuts", "App", { "<Control>question", "F1" }, TRUE },
    { "app.about", "About Ninodes Studio", "App", { NULL }, TRUE },
    { "app.quit", "Quit", "App", { "<Control>q" }, TRUE },
    { 0 },
};
// clang-format on

// Keys of the canvas itself, for the list only.
static const struct {
    const char *keys, *label;
} canvas_keys[] = {
    { "<Control>c", "Copy" },
    { "<Control>v", "Paste" },
    { "<Control><Shift>v", "Paste with links" },
    { "<Control>a", "Select all" },
    { "Delete", "Delete" },
    { "<Alt>c", "Collapse" },
    { "<Control>m", "Mute" },
    { "<Control>b", "Bypass" },
    { "p", "Pin" },
    { "<Control>g", "Group" },
    { "n", "Search for a node" },
    { "period", "Fit to the selection" },
    { "<Alt>equal", "Zoom in" },
    { "<Alt>minus", "Zoom out" },
};

// A key that types a letter must not be an accelerator of the whole window: it would never reach a
// text field.
static gboolean types_text(const char *key) { return *key != '<' && strlen(key) == 1; }

// Undo belongs to the text field that has the focus first, then to the canvas, then to the window.
static gboolean comes_last(const NinoCommand *c, const char *key)
{
    return types_text(key) || !strcmp(c->action, "win.undo") || !strcmp(c->action, "win.redo");
}

void nino_commands_set_accels(GtkApplication *app)
{
    for (const NinoCommand *c = nino_commands; c->action; c++) {
        const char *keys[4] = { NULL };
        int n = 0;
        for (int i = 0; i < 3 && c->keys[i]; i++)
            if (!comes_last(c, c->keys[i]))
                keys[n++] = c->keys[i];
        gtk_application_set_accels_for_action(app, c->action, keys);
    }
}

void nino_commands_add_keys(GtkWidget *window)
{
    GtkEventController *keys = gtk_shortcut_controller_new(); // bubble: after everyone else
    for (const NinoCommand *c = nino_commands; c->action; c++)
        for (int i = 0; i < 3 && c->keys[i]; i++) {
            GtkShortcutTrigger *trigger =
                comes_last(c, c->keys[i]) ? gtk_shortcut_trigger_parse_string(c->keys[i]) : NULL;
            if (!trigger)
                continue;
            g_autofree char *name = NULL;
            g_autoptr(GVariant) target = NULL;
            g_action_parse_detailed_name(c->action, &name, &target, NULL);
            GtkShortcut *s = gtk_shortcut_new(trigger, gtk_named_action_new(name));
            gtk_shortcut_set_arguments(s, target);
            gtk_shortcut_controller_add_shortcut(GTK_SHORTCUT_CONTROLLER(keys), s);
        }
    gtk_widget_add_controller(window, keys);
}

GMenuModel *nino_commands_menu(void)
{
    GMenu *menu = g_menu_new(), *section = NULL;
    const char *group = NULL;
    for (const NinoCommand *c = nino_commands; c->action; c++) {
        if (!c->in_menu)
            continue;
        if (g_strcmp0(group, c->group) != 0) {
            section = g_menu_new();
            g_menu_append_section(menu, c->group, G_MENU_MODEL(section));
            g_object_unref(section);
            group = c->group;
        }
        g_menu_append(section, c->label, c->action);
    }
    return G_MENU_MODEL(menu);
}

static void add_shortcut(GtkWidget *group, const char *label, const char *keys)
{
    GtkWidget *s =
        g_object_new(GTK_TYPE_SHORTCUTS_SHORTCUT, "title", label, "accelerator", keys, NULL);
    gtk_box_append(GTK_BOX(group), s);
}

static char *join_keys(const NinoCommand *c)
{
    GString *s = g_string_new(c->keys[0]);
    for (int i = 1; i < 3 && c->keys[i]; i++)
        g_string_append_printf(s, " %s", c->keys[i]);
    return g_string_free(s, FALSE);
}

GtkWidget *nino_commands_shortcuts_window(void)
{
    GtkWidget *window = g_object_new(GTK_TYPE_SHORTCUTS_WINDOW, "modal", TRUE, NULL);
    GtkWidget *section =
        g_object_new(GTK_TYPE_SHORTCUTS_SECTION, "section-name", "main", "max-height", 14, NULL);
    GtkWidget *group = NULL;
    const char *title = NULL;
    for (const NinoCommand *c = nino_commands; c->action; c++) {
        if (!c->keys[0])
            continue;
        if (g_strcmp0(title, c->group) != 0) {
            group = g_object_new(GTK_TYPE_SHORTCUTS_GROUP, "title", c->group, NULL);
            gtk_box_append(GTK_BOX(section), group);
            title = c->group;
        }
        g_autofree char *keys = join_keys(c);
        add_shortcut(group, c->label, keys);
    }
    group = g_object_new(GTK_TYPE_SHORTCUTS_GROUP, "title", "Canvas", NULL);
    gtk_box_append(GTK_BOX(section), group);
    for (size_t i = 0; i < G_N_ELEMENTS(canvas_keys); i++)
        add_shortcut(group, canvas_keys[i].label, canvas_keys[i].keys);
    gtk_window_set_child(GTK_WINDOW(window), section);
    return window;
}
