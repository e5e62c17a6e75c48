// Keys of the commands: the user's own, conflicts, what is kept in the file, and the window that
// changes them, with a real keyboard where xdotool is there. tests/gui/test_keys.sh starts it.
#include "settings/keys.h"

#include <string.h>

#include "base/scroller.h"
#include "settings/keys_window.h"
#include "settings/theme.h"
#include "tests/gui/program/loop.h"

static const NinoCommand *command(const char *action)
{
    for (const NinoCommand *c = nino_commands; c->action; c++)
        if (!strcmp(c->action, action))
            return c;
    CHECK(0);
    return NULL;
}

static gboolean has_key(const char *action, const char *key)
{
    g_auto(GStrv) keys = nino_keys_get(command(action));
    return g_strv_contains((const char *const *) keys, key);
}

static gboolean file_says(const char *text)
{
    g_autofree char *path = g_build_filename(g_get_user_config_dir(), "ninodes", "keys.ini", NULL);
    g_autofree char *all = NULL;
    return g_file_get_contents(path, &all, NULL, NULL) && strstr(all, text);
}

// As ComfyUI's editor has them; no key belongs to two commands.
static void test_defaults(void)
{
    static const char *const wanted[][2] = {
        { "win.run", "<Control>Return" },
        { "win.run-front", "<Control><Shift>Return" },
        { "win.cancel", "<Control><Alt>Return" },
        { "win.undo", "<Control>z" },
        { "win.redo", "<Control>y" },
        { "win.save", "<Control>s" },
        { "win.open", "<Control>o" },
        { "canvas.select-all", "<Control>a" },
        { "canvas.collapse", "<Alt>c" },
        { "canvas.mute", "<Control>m" },
        { "canvas.bypass", "<Control>b" },
        { "canvas.delete", "Delete" },
        { "canvas.copy", "<Control>c" },
        { "canvas.paste-links", "<Control><Shift>v" },
        { "canvas.zoom-in", "<Alt>equal" },
        { "canvas.zoom-out", "<Alt>minus" },
        { "canvas.pin", "p" },
        { "canvas.group", "<Control>g" },
        { "win.drawer::queue", "q" },
        { "canvas.add", "n" },
        { "win.drawer::log", "<Control>grave" },
        { "win.focus-mode", "f" },
        { "win.reload", "r" },
        { "canvas.fit", "period" },
        { "win.perspective::profile", "<Control><Shift>p" },
        { "win.measure-again", "F5" },
        { "canvas.minimap", "<Alt>m" },
        { "canvas.subgraph", "<Control><Shift>e" },
    };
    for (gsize i = 0; i < G_N_ELEMENTS(wanted); i++)
        CHECK(has_key(wanted[i][0], wanted[i][1]));
    for (const NinoCommand *c = nino_commands; c->action; c++)
        for (int k = 0; k < 3 && c->keys[k]; k++) {
            guint value = 0;
            GdkModifierType mods = 0;
            CHECK(gtk_accelerator_parse(c->keys[k], &value, &mods) && value);
            CHECK(!nino_keys_owner(c->keys[k], c));
        }
}

static void test_change(void)
{
    const NinoCommand *group = command("canvas.group"), *mute = command("canvas.mute");
    CHECK(nino_keys_owner("<Primary>g", NULL) == group); // however it is written
    CHECK(nino_keys_is_default(group));
    nino_keys_set(group, (const char *[]){ "F7", "<Alt>g", NULL });
    CHECK(has_key("canvas.group", "F7") && has_key("canvas.group", "<Alt>g"));
    CHECK(!has_key("canvas.group", "<Control>g") && !nino_keys_is_default(group));
    CHECK(nino_keys_owner("F7", mute) == group && !nino_keys_owner("<Control>g", NULL));
    CHECK(file_says("canvas.group=F7;<Alt>g;"));
    nino_keys_remove(group, "<Alt>g");
    CHECK(has_key("canvas.group", "F7") && !has_key("canvas.group", "<Alt>g"));
    nino_keys_set(mute, (const char *[]){ NULL });
    g_auto(GStrv) none = nino_keys_get(mute);
    CHECK(!none[0] && !nino_keys_is_default(mute));
    nino_keys_reset(mute);
    CHECK(has_key("canvas.mute", "<Control>m") && !nino_keys_is_default(group));
    nino_keys_reset(NULL);
    CHECK(nino_keys_is_default(group) && !file_says("canvas.group"));
}

static GtkWidget *button(GtkWidget *in, const char *label, int *skip)
{
    for (GtkWidget *k = gtk_widget_get_first_child(in); k; k = gtk_widget_get_next_sibling(k)) {
        const char *text = GTK_IS_BUTTON(k) ? gtk_button_get_label(GTK_BUTTON(k)) : NULL;
        GtkWidget *found =
            text && !strcmp(text, label) && (*skip)-- == 0 ? k : button(k, label, skip);
        if (found)
            return found;
    }
    return NULL;
}

static void press(GtkWidget *in, const char *label, int skip)
{
    GtkWidget *b = button(in, label, &skip);
    CHECK(b);
    g_signal_emit_by_name(b, "clicked");
    spin_loop(50);
}

static void type(const char *keys)
{
    g_autofree char *line = g_strconcat("xdotool key ", keys, NULL);
    CHECK(g_spawn_command_line_sync(line, NULL, NULL, NULL, NULL));
    spin_loop(100);
}

static void test_window(void)
{
    g_autofree char *xdotool = g_find_program_in_path("xdotool");
    nino_keys_window_present(NULL);
    GListModel *all = gtk_window_get_toplevels();
    g_autoptr(GtkWindow) window = g_list_model_get_item(all, 0);
    GtkWidget *w = GTK_WIDGET(window);
    WAIT_FOR(gtk_widget_get_mapped(w) && gtk_widget_get_width(w) > 0);
    if (xdotool) {
        g_spawn_command_line_sync("xdotool mousemove 60 60", NULL, NULL, NULL, NULL);
        press(w, "Change", 0); // of the first command
        type("ctrl+b");        // belongs to another one
        CHECK(has_key("win.new", "<Control>t") && has_key("canvas.bypass", "<Control>b"));
        press(w, "Leave it", 0);
        CHECK(has_key("win.new", "<Control>t"));
        press(w, "Change", 0);
        type("ctrl+b");
        press(w, "Take it", 0);
        CHECK(has_key("win.new", "<Control>b") && !has_key("canvas.bypass", "<Control>b"));
        press(w, "Change", 0);
        type("Escape");
        press(w, "Change", 0);
        type("ctrl+shift+F3");
        g_auto(GStrv) keys = nino_keys_get(command("win.new"));
        CHECK_STR(keys[0], "<Shift><Control>F3");
    } else {
        printf("  xdotool is missing: the keyboard is not tested\n");
    }
    const char *dir = g_getenv("SHOTS");
    g_autofree char *line = g_strdup_printf("import -window root %s/keys.png", dir ? dir : ".");
    if (dir)
        g_spawn_command_line_sync(line, NULL, NULL, NULL, NULL);
    press(w, "Reset all", 0);
    CHECK(has_key("win.new", "<Control>t") && has_key("canvas.bypass", "<Control>b"));
    gtk_window_destroy(window);
    spin_loop(50);
}

static int count_titles(GtkWidget *in, const char *title)
{
    int n = 0;
    for (GtkWidget *k = gtk_widget_get_first_child(in); k; k = gtk_widget_get_next_sibling(k))
        n += (GTK_IS_LABEL(k) && !strcmp(gtk_label_get_text(GTK_LABEL(k)), title)) +
             count_titles(k, title);
    return n;
}

// All shortcuts, in columns and pages that fit a small screen.
static void test_shortcuts(void)
{
    GtkWidget *w = nino_commands_shortcuts_window();
    gtk_window_present(GTK_WINDOW(w));
    WAIT_FOR(gtk_widget_get_mapped(w) && gtk_widget_get_width(w) > 0);
    const int width = gtk_widget_get_width(w), height = gtk_widget_get_height(w);
    printf("  the window of shortcuts: %d x %d\n", width, height);
    CHECK(width <= 1280 && height <= 768);
    CHECK(count_titles(w, "New workflow") && count_titles(w, "Bend a link (a new point to move)"));
    CHECK(count_titles(w, "Move the selection"));
    const char *dir = g_getenv("SHOTS");
    g_autofree char *line = g_strdup_printf("import -window root %s/shortcuts.png", dir);
    spin_loop(300);
    if (dir)
        g_spawn_command_line_sync(line, NULL, NULL, NULL, NULL);
    gtk_window_destroy(GTK_WINDOW(w));
    spin_loop(50);
}

static GtkWidget *below(GtkWidget *in, GType type)
{
    for (GtkWidget *k = gtk_widget_get_first_child(in); k; k = gtk_widget_get_next_sibling(k)) {
        GtkWidget *found = G_TYPE_CHECK_INSTANCE_TYPE(k, type) ? k : below(k, type);
        if (found)
            return found;
    }
    return NULL;
}

// A section that grew over one page shows numbers of pages; none is less than nothing wide, of
// which GTK would warn.
static void test_pages(void)
{
    GtkWidget *w = nino_commands_shortcuts_window();
    GtkWidget *section = below(w, GTK_TYPE_SHORTCUTS_SECTION);
    CHECK(section);
    g_object_set(section, "max-height", 4, NULL);
    gtk_window_present(GTK_WINDOW(w));
    WAIT_FOR(gtk_widget_get_mapped(w) && gtk_widget_get_width(w) > 0);
    GtkWidget *switcher = below(section, GTK_TYPE_STACK_SWITCHER);
    CHECK(switcher && gtk_widget_get_visible(switcher));
    GtkWidget *number = switcher ? below(switcher, GTK_TYPE_LABEL) : NULL;
    int min = -1;
    CHECK(number);
    if (number)
        gtk_widget_measure(number, GTK_ORIENTATION_HORIZONTAL, -1, &min, NULL, NULL, NULL);
    CHECK(min > 0);
    gtk_window_destroy(GTK_WINDOW(w));
    spin_loop(50);
}

// What has the focus may have been scrolled out of sight: Return and the like bring it back and do no more, as nobody has
// seen on what they would act, and a menu would open beyond the screen.
static void test_scrolled(void)
{
    static const char *const labels[] = { "one", "two", NULL };
    GtkWidget *w = gtk_window_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *scroll = nino_page_scroller_new(box), *entry = gtk_entry_new();
    GtkWidget *choice = gtk_drop_down_new_from_strings(labels);
    GtkAdjustment *at = gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(scroll));
    gtk_box_append(GTK_BOX(box), choice);
    gtk_box_append(GTK_BOX(box), entry);
    for (int i = 0; i < 100; i++)
        gtk_box_append(GTK_BOX(box), gtk_label_new("more"));
    gtk_window_set_child(GTK_WINDOW(w), scroll);
    gtk_window_set_default_size(GTK_WINDOW(w), 200, 200);
    gtk_window_present(GTK_WINDOW(w));
    WAIT_FOR(gtk_widget_get_mapped(w) && gtk_widget_get_width(w) > 0);
    GtkWidget *menu = below(choice, GTK_TYPE_POPOVER);
    gtk_widget_grab_focus(choice);
    gtk_adjustment_set_value(at, 1000);
    spin_loop(100);
    type("g Return"); // at once
    CHECK(gtk_adjustment_get_value(at) < 50 && !gtk_widget_get_mapped(menu));
    type("Page_Down Page_Down Return"); // the page is not drawn in between
    CHECK(gtk_adjustment_get_value(at) < 50 && !gtk_widget_get_mapped(menu));
    type("Return");
    WAIT_FOR(gtk_widget_get_mapped(menu));
    type("Escape");
    WAIT_FOR(!gtk_widget_get_mapped(menu));
    gtk_widget_grab_focus(entry);
    gtk_adjustment_set_value(at, 1000);
    spin_loop(100);
    type("x space"); // letters are typed
    CHECK(gtk_adjustment_get_value(at) < 80);
    CHECK_STR(gtk_editable_get_text(GTK_EDITABLE(entry)), "x ");
    gtk_window_destroy(GTK_WINDOW(w));
    spin_loop(50);
}

int main(void)
{
    g_autofree char *xdotool = g_find_program_in_path("xdotool");
    gtk_init();
    nino_theme_start();
    test_defaults();
    test_change();
    test_window();
    test_shortcuts();
    test_pages();
    if (xdotool)
        test_scrolled();
    return 0;
}
