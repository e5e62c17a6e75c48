// Drives an app over AT-SPI, the way a screen reader does; nothing but D-Bus is needed.
//
// usage: atclick APP ROLE NAME COMMAND
//   COMMAND: an action ("click"), set=NUMBER, text=STRING, get (prints value, text and
//            description), wait, gone, tree (prints what is below), lint (names the controls that
//            have no name), point (prints where in its window the pointer meets it), box (where it lies)
// ROLE and NAME are patterns with * and ?. Exit 0 ok, 1 not found within the time limit, 2 refused.
#include <gio/gio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define A11Y "org.a11y.atspi."
#define MAX_DEPTH 60

static GDBusConnection *bus;

typedef struct Node {
    char *app, *path;
} Node;

static GVariant *call(const Node *n, const char *iface, const char *method, GVariant *args,
                      const char *reply)
{
    g_autofree char *full = g_strconcat(A11Y, iface, NULL);
    return g_dbus_connection_call_sync(bus, n->app, n->path, full, method, args,
                                       reply ? G_VARIANT_TYPE(reply) : NULL, G_DBUS_CALL_FLAGS_NONE,
                                       5000, NULL, NULL);
}

static GVariant *property(const Node *n, const char *iface, const char *name)
{
    g_autofree char *full = g_strconcat(A11Y, iface, NULL);
    GVariant *v = NULL;
    g_autoptr(GVariant) r =
        g_dbus_connection_call_sync(bus, n->app, n->path, "org.freedesktop.DBus.Properties", "Get",
                                    g_variant_new("(ss)", full, name), G_VARIANT_TYPE("(v)"),
                                    G_DBUS_CALL_FLAGS_NONE, 5000, NULL, NULL);
    if (r)
        g_variant_get(r, "(v)", &v);
    return v;
}

// With a plain space between a number and its unit, as scripts write it; NULL: "".
static char *plain(const char *text)
{
    g_auto(GStrv) parts = g_strsplit(text ? text : "", "\302\240", -1);
    return g_strjoinv(" ", parts);
}

static char *name_of(const Node *n)
{
    g_autoptr(GVariant) v = property(n, "Accessible", "Name");
    return plain(v ? g_variant_get_string(v, NULL) : NULL);
}

static char *role_of(const Node *n)
{
    g_autoptr(GVariant) v = call(n, "Accessible", "GetRoleName", NULL, "(s)");
    char *s = NULL;
    if (v)
        g_variant_get(v, "(s)", &s);
    return s ? s : g_strdup("");
}

static int action_index(const Node *n, const char *action)
{
    g_autoptr(GVariant) v = property(n, "Action", "NActions");
    const int count = v ? g_variant_get_int32(v) : 0;
    for (int i = 0; i < count; i++) {
        g_autoptr(GVariant) r = call(n, "Action", "GetName", g_variant_new("(i)", i), "(s)");
        const char *s = "";
        if (r)
            g_variant_get(r, "(&s)", &s);
        if (!strcmp(s, action))
            return i;
    }
    return -1;
}

static gboolean has_state(const Node *n, int bit)
{
    g_autoptr(GVariant) v = call(n, "Accessible", "GetState", NULL, "(au)");
    guint32 states[2] = { 0, 0 };
    GVariantIter *iter = NULL;
    if (!v)
        return FALSE;
    g_variant_get(v, "(au)", &iter);
    for (int i = 0; i < 2; i++)
        if (!g_variant_iter_next(iter, "u", &states[i]))
            break;
    g_variant_iter_free(iter);
    return (states[bit / 32] >> (bit % 32)) & 1;
}

// A walk over the tree: visit() returns TRUE to stop there.
typedef gboolean (*Visit)(const Node *n, int depth, gpointer user);

static gboolean walk(const Node *n, int depth, Visit visit, gpointer user)
{
    if (visit(n, depth, user))
        return TRUE;
    if (depth > MAX_DEPTH)
        return FALSE;
    g_autoptr(GVariant) v = call(n, "Accessible", "GetChildren", NULL, "(a(so))");
    if (!v)
        return FALSE;
    GVariantIter *iter;
    Node child;
    gboolean stop = FALSE;
    g_variant_get(v, "(a(so))", &iter);
    while (!stop && g_variant_iter_next(iter, "(so)", &child.app, &child.path)) {
        stop = walk(&child, depth + 1, visit, user);
        g_free(child.app);
        g_free(child.path);
    }
    g_variant_iter_free(iter);
    return stop;
}

typedef struct Search {
    const char *role, *name, *action; // action: NULL or what the match must offer
    Node hit;
} Search;

static gboolean matches(const Node *n, int depth, gpointer user)
{
    (void) depth;
    Search *s = user;
    g_autofree char *role = role_of(n);
    if (!g_pattern_match_simple(s->role, role))
        return FALSE;
    g_autofree char *name = name_of(n);
    if (!g_pattern_match_simple(s->name, name) || (s->action && action_index(n, s->action) < 0))
        return FALSE;
    s->hit = (Node){ g_strdup(n->app), g_strdup(n->path) };
    return TRUE;
}

static gboolean print_node(const Node *n, int depth, gpointer user)
{
    (void) user;
    g_autofree char *role = role_of(n), *name = name_of(n);
    printf("%*s%s “%s”\n", depth * 2, "", role, name);
    return FALSE;
}

// Controls that a screen reader cannot tell apart: no name of their own and none inside.
static gboolean lint_node(const Node *n, int depth, gpointer count)
{
    (void) depth;
    static const char *const roles[] = { "button",    "toggle button", "spin button", "slider",
                                         "combo box", "checkbox",      "text box",    "switch",
                                         "tab",       "menu item",     "image" };
    g_autofree char *role = role_of(n), *name = name_of(n);
    gboolean is_control = FALSE;
    for (size_t i = 0; i < G_N_ELEMENTS(roles); i++)
        is_control |= !strcmp(roles[i], role);
    // Parts of other controls (the entry of a spin button, ...) cannot take the focus themselves.
    // Without a name of its own a widget has that of its class.
    const gboolean has_name = *name && !g_str_has_prefix(name, "Gtk") &&
                              !g_str_has_prefix(name, "Nino") && strcmp(name, "Tab") != 0;
    if (is_control && !has_name && has_state(n, 11 /* focusable */)) {
        printf("no name: %s %s\n", role, n->path);
        (*(int *) count)++;
    }
    return FALSE;
}

static gboolean app_root(const char *app, Node *out)
{
    const Node registry = { (char *) "org.a11y.atspi.Registry",
                            (char *) "/org/a11y/atspi/accessible/root" };
    g_autoptr(GVariant) v = call(&registry, "Accessible", "GetChildren", NULL, "(a(so))");
    GVariantIter *iter;
    Node n;
    gboolean found = FALSE;
    if (!v)
        return FALSE;
    g_variant_get(v, "(a(so))", &iter);
    while (g_variant_iter_next(iter, "(so)", &n.app, &n.path)) {
        g_autofree char *name = name_of(&n);
        if (!found && !strcmp(name, app)) {
            *out = n;
            found = TRUE;
            continue;
        }
        g_free(n.app);
        g_free(n.path);
    }
    g_variant_iter_free(iter);
    return found;
}

static gboolean connect_a11y(void)
{
    g_autoptr(GDBusConnection) session = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL);
    if (!session)
        return FALSE;
    g_autoptr(GVariant) v = g_dbus_connection_call_sync(
        session, "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", NULL,
        G_VARIANT_TYPE("(s)"), G_DBUS_CALL_FLAGS_NONE, 5000, NULL, NULL);
    const char *address = NULL;
    if (!v)
        return FALSE;
    g_variant_get(v, "(&s)", &address);
    bus = g_dbus_connection_new_for_address_sync(address,
                                                 G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
                                                     G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
                                                 NULL, NULL, NULL);
    return bus != NULL;
}

static int print_values(const Node *n)
{
    g_autofree char *name = name_of(n);
    g_autoptr(GVariant) value = property(n, "Value", "CurrentValue");
    g_autoptr(GVariant) count = property(n, "Text", "CharacterCount");
    g_autoptr(GVariant) about = property(n, "Accessible", "Description");
    printf("name=%s sensitive=%d pressed=%d", name, has_state(n, 24), has_state(n, 20));
    if (value)
        printf(" value=%g", g_variant_get_double(value));
    if (count) {
        g_autoptr(GVariant) r =
            call(n, "Text", "GetText", g_variant_new("(ii)", 0, g_variant_get_int32(count)), "(s)");
        const char *s = "";
        if (r)
            g_variant_get(r, "(&s)", &s);
        g_autofree char *text = plain(s);
        printf(" text=%s", text);
    }
    g_autofree char *tip = plain(about ? g_variant_get_string(about, NULL) : NULL);
    printf(" description=%s\n", tip);
    return 0;
}

static int set_value(const Node *n, double v)
{
    g_autoptr(GVariant) r = g_dbus_connection_call_sync(
        bus, n->app, n->path, "org.freedesktop.DBus.Properties", "Set",
        g_variant_new("(ssv)", A11Y "Value", "CurrentValue", g_variant_new_double(v)), NULL,
        G_DBUS_CALL_FLAGS_NONE, 5000, NULL, NULL);
    return r ? 0 : 2;
}

// The middle, or the whole: left, top, width, height.
static int print_place(const Node *n, gboolean is_box)
{
    enum { OF_WINDOW = 1 };
    int x = 0, y = 0, w = 0, h = 0;
    g_autoptr(GVariant) r =
        call(n, "Component", "GetExtents", g_variant_new("(u)", OF_WINDOW), "((iiii))");
    if (!r)
        return 2;
    g_variant_get(r, "((iiii))", &x, &y, &w, &h);
    if (is_box)
        printf("%d %d %d %d\n", x, y, w, h);
    else
        printf("%d %d\n", x + w / 2, y + h / 2);
    return 0;
}

static int perform(const Node *n, const char *cmd)
{
    int unnamed = 0;
    if (!strcmp(cmd, "get"))
        return print_values(n);
    if (!strcmp(cmd, "wait"))
        return 0;
    if (!strcmp(cmd, "point") || !strcmp(cmd, "box"))
        return print_place(n, *cmd == 'b');
    if (!strcmp(cmd, "tree"))
        return walk(n, 0, print_node, NULL);
    if (!strcmp(cmd, "lint")) {
        walk(n, 0, lint_node, &unnamed);
        return unnamed ? 2 : 0;
    }
    if (!strncmp(cmd, "set=", 4))
        return set_value(n, g_ascii_strtod(cmd + 4, NULL));
    if (!strncmp(cmd, "text=", 5)) {
        g_autoptr(GVariant) r =
            call(n, "EditableText", "SetTextContents", g_variant_new("(s)", cmd + 5), "(b)");
        return r ? 0 : 2;
    }
    g_autoptr(GVariant) r =
        call(n, "Action", "DoAction", g_variant_new("(i)", action_index(n, cmd)), "(b)");
    return r ? 0 : 2;
}

int main(int argc, char **argv)
{
    static const char *const commands[] = { "get",  "wait",  "tree", "lint",
                                            "gone", "point", "box",  NULL };
    if (argc < 5)
        return 64;
    if (!connect_a11y()) {
        fprintf(stderr, "no accessibility bus\n");
        return 1;
    }
    const char *cmd = argv[4];
    const gboolean is_action = !strchr(cmd, '=') && !g_strv_contains(commands, cmd);
    Search s = { .role = argv[2], .name = argv[3], .action = is_action ? cmd : NULL };
    const char *limit = g_getenv("ATCLICK_SECONDS");
    const gint64 end =
        g_get_monotonic_time() + (limit ? atoi(limit) : 20) * (gint64) G_USEC_PER_SEC;
    do {
        Node root;
        const gboolean hit = app_root(argv[1], &root) && walk(&root, 0, matches, &s);
        if (hit && strcmp(cmd, "gone") != 0)
            return perform(&s.hit, cmd);
        if (!hit && !strcmp(cmd, "gone"))
            return 0;
        g_usleep(100000);
    } while (g_get_monotonic_time() < end);
    fprintf(stderr, "%s: %s “%s”\n", strcmp(cmd, "gone") ? "not found" : "still there", argv[2],
            argv[3]);
    return 1;
}
