/* The manual page and the completion, from the option tables. Relies on: the C library. */
#include "describe.h"

#include "base/status.h"

#include <string.h>

/* ---- manual page ------------------------------------------------------------------------------ */

/* Text as roff reads it: a hyphen that can be copied, no line that starts as a request. */
static void put_roff(const char *text, FILE *out) {
    bool line_start = true;
    for (const char *at = text; *at; at++) {
        if (line_start && (*at == '.' || *at == '\'')) fputs("\\&", out);
        if (*at == '-')
            fputs("\\-", out);
        else if (*at == '\\')
            fputs("\\e", out);
        else
            fputc(*at, out);
        line_start = *at == '\n';
    }
}

static void put_section(const char *name, FILE *out) {
    fprintf(out, ".SH %s\n", name);
}

/* Lines as they are, not filled. */
static void put_lines(const char *text, FILE *out) {
    fputs(".nf\n", out);
    put_roff(text, out);
    fputs("\n.fi\n", out);
}

static void put_option(const option *o, FILE *out) {
    fputs(".TP\n\\fB\\-\\-", out);
    put_roff(o->name, out);
    fputs("\\fR", out);
    if (o->value) {
        fputs(" \\fI", out);
        put_roff(o->value, out);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    put_roff(o->help, out);
    fputc('\n', out);
}

static void put_command(const command *c, FILE *out) {
    fprintf(out, ".SS softscope %s ", c->name);
    put_roff(c->usage, out);
    fputc('\n', out);
    put_roff(c->summary, out);
    fputs(".\n.PP\n", out);
    put_roff(c->text, out);
    fputc('\n', out);
    for (size_t i = 0; i < c->option_count; i++) put_option(&c->options[i], out);
    fputs(".PP\nExamples:\n.PP\n", out);
    put_lines(c->examples, out);
}

static void put_exit_statuses(FILE *out) {
    static const char *const meaning[] = {"done", "a condition of \\-\\-fail\\-on holds", "usage", "input",
                                          "system: not enough memory, an output that cannot be written"};
    for (size_t i = 0; i < sizeof meaning / sizeof *meaning; i++)
        fprintf(out, ".TP\n.B %zu\n%s\n", i, meaning[i]);
}

void print_man(const program *p, FILE *out) {
    fprintf(out, ".TH SOFTSCOPE 1 \"\" \"softscope %s\" \"User Commands\"\n", SS_VERSION);
    put_section("NAME", out);
    fputs("softscope \\- inspect the attention of transformers\n", out);
    put_section("SYNOPSIS", out);
    for (size_t i = 0; i < p->count; i++) {
        fprintf(out, "%s\\fBsoftscope %s\\fR ", i ? ".br\n" : "", p->commands[i]->name);
        put_roff(p->commands[i]->usage, out);
        fputc('\n', out);
    }
    fputs(".br\n\\fBsoftscope\\fR \\-\\-help | \\-\\-version\n", out);
    put_section("DESCRIPTION", out);
    put_roff(p->summary, out);
    fputc('\n', out);
    put_section("COMMANDS", out);
    for (size_t i = 0; i < p->count; i++) put_command(p->commands[i], out);
    put_section("EXIT STATUS", out);
    put_exit_statuses(out);
    put_section("ENVIRONMENT", out);
    fputs(".TP\n.B NO_COLOR\nwhen set, the terminal view has no colours\n", out);
}

/* ---- completion ------------------------------------------------------------------------------- */

/* Choices are written A|B; everything else is for a person to type, or a file. */
static void put_values(const option *o, FILE *out) {
    if (!o->value || !strchr(o->value, '|')) return;
    fprintf(out, "        --%s) COMPREPLY=($(compgen -W '", o->name);
    for (const char *at = o->value; *at; at++) fputc(*at == '|' ? ' ' : *at, out);
    fputs("' -- \"$word\")); return ;;\n", out);
}

void print_completion(const program *p, FILE *out) {
    fputs("# bash completion of softscope, made by: softscope --completion\n"
          "_softscope() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} options=\n"
          "    case ${COMP_WORDS[COMP_CWORD - 1]} in\n",
          out);
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < p->commands[i]->option_count; j++)
            put_values(&p->commands[i]->options[j], out);
    fputs("    esac\n    case ${COMP_WORDS[1]} in\n", out);
    for (size_t i = 0; i < p->count; i++) {
        fprintf(out, "        %s) options='", p->commands[i]->name);
        for (size_t j = 0; j < p->commands[i]->option_count; j++)
            fprintf(out, "--%s ", p->commands[i]->options[j].name);
        fputs("--help' ;;\n", out);
    }
    fputs("    esac\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          out);
    for (size_t i = 0; i < p->count; i++) fprintf(out, "%s ", p->commands[i]->name);
    fputs("--help --version' -- \"$word\"))\n"
          "    elif [[ $word == -* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
          "    fi\n"
          "}\n"
          "complete -o default -F _softscope softscope\n",
          out);
}
