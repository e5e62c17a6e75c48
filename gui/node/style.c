// Colours and CSS of the canvas. Colours of types and of nodes are those users know from ComfyUI.
#include "node/style.h"

#include <string.h>

#include "base/contrast.h"
#include "base/i18n.h"

static const struct {
    const char *type, *color;
} types[] = {
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
    GdkRGBA c = { 0.6f, 0.6f, 0.6f, 1 };
    for (size_t i = 0; i < G_N_ELEMENTS(types); i++)
        if (!strcmp(types[i].type, type)) {
            gdk_rgba_parse(&c, types[i].color);
            break;
        }
    if (!is_dark) { // the bright ones would vanish on white
        const float l = luma(&c);
        c = style_mix(c, (GdkRGBA){ 0, 0, 0, 1 }, l > 0.45f ? 1 - 0.45f / l : 0);
    }
    return c;
}

gboolean nino_file_color(const char *text, gboolean is_dark, GdkRGBA *out)
{
    if (!text || !gdk_rgba_parse(out, text))
        return FALSE;
    if (!is_dark && luma(out) < 0.5f) // chosen for a dark canvas
        *out = style_mix(*out, (GdkRGBA){ 1, 1, 1, 1 }, 0.72f);
    return TRUE;
}

void nino_graph_colors(GtkWidget *w, NinoGraphColors *out)
{
    GdkRGBA fg;
    gtk_style_context_get_color(gtk_widget_get_style_context(w), &fg);
    const gboolean is_dark = luma(&fg) > 0.5f, is_high = nino_is_high_contrast(w);
#define RGB(x)                                                                                     \
    ((GdkRGBA){ ((x) >> 16 & 255) / 255.f, ((x) >> 8 & 255) / 255.f, ((x) &255) / 255.f, 1 })
    *out = is_dark ? (NinoGraphColors){ .canvas = RGB(0x1e1f22),
                                        .grid = RGB(0x2b2d31),
                                        .body = RGB(0x34363b),
                                        .title = RGB(0x292b2f),
                                        .text = RGB(0xe4e5e8),
                                        .dim = RGB(0xa4a8b0),
                                        .border = RGB(0x17181a),
                                        .accent = RGB(0x62a0ea),
                                        .error = RGB(0xff6b5f),
                                        .running = RGB(0x57e389),
                                        .done = RGB(0x8ff0a4),
                                        .cached = RGB(0x99c1f1),
                                        .bypass = RGB(0x8a3fa0) }
                   : (NinoGraphColors){ .canvas = RGB(0xebecef),
                                        .grid = RGB(0xd9dbe0),
                                        .body = RGB(0xfdfdfe),
                                        .title = RGB(0xe2e4e9),
                                        .text = RGB(0x1f2126),
                                        .dim = RGB(0x5c6068),
                                        .border = RGB(0xb4b8c0),
                                        .accent = RGB(0x1c71d8),
                                        .error = RGB(0xc01c28),
                                        .running = RGB(0x26a269),
                                        .done = RGB(0x1f7a4d),
                                        .cached = RGB(0x1a5fb4),
                                        .bypass = RGB(0xb070c8) };
#undef RGB
    out->is_dark = is_dark;
    out->is_high_contrast = is_high;
    if (is_high) {
        out->border = out->text = out->dim = fg;
        out->canvas = is_dark ? (GdkRGBA){ 0, 0, 0, 1 } : (GdkRGBA){ 1, 1, 1, 1 };
        out->body = out->title = out->canvas;
    }
}

// Rows of 20 in nodes: that is what workflow files are laid out for.
static const char css[] =
    "ninocanvas:focus-visible { outline: none; }\n"
    "ninonode { font-size: 11px; }\n"
    "ninonode entry, ninonode spinbutton, ninonode button, ninonode spinbutton > text {\n"
    "  min-height: 18px; padding-top: 0; padding-bottom: 0; font-size: 11px; font-weight: normal;\n"
    "  box-shadow: none; }\n"
    "ninonode entry, ninonode spinbutton { border-radius: 5px; padding-left: 6px;\n"
    "  padding-right: 4px; min-width: 0; }\n"
    "ninonode spinbutton { padding: 0; }\n"
    "ninonode spinbutton > text { padding: 0 0 0 6px; min-width: 0; }\n"
    "ninonode spinbutton > button { min-width: 12px; padding: 0 2px; -gtk-icon-size: 9px; }\n"
    "ninonode button.choice { border-radius: 5px; padding: 0 4px 0 6px; min-width: 0; }\n"
    "ninonode button.browse { border-radius: 5px; padding: 0 3px; min-width: 0; }\n"
    "ninonode button.browse image { -gtk-icon-size: 11px; }\n"
    "ninonode button.choice image { -gtk-icon-size: 10px; opacity: .7; }\n"
    "ninonode textview, ninonode textview > text { font-size: 11px; }\n"
    "ninonode label.note { font-size: 11px; padding: 4px 6px; }\n"
    "ninonode scrolledwindow { border-radius: 5px; }\n"
    "ninonode checkbutton { min-height: 18px; padding: 0; }\n"
    "ninonode checkbutton check { min-width: 12px; min-height: 12px; -gtk-icon-size: 12px; }\n"
    ".inert { opacity: .55; }\n"
    "button.choice > box > label { font-weight: normal; }\n"
    "popover.nodesearch contents { padding: 6px; }\n"
    "popover.nodesearch list { background: none; }\n"
    "popover.nodesearch row { padding: 4px 8px; border-radius: 6px; }\n"
    ".canvasbar { background: alpha(@theme_bg_color, .9); border-radius: 8px; padding: 2px 6px; "
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
    GtkCssProvider *p = gtk_css_provider_new();
    gtk_css_provider_load_from_data(p, css, -1);
    gtk_style_context_add_provider_for_display(gdk_display_get_default(), GTK_STYLE_PROVIDER(p),
                                               GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
    g_object_unref(p);
}
