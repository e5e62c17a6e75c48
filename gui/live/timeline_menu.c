// What the menu of a bar has in the timeline besides: what can be done with its row and at that moment.
#include "live/timeline_priv.h"

#include "base/i18n.h"

static Timeline *timeline_of(gpointer box) { return g_object_get_data(G_OBJECT(box), "timeline"); }

static void menu_row(GSimpleAction *a, GVariant *parameter, gpointer box)
{
    (void) parameter;
    Timeline *t = timeline_of(box);
    const char *name = g_action_get_name(G_ACTION(a));
    if (g_str_equal(name, "show-all"))
        nino_timeline_show_all(t);
    else if (t->menu_row < t->n_rows)
        nino_timeline_toggle(t, &t->row[t->menu_row],
                             g_str_equal(name, "hide")  ? ROW_HIDDEN
                             : g_str_equal(name, "pin") ? ROW_PINNED
                                                        : ROW_COLLAPSED);
}

static void of_row(const Timeline *t, const Row *r, GMenu *menu)
{
    const guint flags = nino_timeline_flags(t, r);
    g_autoptr(GMenu) section = g_menu_new();
    g_menu_append(section, _("Hide this row"), "timeline.hide");
    g_menu_append(section, flags & ROW_PINNED ? _("Unpin this row") : _("Pin this row to the top"),
                  "timeline.pin");
    g_menu_append(section,
                  flags & ROW_COLLAPSED ? _("Show all of its rows") : _("Collapse its rows"),
                  "timeline.collapse");
    g_menu_append_section(menu, NULL, G_MENU_MODEL(section));
}

gboolean nino_timeline_menu(NinoArea *area, double *x, double *y, GMenu *more, gpointer user)
{
    Timeline *t = user;
    g_autoptr(GMenu) last = g_menu_new();
    t->focus_row = CLAMP(t->focus_row, 0, MAX(t->n_rows - 1, 0));
    const Row *r = t->n_rows && *y < 0 ? &t->row[t->focus_row] : nino_timeline_row_at(t, *y);
    if (*y < 0) { // the chosen row; at the cursor, if there is one
        *x = MAX(*x, 20);
        *y = r ? (double) (nino_timeline_row_y(t, r) + r->h / 2) : 20;
    }
    t->menu_row = r ? (int) (r - t->row) : t->n_rows;
    const gboolean is_bar =
        r && *x >= t->gutter && nino_timeline_pick(area, *x, *y, 1, t) &&
        (nino_run_picked(t->run) == NINO_PICK_SPAN || nino_run_picked(t->run) == NINO_PICK_SLICE);
    if (r)
        of_row(t, r, more);
    if (nino_timeline_has_flags(t))
        g_menu_append(last, _("Show all rows"), "timeline.show-all");
    g_menu_append_section(more, NULL, G_MENU_MODEL(last));
    return is_bar;
}

void nino_timeline_add_menu(GtkWidget *box)
{
    static const GActionEntry actions[] = {
        { .name = "hide", .activate = menu_row },
        { .name = "pin", .activate = menu_row },
        { .name = "collapse", .activate = menu_row },
        { .name = "show-all", .activate = menu_row },
    };
    g_autoptr(GSimpleActionGroup) group = g_simple_action_group_new();
    g_action_map_add_action_entries(G_ACTION_MAP(group), actions, G_N_ELEMENTS(actions), box);
    gtk_widget_insert_action_group(box, "timeline", G_ACTION_GROUP(group));
}
