/* The terminal view. Columns of the table are rows of one array. Relies on: result documents as
 * docs/result.md describes them. */
#include "report/terminal.h"

#include "base/control.h"

#include <math.h>
#include <string.h>

typedef struct view {
    const ss_result *result;
    const ss_terminal_style *style;
    FILE *out;
} view;

#define LONGEST_PLAIN 1e6 /* numbers from here on are written with an exponent, or columns would burst */
enum { PERPLEXITY_SAYS_LITTLE = 30 }; /* a mean loss from which on it is digits without end */

/* ---- text ------------------------------------------------------------------------------------- */

static void paint(const view *v, const char *code) {
    if (v->style->color) fprintf(v->out, "\x1b[%sm", code);
}

/* Columns that a UTF-8 text takes, counting one a character. */
static size_t columns(const char *text, size_t bytes) {
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++) count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

/* Bytes of a file's text may hold escape sequences: control characters are drawn as '?'. */
static void put_safe(const view *v, const char *text, size_t bytes) {
    for (size_t i = 0; i < bytes;) {
        const size_t control = ss_control_size(text + i, bytes - i);
        fputc(control ? '?' : text[i], v->out);
        i += control ? control : 1;
    }
}

/* Words folded at the width, following lines indented. */
static void put_folded(const view *v, const char *text, size_t indent) {
    size_t at = indent;
    for (const char *word = text; *word;) {
        size_t bytes = strcspn(word, " "), wide = columns(word, bytes);
        if (at > indent && at + 1 + wide > v->style->width) {
            fprintf(v->out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (at > indent) {
            fputc(' ', v->out);
            at++;
        }
        put_safe(v, word, bytes);
        at += wide;
        word += bytes + (word[bytes] == ' ');
    }
    fputc('\n', v->out);
}

static const char *text_at(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "?";
}

/* The same of a text in an object. */
static void put_text_at(const view *v, const json_t *object, const char *key) {
    const char *text = text_at(object, key);
    put_safe(v, text, strlen(text));
}

/* "1 layer", "2 layers" */
static void put_count_at(const view *v, const json_t *object, const char *key, const char *one) {
    const double count = ss_number_at(object, key);
    fprintf(v->out, "%.0f %s%s", count, one, count == 1 ? "" : "s");
}

/* 134515008 -> "134.5M" */
static void put_amount(const view *v, double amount) {
    static const struct {
        double unit;
        const char *suffix;
    } units[] = {{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "k"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (amount >= units[i].unit) {
            fprintf(v->out, "%.1f%s", amount / units[i].unit, units[i].suffix);
            return;
        }
    }
    fprintf(v->out, "%.0f", amount);
}

/* ---- the head of the page ---------------------------------------------------------------------- */

static void print_model(const view *v) {
    const json_t *root = v->result->root, *model = json_object_get(root, "model"),
                 *input = json_object_get(root, "input");
    if (!model) return;
    paint(v, "1");
    put_text_at(v, model, "name");
    paint(v, "0");
    fputs("  ", v->out);
    put_text_at(v, model, "architecture");
    fputs(", ", v->out);
    put_count_at(v, model, "layers", "layer");
    fputs(" x ", v->out);
    put_count_at(v, model, "heads", "head");
    fputs(", ", v->out);
    put_amount(v, ss_number_at(model, "parameters"));
    fputs(" parameters (", v->out);
    put_text_at(v, model, "weights");
    fputs(")\n", v->out);
    put_text_at(v, input, "name");
    fputs("  ", v->out);
    put_count_at(v, input, "tokens", "token");
    const double nll = ss_number_at(root, "output.nll_mean");
    if (isfinite(nll)) fprintf(v->out, ", mean loss %.4f nats a token", nll);
    if (nll < PERPLEXITY_SAYS_LITTLE) fprintf(v->out, " (perplexity %.2f)", exp(nll));
    fputs("\n\n", v->out);
}

static void print_findings(const view *v) {
    static const struct {
        const char *severity, *mark, *color;
    } marks[] = {{"error", "ERROR  ", "1;31"}, {"warning", "WARNING", "1;33"}, {"info", "note   ", "36"}};
    const json_t *finding, *findings = json_object_get(v->result->root, "findings");
    size_t i;
    json_array_foreach(findings, i, finding) {
        size_t kind = 0;
        while (kind < 2 && strcmp(marks[kind].severity, text_at(finding, "severity")) != 0) kind++;
        fputs("  ", v->out);
        paint(v, marks[kind].color);
        fputs(marks[kind].mark, v->out);
        paint(v, "0");
        fputs("  ", v->out);
        put_folded(v, text_at(finding, "text"), 11);
    }
    if (json_array_size(findings) == 0) fputs("  Nothing stands out.\n", v->out);
    fputc('\n', v->out);
}

/* ---- the table -------------------------------------------------------------------------------- */

typedef enum gather { GATHER_PLAIN, GATHER_MAX, GATHER_SUM, GATHER_COUNT } gather;

/* One column: where its number stands in a layer (from the layer itself, or gathered over its heads) and in a
 * head, and how it is drawn. */
typedef struct column {
    const char *title;
    const char *layer_path;
    gather how;
    const char *head_path; /* NULL: the column is blank in lines of heads */
    int width, decimals;
    bool percent;   /* a share, shown times 100 */
    double bar_max; /* > 0: a bar of value / bar_max */
} column;

static const column table[] = {
    {"theta", "pooled.theta.median", GATHER_PLAIN, "theta.median", 7, 5, false, 1},
    {"saturated", "saturated_share", GATHER_PLAIN, "saturated_share", 8, 1, true, 0},
    {"entropy", "pooled.entropy_norm.mean", GATHER_PLAIN, "entropy_norm.mean", 6, 3, false, 1},
    {"p max", "pooled.p_max.mean", GATHER_PLAIN, "p_max.mean", 6, 3, false, 1},
    {"logit", "max_logit", GATHER_MAX, "max_logit", 7, 2, false, 0},
    {"on key 0", "pooled.first_key", GATHER_PLAIN, "first_key", 6, 3, false, 1},
    {"sinks", "sink_rate", GATHER_SUM, "sink_rate", 5, 0, false, 0},
    {"norm", "hidden.block_inf_rms", GATHER_PLAIN, NULL, 8, 2, false, 0},
    {"massive", "hidden.massive", GATHER_COUNT, NULL, 7, 0, false, 0},
};

/* Of a dump: its rows together, and each group of them. */
static const column dump_table[] = {
    {"rows", "rows", GATHER_PLAIN, "rows", 8, 0, false, 0},
    {"theta", "theta.median", GATHER_PLAIN, "theta.median", 7, 5, false, 1},
    {"least theta", "theta.min", GATHER_PLAIN, "theta.min", 7, 5, false, 0},
    {"saturated", "saturated_share", GATHER_PLAIN, "saturated_share", 8, 1, true, 0},
    {"entropy", "entropy_norm.mean", GATHER_PLAIN, "entropy_norm.mean", 6, 3, false, 1},
    {"p max", "p_max.mean", GATHER_PLAIN, "p_max.mean", 6, 3, false, 1},
    {"on key 0", "first_key", GATHER_PLAIN, "first_key", 6, 3, false, 1},
};

/* A table as it is drawn: its columns behind one for names. */
typedef struct layout {
    const char *names; /* what lines are */
    int name_width;
    const column *columns;
    size_t count;
} layout;

static const layout layer_layout = {"layer", 6, table, sizeof table / sizeof *table},
                    dump_layout = {"group", 12, dump_table, sizeof dump_table / sizeof *dump_table};

/* How much of a layout fits the terminal: bars shrink and go first, then the last columns. */
typedef struct fit {
    const layout *layout;
    size_t columns;
    int bar; /* columns of a bar; 0 for none */
} fit;

static double gathered(const json_t *layer, const column *c) {
    const json_t *head;
    size_t i;
    double value = NAN;
    json_array_foreach(json_object_get(layer, "heads"), i, head) {
        double one = ss_number_at(head, c->layer_path);
        if (!isfinite(one)) continue;
        value = isnan(value) ? one : c->how == GATHER_MAX ? fmax(value, one) : value + one;
    }
    return value;
}

static double layer_value(const json_t *layer, const column *c) {
    if (c->how == GATHER_COUNT)
        return (double)json_array_size(json_object_get(json_object_get(layer, "hidden"), "massive"));
    if (c->how != GATHER_PLAIN) return gathered(layer, c);
    double value = ss_number_at(layer, c->layer_path);
    return isnan(value) ? ss_number_at(json_object_get(layer, "pooled"), c->layer_path) : value;
}

/* A share as eighths of blocks, always `width` columns wide. */
static void put_bar(const view *v, double share, int width) {
    static const char *const eighths[] = {" ",      "\u258f", "\u258e", "\u258d", "\u258c",
                                          "\u258b", "\u258a", "\u2589", "\u2588"};
    double fill = fmin(fmax(share, 0), 1) * width;
    paint(v, "36");
    for (int i = 0; i < width; i++) {
        double part = fmin(fmax(fill - i, 0), 1);
        fputs(eighths[(int)(part * 8 + 0.5)], v->out);
    }
    paint(v, "0");
}

static int bar_width(const column *c, int bar) {
    return c->bar_max > 0 && bar > 0 ? bar + 1 : 0;
}

static int cell_width(const column *c, int bar) {
    const int width = c->width + c->percent + bar_width(c, bar), title = (int)strlen(c->title);
    return width > title ? width : title;
}

static int line_width(const layout *l, size_t columns_shown, int bar) {
    int width = l->name_width;
    for (size_t i = 0; i < columns_shown; i++) width += 2 + cell_width(&l->columns[i], bar);
    return width;
}

static fit fit_layout(const view *v, const layout *l) {
    const int room = (int)v->style->width;
    fit f = {.layout = l, .columns = l->count, .bar = 6};
    while (f.bar > 0 && line_width(l, f.columns, f.bar) > room) f.bar -= 2;
    while (f.columns > 1 && line_width(l, f.columns, f.bar) > room) f.columns--;
    return f;
}

static void put_cell(const view *v, const column *c, int bar, double value) {
    char text[32] = "-";
    if (isfinite(value))
        snprintf(text, sizeof text, fabs(value) < LONGEST_PLAIN ? "%.*f%s" : "%.*e%s", c->decimals,
                 c->percent ? 100 * value : value, c->percent ? "%" : "");
    fprintf(v->out, "  %*s", cell_width(c, bar) - bar_width(c, bar), text);
    if (bar_width(c, bar) == 0) return;
    fputc(' ', v->out);
    if (isfinite(value))
        put_bar(v, value / c->bar_max, bar);
    else
        fprintf(v->out, "%*s", bar, "");
}

static void print_header(const view *v, const fit *f) {
    paint(v, "1");
    fprintf(v->out, "%-*s", f->layout->name_width, f->layout->names);
    for (size_t i = 0; i < f->columns; i++) {
        const column *c = &f->layout->columns[i];
        fprintf(v->out, "  %*s", cell_width(c, f->bar), c->title);
    }
    paint(v, "0");
    fputc('\n', v->out);
}

static void print_line(const view *v, const fit *f, const char *name, const json_t *node, bool is_head) {
    fprintf(v->out, "%-*s", f->layout->name_width, name);
    for (size_t i = 0; i < f->columns; i++) {
        const column *c = &f->layout->columns[i];
        put_cell(v, c, f->bar,
                 !is_head       ? layer_value(node, c)
                 : c->head_path ? ss_number_at(node, c->head_path)
                                : NAN);
    }
    fputc('\n', v->out);
}

static void print_layers(const view *v) {
    const json_t *layers = json_object_get(v->result->root, "layers"), *layer, *head;
    size_t i, j;
    if (json_array_size(layers) == 0) return;
    const fit f = fit_layout(v, &layer_layout);
    print_header(v, &f);
    json_array_foreach(layers, i, layer) {
        char name[32];
        snprintf(name, sizeof name, "%.0f", ss_number_at(layer, "index"));
        print_line(v, &f, name, layer, false);
        if (!v->style->heads) continue;
        json_array_foreach(json_object_get(layer, "heads"), j, head) {
            snprintf(name, sizeof name, "  .%.0f", ss_number_at(head, "index"));
            print_line(v, &f, name, head, true);
        }
    }
    fputc('\n', v->out);
    put_folded(
        v,
        "theta: median over rows, 1 = fully sensitive, 0 = frozen. saturated: rows with theta <= "
        "0.01. entropy: over log n, 1 "
        "= uniform. p max: mean largest weight. logit: the largest. sinks: heads with a sink on key 0. "
        "norm: the largest token's RMS after the layer. massive: massive activations.",
        0);
}

/* ---- a dump ----------------------------------------------------------------------------------- */

static void print_list(const view *v, const json_t *numbers, const char *between) {
    const json_t *number;
    size_t i;
    json_array_foreach(numbers, i, number) {
        fprintf(v->out, "%s%.0f", i ? between : "", json_number_value(number));
    }
}

static void print_dump_input(const view *v) {
    const json_t *input = json_object_get(v->result->root, "input");
    paint(v, "1");
    put_text_at(v, input, "name");
    paint(v, "0");
    fputs("  ", v->out);
    put_text_at(v, input, "kind");
    fputs(" of shape ", v->out);
    print_list(v, json_object_get(input, "shape"), " x ");
    fputs(" (", v->out);
    put_text_at(v, input, "type");
    fputs("), support: ", v->out);
    put_text_at(v, input, "support");
    const double tau = ss_number_at(input, "tau");
    if (tau != 1) fprintf(v->out, ", tau %g", tau);
    fputs("\n\n", v->out);
}

static void print_groups(const view *v, const fit *f, const json_t *groups) {
    enum { MOST_LINES = 40 };
    const json_t *group;
    size_t i;
    json_array_foreach(groups, i, group) {
        char name[64] = "[";
        const json_t *index = json_object_get(group, "index"), *number;
        size_t axis, used = 1;
        if (i == MOST_LINES && !v->style->heads) {
            fprintf(v->out, "(%zu more groups: --groups shows all)\n", json_array_size(groups) - i);
            return;
        }
        json_array_foreach(index, axis, number) {
            int wrote = snprintf(name + used, sizeof name - used, "%s%.0f", axis ? "," : "",
                                 json_number_value(number));
            used += (size_t)wrote < sizeof name - used ? (size_t)wrote : 0;
        }
        snprintf(name + used, sizeof name - used, "]");
        print_line(v, f, name, group, true);
    }
}

static void print_dump(const view *v) {
    const json_t *root = v->result->root, *settings = json_object_get(root, "settings");
    char note[512];
    const fit f = fit_layout(v, &dump_layout);
    print_header(v, &f);
    print_line(v, &f, "all", json_object_get(root, "rows"), true);
    print_groups(v, &f, json_object_get(root, "groups"));
    fputc('\n', v->out);
    snprintf(note, sizeof note,
             "Over %s. theta: median, 1 = fully sensitive, 0 = frozen. saturated: rows with theta <= %g. "
             "entropy: over log n, 1 = uniform. p max: mean largest weight. on key 0: mean weight on the "
             "first key, a "
             "sink above %g.",
             text_at(settings, "row_range"), ss_number_at(settings, "saturated_theta"),
             ss_number_at(settings, "sink_threshold"));
    put_folded(v, note, 0);
}

void ss_terminal_print(const ss_result *result, const ss_terminal_style *style, FILE *out) {
    const view v = {result, style, out};
    const bool is_dump = strcmp(text_at(result->root, "command"), "theta") == 0;
    if (is_dump)
        print_dump_input(&v);
    else
        print_model(&v);
    print_findings(&v);
    if (is_dump)
        print_dump(&v);
    else
        print_layers(&v);
}
