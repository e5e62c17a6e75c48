// The keys are those of ComfyUI's editor where it has them.
#include "app/commands.h"

#include "app/keys.h"

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
    { "win.run-again", "Run again (same inputs, next)", "Run", { "<Shift>F5" }, TRUE },
    { "win.measure-again", "Measure again (everything anew)", "Run", { "F5" }, TRUE },
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
    { "win.viewer-next-frame", "One frame on", "Result", { "bracketright" }, FALSE },
    { "win.viewer-previous-frame", "One frame back", "Result", { "bracketleft" }, FALSE },
    { "win.viewer-loop", "Repeat the clip", "Result", { NULL }, FALSE },
    { "win.viewer-next-result", "Next result", "Result", { "<Alt>Right" }, FALSE },
    { "win.viewer-previous-result", "Previous result", "Result", { "<Alt>Left" }, FALSE },
    { "win.viewer-save-as", "Save the result as…", "Result", { NULL }, FALSE },
    { "canvas.cut", "Cut", "Canvas", { "<Control>x" }, FALSE },
    { "canvas.copy", "Copy", "Canvas", { "<Control>c" }, FALSE },
    { "canvas.paste", "Paste", "Canvas", { "<Control>v" }, FALSE },
    { "canvas.paste-links", "Paste with links", "Canvas", { "<Control><Shift>v" }, FALSE },
    { "canvas.duplicate", "Duplicate", "Canvas", { "<Control>d" }, FALSE },
    { "canvas.delete", "Delete", "Canvas", { "Delete", "BackSpace" }, FALSE },
    { "canvas.select-all", "Select all", "Canvas", { "<Control>a" }, FALSE },
    { "canvas.select-none", "Select nothing", "Canvas", { "<Control><Shift>a" }, FALSE },
    { "canvas.mute", "Mute", "Canvas", { "<Control>m" }, FALSE },
    { "canvas.bypass", "Bypass", "Canvas", { "<Control>b" }, FALSE },
    { "canvas.collapse", "Collapse", "Canvas", { "<Alt>c" }, FALSE },
    { "canvas.pin", "Pin", "Canvas", { "p" }, FALSE },
    { "canvas.group", "Group", "Canvas", { "<Control>g" }, FALSE },
    { "canvas.rename", "Rename", "Canvas", { "F2" }, FALSE },
    { "canvas.add", "Search for a node to add", "Canvas", { "n", "Insert" }, FALSE },
    { "canvas.connect", "Connect by name", "Canvas", { "<Control>l" }, FALSE },
    { "canvas.subgraph", "Convert to subgraph", "Canvas", { "<Control><Shift>e" }, FALSE },
    { "canvas.unpack", "Unpack the subgraph", "Canvas", { NULL }, FALSE },
    { "canvas.enter", "Enter the subgraph", "Canvas", { "<Alt>Return" }, FALSE },
    { "canvas.leave", "Leave the subgraph", "Canvas", { "<Alt>Up" }, FALSE },
    { "canvas.fit", "Fit to the selection", "Canvas", { "period" }, FALSE },
    { "canvas.zoom-in", "Zoom in", "Canvas", { "<Alt>equal", "<Alt>plus" }, FALSE },
    { "canvas.zoom-out", "Zoom out", "Canvas", { "<Alt>minus" }, FALSE },
    { "canvas.zoom-reset", "Actual size", "Canvas", { "<Alt>0" }, FALSE },
    { "canvas.minimap", "Minimap", "Canvas", { "<Alt>m" }, FALSE },
    { "app.preferences", "Preferences", "App", { "<Control>comma" }, TRUE },
    { "win.shortcuts", "Keyboard shortcuts", "App", { "<Control>question", "F1", "<Control><Shift>k" }, TRUE },
    { "app.keys", "Change keyboard shortcuts…", "App", { NULL }, TRUE },
    { "app.about", "About Ninodes Studio", "App", { NULL }, TRUE },
    { "app.quit", "Quit", "App", { "<Control>q" }, TRUE },
    { 0 },
};
// clang-format on

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

GtkWidget *nino_commands_shortcuts_window(void)
{
    GtkWidget *window = g_object_new(GTK_TYPE_SHORTCUTS_WINDOW, "modal", TRUE, NULL);
    GtkWidget *section =
        g_object_new(GTK_TYPE_SHORTCUTS_SECTION, "section-name", "main", "max-height", 14, NULL);
    GtkWidget *group = NULL;
    const char *title = NULL;
    for (const NinoCommand *c = nino_commands; c->action; c++) {
        g_auto(GStrv) keys = nino_keys_get(c);
        if (!keys[0])
            continue;
        if (g_strcmp0(title, c->group) != 0) {
            group = g_object_new(GTK_TYPE_SHORTCUTS_GROUP, "title", c->group, NULL);
            gtk_box_append(GTK_BOX(section), group);
            title = c->group;
        }
        g_autofree char *joined = g_strjoinv(" ", keys);
        gtk_box_append(GTK_BOX(group), g_object_new(GTK_TYPE_SHORTCUTS_SHORTCUT, "title", c->label,
                                                    "accelerator", joined, NULL));
    }
    gtk_window_set_child(GTK_WINDOW(window), section);
    return window;
}
