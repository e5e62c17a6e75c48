// The table of commands, which help, completion and the manual page are made from too.
#pragma once
#include "cli.h"

extern const command commands[]; // ends with {0}
const command *command_find(const char *name);

// Every exit status with what it means, in order; ends with {0}.
typedef struct exit_row {
    exit_code code;
    const char *text;
} exit_row;
extern const exit_row exit_rows[];

void help_all(FILE *f);
void help_command(FILE *f, const command *c);
// shell: bash, zsh, fish; "man": the manual page, of all or of one command. False: no such thing.
bool completion_print(FILE *f, const char *shell, const char *of);

// One a command: its exit code.
int cmd_run(const options *o);
int cmd_gather(const options *o);
int cmd_plan(const options *o);
int cmd_convert(const options *o);
int cmd_thumbnail(const options *o);
int cmd_inspect(const options *o);
int cmd_devices(const options *o);
int cmd_nodes(const options *o);
int cmd_selftest(const options *o);
int cmd_bench(const options *o);
// bench of a WORKFLOW: fills *r; or against itself with other settings, in percent that it may be
// slower. Both return an exit code.
int bench_workflow(const options *o, nino_bench_result *r);
int bench_against(const options *o, double limit);
// bench suite: fills *r with every run as a case, and writes its files.
int bench_suite(const options *o, nino_bench_result *r);
// What the cases of a suite of kernels ("gemm") have in their names; NULL: it is none.
const char *bench_kernels_of_suite(const char *name);
// The folder with the workflows and the demo's models; false: they are not installed.
bool demo_folder(char *out, size_t size);
int cmd_kernel(const options *o);
int cmd_tune(const options *o);
int cmd_monitor(const options *o);
int cmd_worker(const options *o);
// worker/confine.c: from now on this process and those that it starts can start no other program and reach
// no network, as far as the kernel can refuse it; is_told: says so. The setting worker.confined.
void confine(bool has_network, bool is_told);
int cmd_jobs(const options *o);
int cmd_serve(const options *o);
int cmd_doctor(const options *o);
int cmd_capture(const options *o);
int cmd_compare(const options *o);
int cmd_config(const options *o);
int cmd_demo(const options *o);
int cmd_trace(const options *o);
int trace_trend(const options *o);
int cmd_completion(const options *o);
int cmd_help(const options *o);
