// The keys are those of ComfyUI's editor where it has them.
#include "settings/actions.h"

#include <string.h>

#include "settings/keys.h"
#include "base/i18n.h"

// clang-format off
const NinoCommand nino_commands[] = {
    { "win.new", N_("New workflow"), N_("File"), { "<Control>t" }, TRUE },
    { "win.open", N_("Open…"), N_("File"), { "<Control>o" }, TRUE },
    { "win.recent", N_("Recent workflows"), N_("File"), { "w" }, FALSE },
    { "win.open-trace", N_("Open trace…"), N_("File"), { "<Control><Shift>o" }, TRUE },
    { "win.save", N_("Save"), N_("File"), { "<Control>s" }, TRUE },
    { "win.save-as", N_("Save as…"), N_("File"), { "<Control><Shift>s" }, TRUE },
    { "win.export-api", N_("Export in API form…"), N_("File"), { "<Control>e" }, TRUE },
    { "win.close-tab", N_("Close workflow"), N_("File"), { "<Control>w" }, TRUE },
    { "win.run", N_("Run (add to the queue)"), N_("Run"), { "<Control>Return", "<Control>KP_Enter" }, TRUE },
    { "win.run-front", N_("Run next (front of the queue)"), N_("Run"), { "<Control><Shift>Return", "<Control><Shift>KP_Enter" }, TRUE },
    { "win.cancel", N_("Interrupt"), N_("Run"), { "<Control><Alt>Return", "<Control><Alt>KP_Enter" }, TRUE },
    { "win.pause", N_("Pause the queue"), N_("Run"), { "<Control><Shift>space" }, TRUE },
    { "win.run-again", N_("Run again (same inputs, next)"), N_("Run"), { "<Shift>F5" }, TRUE },
    { "win.measure-again", N_("Measure again (everything anew)"), N_("Run"), { "F5" }, TRUE },
    { "win.grid", N_("Grid of runs…"), N_("Run"), { "<Control><Shift>g" }, TRUE },
    { "win.suite", N_("Benchmark suite…"), N_("Run"), { NULL }, TRUE },
    { "win.plan", N_("What does it need?"), N_("Run"), { "<Control>p" }, TRUE },
    { "win.attach-list", N_("Running jobs…"), N_("Run"), { "<Control>j" }, TRUE },
    { "win.detach", N_("Detach"), N_("Run"), { NULL }, TRUE },
    { "win.restart-worker", N_("Restart the worker"), N_("Run"), { NULL }, TRUE },
    { "win.trim", N_("Give memory back"), N_("Run"), { NULL }, TRUE },
    { "win.reload", N_("Read models and folders again"), N_("Run"), { "r" }, TRUE },
    { "win.undo", N_("Undo"), N_("Edit"), { "<Control>z" }, TRUE },
    { "win.redo", N_("Redo"), N_("Edit"), { "<Control>y", "<Control><Shift>z" }, TRUE },
    { "win.export-plot", N_("Export the plot…"), N_("View"), { NULL }, TRUE },
    { "win.export-table", N_("Export the table…"), N_("View"), { NULL }, TRUE },
    { "win.export-trace", N_("Export the trace…"), N_("View"), { NULL }, TRUE },
    { "win.palette", N_("Find anything…"), N_("View"), { "<Control>k" }, TRUE },
    { "win.perspective::compose", N_("Compose: the workflow and its pictures"), N_("View"), { "<Control>1" }, TRUE },
    { "win.perspective::profile", N_("Profile: where time and memory go"), N_("View"), { "<Control>2", "<Control><Shift>p" }, TRUE },
    { "win.profile-runs", N_("List of kept runs"), N_("View"), { NULL }, FALSE },
    { "win.profile-details", N_("Details of what is chosen"), N_("View"), { NULL }, FALSE },
    { "win.find-bar", N_("Find in the timeline"), N_("View"), { "<Control>f" }, FALSE },
    { "win.save-view", N_("Save this view…"), N_("View"), { NULL }, FALSE },
    { "win.view-window", N_("The chosen view in a window of its own"), N_("View"), { NULL }, FALSE },
    { "win.drawer::nodes", N_("Nodes"), N_("View"), { "<Control>7" }, FALSE },
    { "win.drawer::models", N_("Models"), N_("View"), { "<Control>8" }, FALSE },
    { "win.drawer::workflows", N_("Workflows"), N_("View"), { "<Control>9" }, FALSE },
    { "win.drawer::queue", N_("Queue"), N_("View"), { "<Control>3", "q" }, FALSE },
    { "win.drawer::problems", N_("Problems"), N_("View"), { "<Control>4" }, FALSE },
    { "win.drawer::form", N_("Form"), N_("View"), { "<Control>5" }, FALSE },
    { "win.drawer::log", N_("Log"), N_("View"), { "<Control>6", "<Control>grave" }, FALSE },
    { "win.side", N_("Results"), N_("View"), { "F9" }, TRUE },
    { "win.focus-mode", N_("Only the canvas"), N_("View"), { "f" }, TRUE },
    { "win.next-tab", N_("Next workflow"), N_("View"), { "<Control>Page_Down" }, FALSE },
    { "win.previous-tab", N_("Previous workflow"), N_("View"), { "<Control>Page_Up" }, FALSE },
    { "win.viewer-compare", N_("Compare results"), N_("Result"), { "<Control><Shift>d" }, FALSE },
    { "win.viewer-play", N_("Play frames"), N_("Result"), { "<Control>space" }, FALSE },
    { "win.viewer-next-frame", N_("One frame on"), N_("Result"), { "bracketright" }, FALSE },
    { "win.viewer-previous-frame", N_("One frame back"), N_("Result"), { "bracketleft" }, FALSE },
    { "win.viewer-loop", N_("Repeat the clip"), N_("Result"), { NULL }, FALSE },
    { "win.viewer-next-result", N_("Next result"), N_("Result"), { "<Alt>Right" }, FALSE },
    { "win.viewer-previous-result", N_("Previous result"), N_("Result"), { "<Alt>Left" }, FALSE },
    { "win.viewer-profile", N_("How the result was made"), N_("Result"), { "<Alt>i" }, FALSE },
    { "win.viewer-open-workflow", N_("Open the result's workflow"), N_("Result"), { "<Alt>o" }, FALSE },
    { "win.viewer-use", N_("Use the result as input"), N_("Result"), { "<Alt>u" }, FALSE },
    { "win.viewer-save-as", N_("Save the result as…"), N_("Result"), { NULL }, FALSE },
    { "canvas.cut", N_("Cut"), N_("Selection"), { "<Control>x" }, FALSE },
    { "canvas.copy", N_("Copy"), N_("Selection"), { "<Control>c" }, FALSE },
    { "canvas.paste", N_("Paste"), N_("Selection"), { "<Control>v" }, FALSE },
    { "canvas.paste-links", N_("Paste with links"), N_("Selection"), { "<Control><Shift>v" }, FALSE },
    { "canvas.duplicate", N_("Duplicate"), N_("Selection"), { "<Control>d" }, FALSE },
    { "canvas.delete", N_("Delete"), N_("Selection"), { "Delete", "BackSpace" }, FALSE },
    { "canvas.select-all", N_("Select all"), N_("Selection"), { "<Control>a" }, FALSE },
    { "canvas.select-none", N_("Select nothing"), N_("Selection"), { "<Control><Shift>a" }, FALSE },
    { "canvas.mute", N_("Mute"), N_("Nodes and links"), { "<Control>m" }, FALSE },
    { "canvas.bypass", N_("Bypass"), N_("Nodes and links"), { "<Control>b" }, FALSE },
    { "canvas.collapse", N_("Collapse"), N_("Nodes and links"), { "<Alt>c" }, FALSE },
    { "canvas.pin", N_("Pin"), N_("Nodes and links"), { "p" }, FALSE },
    { "canvas.group", N_("Group"), N_("Nodes and links"), { "<Control>g" }, FALSE },
    { "canvas.rename", N_("Rename"), N_("Nodes and links"), { "F2" }, FALSE },
    { "canvas.add", N_("Search for a node to add"), N_("Nodes and links"), { "n", "Insert" }, FALSE },
    { "canvas.add-model", N_("Search for a model to add"), N_("Nodes and links"), { "m" }, FALSE },
    { "canvas.add-at-slot", N_("Search for a node to add at a slot"), N_("Nodes and links"), { "<Alt>n" }, FALSE },
    { "canvas.connect", N_("Connect by name"), N_("Nodes and links"), { "<Control>l" }, FALSE },
    { "canvas.choose-file", N_("Choose a file for the node"), N_("Nodes and links"), { "<Alt>f" }, FALSE },
    { "canvas.edit-mask", N_("Paint the mask of the node's picture"), N_("Nodes and links"), { "<Alt>e" }, FALSE },
    { "canvas.bend", N_("Bend a link (a new point to move)"), N_("Nodes and links"), { "<Alt>b" }, FALSE },
    { "canvas.menu", N_("Menu of the selection"), N_("Nodes and links"), { "Menu", "<Shift>F10" }, FALSE },
    { "canvas.subgraph", N_("Convert to subgraph"), N_("Subgraphs"), { "<Control><Shift>e" }, FALSE },
    { "canvas.unpack", N_("Unpack the subgraph"), N_("Subgraphs"), { NULL }, FALSE },
    { "canvas.ports", N_("Ports and shown values of the subgraph"), N_("Subgraphs"), { "<Control><Shift>l" }, FALSE },
    { "canvas.enter", N_("Enter the subgraph"), N_("Subgraphs"), { "<Alt>Return" }, FALSE },
    { "canvas.leave", N_("Leave the subgraph"), N_("Subgraphs"), { "<Alt>Up" }, FALSE },
    { "canvas.fit", N_("Fit to the selection"), N_("Zoom"), { "period" }, FALSE },
    { "canvas.zoom-in", N_("Zoom in"), N_("Zoom"), { "<Alt>equal", "<Alt>plus" }, FALSE },
    { "canvas.zoom-out", N_("Zoom out"), N_("Zoom"), { "<Alt>minus" }, FALSE },
    { "canvas.zoom-reset", N_("Actual size"), N_("Zoom"), { "<Alt>0" }, FALSE },
    { "canvas.minimap", N_("Minimap"), N_("Zoom"), { "<Alt>m" }, FALSE },
    { "app.preferences", N_("Preferences"), N_("App"), { "<Control>comma" }, TRUE },
    { "win.computer", N_("What can this computer do?"), N_("App"), { NULL }, TRUE },
    { "win.shortcuts", N_("Keyboard shortcuts"), N_("App"), { "<Control>question", "F1", "<Control><Shift>k" }, TRUE },
    { "app.keys", N_("Change keyboard shortcuts…"), N_("App"), { NULL }, TRUE },
    { "app.about", N_("About Ninodes Studio"), N_("App"), { NULL }, TRUE },
    { "app.quit", N_("Quit"), N_("App"), { "<Control>q" }, TRUE },
    { 0 },
};

// Keys of the canvas that are as they are (canvas/canvas_keys.c); one arrow stands for all four.
static const struct { const char *label, *keys; } fixed[] = {
    { N_("Next node, group or point"), "Tab" },
    { N_("The previous one"), "<Shift>Tab" },
    { N_("The nearest one in a direction"), "Left Right Up Down" },
    { N_("The same without selecting it"), "<Control>Right" },
    { N_("Select it too, or no longer"), "<Shift>space" },
    { N_("Move the selection"), "<Shift>Right" },
    { N_("Resize the node or group"), "<Control><Shift>Right" },
    { N_("Edit the values; rename the group"), "Return" },
    { N_("Out of a value, the selection, the subgraph"), "Escape" },
};
// clang-format on

#define END "</object></child>"

static void begin_group(GString *xml, const char *title)
{
    g_autofree char *text = g_markup_printf_escaped("<child><object class='GtkShortcutsGroup'>"
                                                    "<property name='title'>%s</property>",
                                                    title);
    g_string_append(xml, text);
}

static void commands_add_shortcut(GString *xml, const char *label, const char *keys)
{
    g_autofree char *text =
        g_markup_printf_escaped("<child><object class='GtkShortcutsShortcut'>"
                                "<property name='title'>%s</property>"
                                "<property name='accelerator'>%s</property></object></child>",
                                _(label), keys);
    g_string_append(xml, text);
}

static void add_groups(GString *xml, const char *const *groups)
{
    for (; *groups; groups++) {
        begin_group(xml, _(*groups));
        for (const NinoCommand *c = nino_commands; c->action; c++) {
            g_auto(GStrv) keys = nino_keys_get(c);
            if (!keys[0] || strcmp(c->group, *groups) != 0)
                continue;
            const gboolean has_two = keys[1] && !strstr(keys[1], "KP_"); // not the same elsewhere
            g_autofree char *shown = g_strjoin(" ", keys[0], has_two ? keys[1] : NULL, NULL);
            commands_add_shortcut(xml, c->label, shown);
        }
        g_string_append(xml, END);
    }
}

// A section is a page that fits a small screen. Only a builder can put groups into one so that it
// makes columns of them.
GtkWidget *nino_commands_shortcuts_window(void)
{
    static const struct {
        const char *title, *groups[5];
    } sections[] = {
        { N_("Files and runs"), { "File", "Edit", "App", "Run" } },
        { N_("Views and results"), { "View", "Result" } },
        { N_("Nodes on the canvas"), { "Selection", "Subgraphs", "Nodes and links" } },
        { N_("Moving on the canvas"), { "Zoom" } },
    };
    GString *xml = g_string_new("<interface><object class='GtkShortcutsWindow' id='window'>"
                                "<property name='modal'>1</property>");
    for (gsize i = 0; i < G_N_ELEMENTS(sections); i++) {
        g_autofree char *begin = g_markup_printf_escaped(
            "<child><object class='GtkShortcutsSection'><property name='section-name'>s%d"
            "</property><property name='title'>%s</property>"
            "<property name='max-height'>14</property>",
            (int) i, _(sections[i].title));
        g_string_append(xml, begin);
        add_groups(xml, sections[i].groups);
        if (i + 1 == G_N_ELEMENTS(sections)) {
            begin_group(xml, _("By keyboard"));
            for (gsize k = 0; k < G_N_ELEMENTS(fixed); k++)
                commands_add_shortcut(xml, fixed[k].label, fixed[k].keys);
            g_string_append(xml, END);
        }
        g_string_append(xml, END);
    }
    g_string_append(xml, "</object></interface>");
    g_autoptr(GtkBuilder) builder = gtk_builder_new_from_string(xml->str, (gssize) xml->len);
    g_string_free(xml, TRUE);
    return GTK_WIDGET(gtk_builder_get_object(builder, "window"));
}
