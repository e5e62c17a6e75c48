// The values of the table, and style sheets made with them.
#include "base/tokens.h"

#include <string.h>

#include "base/i18n.h"

// ---- by theme ----------------------------------------------------------------------------------

#define NINO_TOKEN_ROW(id, name, light, dark, contrast, contrast_dark)                             \
    { #name, { light, dark, contrast, contrast_dark } },
static const struct {
    const char *name;
    guint32 rgba[NINO_THEMES];
} tokens[NINO_COLOURS] = { NINO_TOKENS(NINO_TOKEN_ROW) };
#undef NINO_TOKEN_ROW

const NinoTokenPair nino_token_pairs[] = {
    { NINO_COLOUR_TEXT, NINO_COLOUR_BODY },     { NINO_COLOUR_TEXT, NINO_COLOUR_TITLE },
    { NINO_COLOUR_TEXT, NINO_COLOUR_CANVAS },   { NINO_COLOUR_TEXT, NINO_COLOUR_UNKNOWN },
    { NINO_COLOUR_DIM, NINO_COLOUR_BODY },      { NINO_COLOUR_DIM, NINO_COLOUR_TITLE },
    { NINO_COLOUR_DIM, NINO_COLOUR_CANVAS },    { NINO_COLOUR_DIM, NINO_COLOUR_UNKNOWN },
    { NINO_COLOUR_ERROR, NINO_COLOUR_TITLE },   { NINO_COLOUR_RUNNING, NINO_COLOUR_TITLE },
    { NINO_COLOUR_DONE, NINO_COLOUR_TITLE },    { NINO_COLOUR_CACHED, NINO_COLOUR_TITLE },
    { NINO_COLOUR_PAUSED, NINO_COLOUR_TITLE },  { NINO_COLOUR_CANCELLED, NINO_COLOUR_TITLE },
    { NINO_COLOUR_KILLED, NINO_COLOUR_TITLE },  { NINO_COLOUR_PLOT_TEXT, NINO_COLOUR_PLOT },
    { NINO_COLOUR_PLOT_DIM, NINO_COLOUR_PLOT }, { NINO_COLOUR_OVER, NINO_COLOUR_SELECTED },
    { NINO_COLOUR_OVER, NINO_COLOUR_SHADE },    { NINO_COLOUR_OVER, NINO_COLOUR_UNDER },
};
const size_t nino_token_n_pairs = G_N_ELEMENTS(nino_token_pairs);

static GdkRGBA token_rgba(guint32 v)
{
    return (GdkRGBA){ (float) (v >> 24 & 255) / 255, (float) (v >> 16 & 255) / 255,
                      (float) (v >> 8 & 255) / 255, (float) (v & 255) / 255 };
}

const GdkRGBA *nino_token(NinoColour c, NinoTheme theme)
{
    static GdkRGBA made[NINO_COLOURS][NINO_THEMES];
    GdkRGBA *out = &made[c][theme];
    *out = token_rgba(tokens[c].rgba[theme]);
    return out;
}

gboolean nino_theme_is_dark(NinoTheme theme)
{
    return theme == NINO_THEME_DARK || theme == NINO_THEME_CONTRAST_DARK;
}

gboolean nino_theme_is_contrast(NinoTheme theme)
{
    return theme == NINO_THEME_CONTRAST || theme == NINO_THEME_CONTRAST_DARK;
}

// GTK has high contrast under the name of the user's theme, or of the one that is built in.
static gboolean is_contrast_name(const char *name)
{
    return name && (g_str_has_prefix(name, "HighContrast") || strstr(name, "-hc"));
}

static NinoTheme theme_from(gboolean is_dark, gboolean is_contrast)
{
    return is_contrast ? is_dark ? NINO_THEME_CONTRAST_DARK : NINO_THEME_CONTRAST
           : is_dark   ? NINO_THEME_DARK
                       : NINO_THEME_LIGHT;
}

NinoTheme nino_theme_of(GtkWidget *w)
{
    GdkRGBA fg; // says it of every theme there is, whatever its name
    g_autofree char *name = NULL;
    g_object_get(gtk_widget_get_settings(w), "gtk-theme-name", &name, NULL);
    gtk_style_context_get_color(gtk_widget_get_style_context(w), &fg);
    return theme_from(fg.red + fg.green + fg.blue > 1.5f, is_contrast_name(name));
}

// ---- style sheets ------------------------------------------------------------------------------

static const struct {
    const char *name;
    int px;
} sizes[] = {
    { "$space-hair", NINO_SPACE_HAIR }, { "$space-xs", NINO_SPACE_XS },
    { "$space-s", NINO_SPACE_S },       { "$space-m", NINO_SPACE_M },
    { "$space-l", NINO_SPACE_L },       { "$space-xl", NINO_SPACE_XL },
    { "$radius", NINO_RADIUS },         { "$font-small", NINO_FONT_SMALL },
    { "$font-body", NINO_FONT_BODY },   { "$font-head", NINO_FONT_HEAD },
    { "$font-title", NINO_FONT_TITLE },
};

static void css_load(GtkCssProvider *provider, const char *css)
{
    g_autofree char *name = NULL;
    gboolean is_dark = FALSE;
    g_object_get(gtk_settings_get_default(), "gtk-theme-name", &name,
                 "gtk-application-prefer-dark-theme", &is_dark, NULL);
    is_dark |= name && g_str_has_suffix(name, "-dark");
    const NinoTheme theme = theme_from(is_dark, is_contrast_name(name));
    g_autoptr(GString) out = g_string_new(NULL);
    for (int i = 0; i < NINO_COLOURS; i++) {
        g_autofree char *rgba = gdk_rgba_to_string(nino_token((NinoColour) i, theme));
        g_string_append_printf(out, "@define-color nino_%s %s;\n", tokens[i].name, rgba);
    }
    const gsize at = out->len;
    g_string_append(out, css);
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        char px[16];
        g_snprintf(px, sizeof(px), "%dpx", sizes[i].px);
        g_string_replace(out, sizes[i].name, px, 0);
    }
    if (strchr(out->str + at, '$'))
        g_critical("a style sheet asks for a size that there is not: %.40s",
                   strchr(out->str + at, '$'));
    gtk_css_provider_load_from_data(provider, out->str, (gssize) out->len);
}

static void on_css_theme(GtkCssProvider *provider)
{
    css_load(provider, g_object_get_data(G_OBJECT(provider), "css"));
}

void nino_tokens_add_css(const char *css)
{
    GtkCssProvider *provider = gtk_css_provider_new();
    GtkSettings *s = gtk_settings_get_default();
    g_object_set_data_full(G_OBJECT(provider), "css", g_strdup(css), g_free);
    on_css_theme(provider);
    static const char *const of[] = { "notify::gtk-theme-name",
                                      "notify::gtk-application-prefer-dark-theme" };
    for (size_t i = 0; i < G_N_ELEMENTS(of); i++)
        g_signal_connect_object(s, of[i], G_CALLBACK(on_css_theme), provider, G_CONNECT_SWAPPED);
    gtk_style_context_add_provider_for_display(gdk_display_get_default(),
                                               GTK_STYLE_PROVIDER(provider),
                                               GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
    g_object_unref(provider); // the display has it
}

// ---- the same in every theme -------------------------------------------------------------------

// First series (Okabe-Ito and some more), then kinds: scopes are quieter than what runs on the device.
static const GdkRGBA series[NINO_SERIES_COLOURS] = {
    { 0.00f, 0.45f, 0.70f, 1 }, { 0.90f, 0.62f, 0.00f, 1 }, { 0.00f, 0.62f, 0.45f, 1 },
    { 0.84f, 0.37f, 0.00f, 1 }, { 0.34f, 0.71f, 0.91f, 1 }, { 0.80f, 0.47f, 0.65f, 1 },
    { 0.94f, 0.89f, 0.26f, 1 }, { 0.45f, 0.35f, 0.65f, 1 }, { 0.60f, 0.80f, 0.40f, 1 },
    { 0.70f, 0.25f, 0.30f, 1 }, { 0.35f, 0.55f, 0.60f, 1 }, { 0.55f, 0.55f, 0.55f, 1 },
    { 0.58f, 0.53f, 0.51f, 1 }, // job
    { 0.53f, 0.59f, 0.70f, 1 }, // node
    { 0.61f, 0.80f, 0.80f, 1 }, // stage
    { 0.92f, 0.71f, 0.61f, 1 }, // step
    { 0.79f, 0.75f, 0.96f, 1 }, // tile
    { 0.74f, 0.14f, 0.18f, 1 }, // compile
    { 0.20f, 0.46f, 0.91f, 1 }, // gemm
    { 0.92f, 0.62f, 0.28f, 1 }, // conv
    { 0.27f, 0.61f, 0.35f, 1 }, // norm
    { 0.73f, 0.38f, 0.05f, 1 }, // attn
    { 0.00f, 0.68f, 0.99f, 1 }, // elt
    { 0.70f, 0.38f, 0.77f, 1 }, // move
    { 0.79f, 0.79f, 0.00f, 1 }, // image
    { 0.48f, 0.30f, 1.00f, 1 }, // transfer
    { 0.39f, 0.41f, 0.49f, 1 }, // other
    { 0.88f, 0.11f, 0.14f, 1 }, // failed
};

const GdkRGBA *nino_token_series(size_t i) { return &series[MIN(i, NINO_SERIES_COLOURS - 1)]; }

static const GdkRGBA categories[NINO_CATEGORIES] = {
    { 0.41f, 0.56f, 0.31f, 1 }, // loaders
    { 0.78f, 0.43f, 0.05f, 1 }, // conditioning
    { 0.96f, 0.23f, 0.30f, 1 }, // sampling
    { 0.90f, 0.28f, 0.49f, 1 }, // latents
    { 0.47f, 0.49f, 0.82f, 1 }, // pictures
    { 0.22f, 0.57f, 0.51f, 1 }, // masks
    { 0.71f, 0.33f, 0.96f, 1 }, // models
    { 0.53f, 0.49f, 0.69f, 1 }, // others
};

const GdkRGBA *nino_token_category(NinoCategory c) { return &categories[c]; }

static const struct {
    const char *type, *color;
} links[] = {
    { "CLIP", "#ffd500" },
    { "CLIP_VISION", "#a8dadc" },
    { "CLIP_VISION_OUTPUT", "#ad7452" },
    { "CONDITIONING", "#ffa931" },
    { "CONTROL_NET", "#6ee7b7" },
    { "GUIDER", "#66ffff" },
    { "IMAGE", "#64b5f6" },
    { "LATENT", "#ff9cf9" },
    { "MASK", "#81c784" },
    { "MODEL", "#b39ddb" },
    { "NOISE", "#b0b0b0" },
    { "SAMPLER", "#ecb4b4" },
    { "SIGMAS", "#cdffcd" },
    { "STYLE_MODEL", "#c2ffae" },
    { "VAE", "#ff6e6e" },
    { "INT", "#7fc8a9" },
    { "FLOAT", "#8fc87f" },
    { "STRING", "#8fb4c8" },
    { "BOOLEAN", "#c88fb4" },
    { "COMBO", "#a9a9c8" },
    { "AUDIO", "#e0c58f" },
    { "VIDEO", "#8f9fe0" },
    { "UPSCALE_MODEL", "#b4c2a0" },
};

const GdkRGBA *nino_token_link(const char *type)
{
    static GdkRGBA made[G_N_ELEMENTS(links)];
    for (size_t i = 0; i < G_N_ELEMENTS(links); i++)
        if (!strcmp(links[i].type, type)) {
            gdk_rgba_parse(&made[i], links[i].color);
            return &made[i];
        }
    return NULL;
}

const GdkRGBA *nino_token_other_link(void)
{
    static const GdkRGBA grey = { 0.6f, 0.6f, 0.6f, 1 };
    return &grey;
}

const NinoNodeColor nino_node_colors[] = {
    { N_("red"), "#322", "#533", "#A88" },
    { N_("brown"), "#332922", "#593930", "#b06634" },
    { N_("green"), "#232", "#353", "#8A8" },
    { N_("blue"), "#223", "#335", "#88A" },
    { N_("pale-blue"), "#2a363b", "#3f5159", "#3f789e" },
    { N_("cyan"), "#233", "#355", "#8AA" },
    { N_("purple"), "#323", "#535", "#a1309b" },
    { N_("yellow"), "#432", "#653", "#b58b2a" },
    { N_("black"), "#222", "#000", "#444" },
    { 0 },
};
const char nino_group_color[] = "#335588", nino_plain_group_color[] = "#3f789e";
