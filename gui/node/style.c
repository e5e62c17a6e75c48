// Colours and CSS of the canvas. Colours of types and of nodes are those users know from ComfyUI.
#include "node/style.h"

static GdkRGBA style_mix(GdkRGBA a, GdkRGBA b, float t)
{
    return (GdkRGBA){ a.red + (b.red - a.red) * t, a.green + (b.green - a.green) * t,
                      a.blue + (b.blue - a.blue) * t, a.alpha };
}

static float luma(const GdkRGBA *c)
{
    return 0.2126f * c->red + 0.7152f * c->green + 0.0722f * c->blue;
}

GdkRGBA nino_type_color(const char *type, gboolean is_dark)
{
    const GdkRGBA *known = nino_token_link(type);
    GdkRGBA c = known ? *known : *nino_token_other_link();
    if (!is_dark) { // the bright ones would vanish on white
        const float l = luma(&c);
        c = style_mix(c, *nino_token(NINO_COLOUR_UNDER, NINO_THEME_LIGHT),
                      l > 0.45f ? 1 - 0.45f / l : 0);
    }
    return c;
}

// The innermost part that says it.
NinoCategory nino_category_of(const char *category)
{
    static const struct {
        const char *part;
        NinoCategory is;
    } parts[] = {
        { "loaders", NINO_CATEGORY_LOADERS },     { "conditioning", NINO_CATEGORY_CONDITIONING },
        { "sampling", NINO_CATEGORY_SAMPLING },   { "custom_sampling", NINO_CATEGORY_SAMPLING },
        { "latent", NINO_CATEGORY_LATENT },       { "image", NINO_CATEGORY_IMAGE },
        { "mask", NINO_CATEGORY_MASK },           { "model", NINO_CATEGORY_MODEL },
        { "model_patches", NINO_CATEGORY_MODEL }, { "model_merging", NINO_CATEGORY_MODEL },
    };
    NinoCategory is = NINO_CATEGORY_OTHER;
    g_auto(GStrv) words = g_strsplit(category ? category : "", "/", -1);
    for (char **w = words; *w; w++)
        for (gsize i = 0; i < G_N_ELEMENTS(parts); i++)
            if (g_str_equal(parts[i].part, *w))
                is = parts[i].is;
    return is;
}

gboolean nino_file_color(const char *text, gboolean is_dark, GdkRGBA *out)
{
    if (!text || !gdk_rgba_parse(out, text))
        return FALSE;
    if (!is_dark && luma(out) < 0.5f) // chosen for a dark canvas
        *out = style_mix(*out, *nino_token(NINO_COLOUR_OVER, NINO_THEME_LIGHT), 0.72f);
    return TRUE;
}

void nino_graph_colors(GtkWidget *w, NinoGraphColors *out)
{
    const NinoTheme theme = nino_theme_of(w);
    *out = (NinoGraphColors){ .canvas = *nino_token(NINO_COLOUR_CANVAS, theme),
                              .grid = *nino_token(NINO_COLOUR_GRID, theme),
                              .body = *nino_token(NINO_COLOUR_BODY, theme),
                              .unknown = *nino_token(NINO_COLOUR_UNKNOWN, theme),
                              .title = *nino_token(NINO_COLOUR_TITLE, theme),
                              .text = *nino_token(NINO_COLOUR_TEXT, theme),
                              .dim = *nino_token(NINO_COLOUR_DIM, theme),
                              .border = *nino_token(NINO_COLOUR_BORDER, theme),
                              .accent = *nino_token(NINO_COLOUR_ACCENT, theme),
                              .error = *nino_token(NINO_COLOUR_ERROR, theme),
                              .running = *nino_token(NINO_COLOUR_RUNNING, theme),
                              .done = *nino_token(NINO_COLOUR_DONE, theme),
                              .cached = *nino_token(NINO_COLOUR_CACHED, theme),
                              .paused = *nino_token(NINO_COLOUR_PAUSED, theme),
                              .cancelled = *nino_token(NINO_COLOUR_CANCELLED, theme),
                              .killed = *nino_token(NINO_COLOUR_KILLED, theme),
                              .bypass = *nino_token(NINO_COLOUR_BYPASS, theme),
                              .is_dark = nino_theme_is_dark(theme),
                              .is_high_contrast = nino_theme_is_contrast(theme) };
}

// Rows of 20 in nodes: that is what workflow files are laid out for.
static const char css[] =
    "ninocanvas:focus-visible { outline: none; }\n"
    "ninonode { font-size: $font-body; }\n"
    "ninonode entry, ninonode spinbutton, ninonode button, ninonode spinbutton > text {\n"
    "  min-height: 18px; padding-top: 0; padding-bottom: 0; font-size: $font-body; font-weight: "
    "normal;\n"
    "  box-shadow: none; }\n"
    "ninonode entry, ninonode spinbutton { border-radius: $radius; padding-left: $space-s;\n"
    "  padding-right: $space-xs; min-width: 0; }\n"
    "ninonode spinbutton { padding: 0; }\n"
    "ninonode spinbutton > text { padding: 0 0 0 $space-s; min-width: 0; }\n"
    "ninonode spinbutton > button { min-width: 12px; padding: 0 $space-hair; -gtk-icon-size: 9px; "
    "}\n"
    "ninonode button.choice { border-radius: $radius; padding: 0 $space-xs 0 $space-s; min-width: "
    "0; }\n"
    "ninonode button.browse { border-radius: $radius; padding: 0 $space-hair; min-width: 0; }\n"
    "ninonode button.browse image { -gtk-icon-size: 11px; }\n"
    "ninonode button.choice image { -gtk-icon-size: 10px; opacity: .7; }\n"
    "ninonode textview, ninonode textview > text { font-size: $font-body; }\n"
    "ninonode label.note { font-size: $font-body; padding: $space-xs $space-s; }\n"
    "ninonode scrolledwindow, ninonode scrolledwindow > textview, ninonode scrolledwindow > "
    "textview > text {\n"
    "  border-radius: $radius; }\n"
    "ninonode checkbutton { min-height: 18px; padding: 0; }\n"
    "ninonode checkbutton check { min-width: 12px; min-height: 12px; -gtk-icon-size: 12px; }\n"
    ".inert { opacity: .55; }\n"
    "button.choice > box > label { font-weight: normal; }\n"
    "popover.nodesearch contents { padding: $space-s; }\n"
    "popover.nodesearch list { background: none; }\n"
    "popover.nodesearch row { padding: $space-xs $space-s; border-radius: $radius; }\n"
    ".canvasbar { background: alpha(@theme_bg_color, .9); border-radius: $radius; padding: "
    "$space-hair $space-s; "
    "}\n";

void nino_graph_keep_ltr(GtkWidget *w)
{
    gtk_widget_set_direction(w, GTK_TEXT_DIR_LTR);
    for (GtkWidget *c = gtk_widget_get_first_child(w); c; c = gtk_widget_get_next_sibling(c))
        nino_graph_keep_ltr(c);
}

void nino_graph_add_css(void)
{
    static gboolean done;
    if (done)
        return;
    done = TRUE;
    nino_tokens_add_css(css);
}
