// The one table of what the app looks like: colours for light, dark and high contrast, the scales of spacing,
// corners and type. Style sheets take it by name ($space-s, @nino_accent), drawing through these functions.
#pragma once
#include <gtk/gtk.h>

typedef enum NinoTheme {
    NINO_THEME_LIGHT,
    NINO_THEME_DARK,
    NINO_THEME_CONTRAST,
    NINO_THEME_CONTRAST_DARK,
    NINO_THEMES
} NinoTheme;

// name, then its colour in each theme as 0xRRGGBBAA. Where pairs of text and ground are: nino_token_pairs.
#define NINO_TOKENS(T)                                                                             \
    /* the canvas and its nodes */                                                                 \
    T(CANVAS, canvas, 0xebecefff, 0x1e1f22ff, 0xffffffff, 0x000000ff)                              \
    T(GRID, grid, 0xd9dbe0ff, 0x2b2d31ff, 0xd9dbe0ff, 0x2b2d31ff)                                  \
    T(BODY, body, 0xfdfdfeff, 0x34363bff, 0xffffffff, 0x000000ff)                                  \
    T(TITLE, title, 0xe2e4e9ff, 0x292b2fff, 0xffffffff, 0x000000ff)                                \
    T(TEXT, text, 0x1f2126ff, 0xe4e5e8ff, 0x000000ff, 0xffffffff)                                  \
    T(DIM, dim, 0x555961ff, 0xa4a8b0ff, 0x000000ff, 0xffffffff)                                    \
    T(BORDER, border, 0xb4b8c0ff, 0x17181aff, 0x000000ff, 0xffffffff)                              \
    T(ACCENT, accent, 0x1c71d8ff, 0x62a0eaff, 0x1a5fb4ff, 0x62a0eaff)                              \
    T(SELECTED, selected, 0x1c71d8ff, 0x15539eff, 0x1a5fb4ff, 0x1a5fb4ff)                          \
    T(UNKNOWN, unknown, 0xf6e3e4ff, 0x4a3236ff, 0xffffffff, 0x000000ff)                            \
    T(BYPASS, bypass, 0xb070c8ff, 0x8a3fa0ff, 0xb070c8ff, 0x8a3fa0ff)                              \
    /* states, on a title or a list */                                                             \
    T(ERROR, error, 0xc01c28ff, 0xff7b6fff, 0xa51d2dff, 0xff7b63ff)                                \
    T(WARNING, warning, 0xe5a50aff, 0xe5a50aff, 0xe5a50aff, 0xe5a50aff)                            \
    T(RUNNING, running, 0x156b3fff, 0x57e389ff, 0x126b3eff, 0x57e389ff)                            \
    T(DONE, done, 0x1a6b43ff, 0x8ff0a4ff, 0x126b3eff, 0x8ff0a4ff)                                  \
    T(CACHED, cached, 0x1a5fb4ff, 0x99c1f1ff, 0x1a5fb4ff, 0x99c1f1ff)                              \
    T(CANCELLED, cancelled, 0x7a4b00ff, 0xf8c77eff, 0x6b4200ff, 0xf8c77eff)                        \
    T(KILLED, killed, 0x813d9cff, 0xdc8addff, 0x6b2f84ff, 0xdc8addff)                              \
    T(PAUSED, paused, 0x3d4f6bff, 0xc0cde0ff, 0x2c3c55ff, 0xc0cde0ff)                              \
    /* plots; on the screen they lie on the ground of GTK's theme, which this has to be like */    \
    T(PLOT, plot, 0xffffffff, 0x353535ff, 0xffffffff, 0x000000ff)                                  \
    T(PLOT_TEXT, plot_text, 0x1a1a1aff, 0xededEDff, 0x000000ff, 0xffffffff)                        \
    T(PLOT_DIM, plot_dim, 0x1a1a1ab8, 0xededEDb8, 0x000000ff, 0xffffffff)                          \
    T(PLOT_GRID, plot_grid, 0x1a1a1a1f, 0xededED1f, 0x0000004d, 0xffffff4d)                        \
    T(FAST, fast, 0x338cd9ff, 0x338cd9ff, 0x338cd9ff, 0x338cd9ff)                                  \
    T(SLOW, slow, 0xed8019ff, 0xed8019ff, 0xed8019ff, 0xed8019ff)                                  \
    /* over pictures, whatever they show */                                                        \
    T(OVER, over, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff)                                  \
    T(SHADE, shade, 0x000000b3, 0x000000b3, 0x000000ff, 0x000000ff)                                \
    T(UNDER, under, 0x000000ff, 0x000000ff, 0x000000ff, 0x000000ff)                                \
    T(MASK, mask, 0xe01b24ff, 0xe01b24ff, 0xe01b24ff, 0xe01b24ff)

#define NINO_TOKEN_ENUM(id, name, light, dark, contrast, contrast_dark) NINO_COLOUR_##id,
typedef enum NinoColour { NINO_TOKENS(NINO_TOKEN_ENUM) NINO_COLOURS } NinoColour;
#undef NINO_TOKEN_ENUM

// Spacing, corners and letters in pixels; in style sheets $space-xs … $space-xl, $radius, $font-small …
enum {
    NINO_SPACE_HAIR = 2, // lines of one text
    NINO_SPACE_XS = 4,
    NINO_SPACE_S = 8,
    NINO_SPACE_M = 12,
    NINO_SPACE_L = 16,
    NINO_SPACE_XL = 24,
    NINO_RADIUS = 8,
    NINO_FONT_SMALL = 11,
    NINO_FONT_BODY = 13,
    NINO_FONT_HEAD = 15,
    NINO_FONT_TITLE = 20
};

// Text on its ground: WCAG 2.1 AA asks for 4.5 (tests/gui/program/colours.c measures it).
typedef struct NinoTokenPair {
    NinoColour text, ground;
} NinoTokenPair;
extern const NinoTokenPair nino_token_pairs[];
extern const size_t nino_token_n_pairs;

const GdkRGBA *nino_token(NinoColour c, NinoTheme theme);
NinoTheme nino_theme_of(GtkWidget *w); // that it is drawn with now
gboolean nino_theme_is_dark(NinoTheme theme);
gboolean nino_theme_is_contrast(NinoTheme theme);
// A style sheet whose $sizes and @nino_ colours are those of the table; for the display, following the theme.
void nino_tokens_add_css(const char *css);

// ---- colours that are the same in every theme -----------------------------------------------------

// Of series in plots, then of kinds of what takes time: plot/plot.h has their order.
enum { NINO_SERIES_COLOURS = 28 };
const GdkRGBA *nino_token_series(size_t i);
// Of a type of links, as users know it from ComfyUI; NULL: none of its own.
const GdkRGBA *nino_token_link(const char *type);
const GdkRGBA *nino_token_other_link(void);

// Of what nodes are for, on their titles: all of one lightness, told apart with any kind of colour vision as far as that lets
// them (tests/gui/program/colours.c).
typedef enum NinoCategory {
    NINO_CATEGORY_LOADERS,
    NINO_CATEGORY_CONDITIONING,
    NINO_CATEGORY_SAMPLING,
    NINO_CATEGORY_LATENT,
    NINO_CATEGORY_IMAGE,
    NINO_CATEGORY_MASK,
    NINO_CATEGORY_MODEL,
    NINO_CATEGORY_OTHER,
    NINO_CATEGORIES
} NinoCategory;
const GdkRGBA *nino_token_category(NinoCategory c);

// Colours for nodes and groups to choose from, as ComfyUI's editor writes them into files.
typedef struct NinoNodeColor {
    const char *name, *title, *body; // name: of the action; shown translated
    const char *group;               // for a group
} NinoNodeColor;
extern const NinoNodeColor nino_node_colors[]; // {0}-terminated
extern const char nino_group_color[];          // of a group that has chosen none
extern const char nino_plain_group_color[];    // of one whose colour is taken back
