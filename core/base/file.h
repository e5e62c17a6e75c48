// Internal: safe files. Names that come from a workflow cannot leave their folder by themselves; what
// they are written to is never reached through a link, what they are read from may be: links in a
// folder of models or inputs are the user's own. Outputs appear whole or not at all (temporary name,
// fsync, rename).
#pragma once
#include <ninodes/base.h>
#include <stdio.h>

// Reads a whole regular file of at most max bytes into malloc'd, NUL-terminated *data. `-` is stdin
// if allow_stdin. A longer one is NINO_ERR_FORMAT, kind "limit"; what is no file at all is NINO_ERR_IO,
// kind "path".
nino_status nino_file_read(const char *path, size_t max, bool allow_stdin, char **data, size_t *len,
                           nino_error *err);

// Opens `name` (relative, from an untrusted source) for reading below directory `dir`. Refuses
// absolute names, "~", "..", ".", empty parts, control characters, backslashes, folders, devices,
// fifos: NINO_ERR_RANGE, kind "path". Links are followed, wherever they lead (the files of a Hugging
// Face cache are links); one that leads nowhere is NINO_ERR_MISSING. *fd is the caller's.
nino_status nino_file_open_below(const char *dir, const char *name, int *fd, nino_error *err);
// The check of the name alone, before anything is opened: NINO_OK or kind "path".
nino_status nino_file_check_name(const char *name, nino_error *err);

// For how long this thread has waited in reads below: their time less that on a processor, which copies
// what the page cache has. What nino_parallel() did for it counts once, the mean of the threads.
uint64_t nino_file_waited_ns(void);
void nino_file_set_waited_ns(uint64_t ns);

// pread of exactly n bytes at off; short file is NINO_ERR_IO, kind "truncated". `name` for the
// message.
nino_status nino_file_pread(int fd, void *buf, size_t n, uint64_t off, const char *name,
                            nino_error *err);

// Atomic writer; what killed processes left behind in the folder goes with the first one there:
// create -> write … -> commit (fsync + rename + fsync of the folder) or abort
// (nothing left).
typedef struct nino_file_writer nino_file_writer;
// Creates a temporary file beside dir/name. dir must exist; sub-folders inside `name` are made.
// `name` is checked as in nino_file_open_below when below is true, else it may be any path relative
// to dir ("" or NULL: cwd). An existing target that is no regular file is refused.
nino_status nino_file_writer_open(const char *dir, const char *name, bool below,
                                  nino_file_writer **out, nino_error *err);
nino_status nino_file_writer_write(nino_file_writer *w, const void *p, size_t n, nino_error *err);
// Gives the file its name now, replacing an existing one: for forms that are readable while they
// are written. What was written stays when the process dies or commit fails; abort removes it.
nino_status nino_file_writer_place(nino_file_writer *w, nino_error *err);
// Replaces an existing file unless exclusive (then an existing one is NINO_ERR_IO, kind "exists").
// *w becomes NULL, also on failure, which leaves nothing behind.
nino_status nino_file_writer_commit(nino_file_writer **w, bool exclusive, nino_error *err);
// The same under another last part of the name, exclusive: where that exists (kind "exists") the
// writer stays and another name can be tried.
nino_status nino_file_writer_commit_as(nino_file_writer **w, const char *base, nino_error *err);
// For formats that go back to fill in a count: what is written through it counts as well.
int nino_file_writer_fd(const nino_file_writer *w);
void nino_file_writer_abort(nino_file_writer **w); // NULL-safe
// The three together.
nino_status nino_file_save(const char *dir, const char *name, bool below, const void *p, size_t n,
                           nino_error *err);
// What killed processes left half-written in the folder and in the folders directly in it goes; what is being written stays.
// For folders into which a process may not write itself.
void nino_file_sweep(const char *dir);
// mkdir -p, mode 0777 & ~umask. With priv: mode 0700; the folder must be ours and no link, and no
// link on the way to it may belong to another user than root and us (kind "path").
nino_status nino_file_mkdirs(const char *path, bool priv, nino_error *err);
// Whether a file could be made in the folder now: tries it, in the nearest one that is there, and
// leaves nothing. NINO_ERR_IO with the folder in *where and why not: no permission, a file in the
// place of a folder, a read-only or a full file system.
nino_status nino_file_check_folder(const char *path, nino_error *err);
