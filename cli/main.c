/* The program: a dispatch table over commands. */
#include "commands.h"

#include "base/status.h"
#include "describe.h"
#include "math/isa.h"
#include "math/matmul.h"

#include <string.h>

static const command *const commands[] = {&inspect_command, &theta_command, &report_command};

enum { COMMANDS = sizeof commands / sizeof *commands };

static const program self = {
    .summary =
        "softscope shows how sensitive, how concentrated and how healthy the attention of a transformer is.",
    .commands = commands,
    .count = COMMANDS,
};

static void print_help(FILE *out) {
    fprintf(out, "%s\n\nUsage: softscope COMMAND [arguments]\n\nCommands:\n", self.summary);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\nStart with:\n  softscope inspect MODEL --text FILE\n"
          "and read 'softscope COMMAND --help' for the rest. Exit status: 0 done, 1 a condition of --fail-on "
          "holds,\n"
          "2 usage, 3 input, 4 system.\n",
          out);
}

static void print_version(FILE *out) {
    const ss_isa isa = ss_isa_best();
    fprintf(out, "softscope %s\ninstruction set: %s%s\nlibraries:\n", SS_VERSION, ss_isa_name(isa),
            ss_has_bf16_matmul(isa) ? ", bfloat16 products" : "");
    print_libraries(out);
}

static void print_own_man(FILE *out) {
    print_man(&self, out);
}

static void print_own_completion(FILE *out) {
    print_completion(&self, out);
}

/* What can be asked of the program itself. The last two are for the build, which installs what they print. */
static const struct question {
    const char *asked;
    void (*answer)(FILE *out);
} questions[] = {
    {"--help", print_help},       {"-h", print_help},       {"help", print_help},
    {"--version", print_version}, {"--man", print_own_man}, {"--completion", print_own_completion},
};

static int unknown_command(const char *typed) {
    const char *names[COMMANDS];
    for (size_t i = 0; i < COMMANDS; i++) names[i] = commands[i]->name;
    const char *close = closest_name(typed, names, COMMANDS);
    ss_error error; /* which keeps what was typed from steering the terminal */
    ss_fail(&error, SS_E_USAGE, NULL, "there is no command '%s'%s%s; 'softscope --help' lists them", typed,
            close ? "; did you mean " : "", close ? close : "");
    return fail(&error);
}

static int cannot_print(void) {
    ss_error error;
    ss_fail(&error, SS_E_WRITE, "standard output", "cannot write");
    return fail(&error);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        print_help(stderr);
        return ss_status_exit(SS_E_USAGE);
    }
    const char *name = argv[1];
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        if (strcmp(questions[i].asked, name) != 0) continue;
        questions[i].answer(stdout);
        return fflush(stdout) == 0 ? 0 : cannot_print();
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i]->name, name) != 0) continue;
        if (options_want_help(argc - 1, argv + 1)) {
            options_print_help(commands[i], stdout);
            return fflush(stdout) == 0 ? 0 : cannot_print();
        }
        return commands[i]->run(argc - 1, argv + 1);
    }
    return unknown_command(name);
}
