/* Loaded before libc: counts the calls that change files below a folder, and makes the k-th fail.

   arm(folder, k, how) begins counting. how: an errno to fail with; 0 to kill the process before
   the call; -1 to write half of the bytes (or do nothing) and kill; -2 to write half of the bytes
   and fail with ENOSPC. counted() is the number of calls so far. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char below[PATH_MAX];
static long calls, last;
static int kind;

void arm(const char *folder, long k, int how) {
    snprintf(below, sizeof below, "%s", folder);
    calls = 0;
    last = k;
    kind = how;
}

long counted(void) { return calls; }

/* 1: the call is to fail, with errno set; half of its bytes are to be written first if *half. */
static int hit(const char *path, int *half) {
    char full[PATH_MAX];
    *half = 0;
    if (!below[0] || !path) return 0;
    if (path[0] != '/') {
        char here[PATH_MAX / 2];
        if (!getcwd(here, sizeof here)) return 0;
        snprintf(full, sizeof full, "%s/%.2000s", here, path);
        path = full;
    }
    if (strncmp(path, below, strlen(below)) || ++calls != last) return 0;
    if (kind == 0) kill(getpid(), SIGKILL);
    *half = kind < 0;
    errno = kind > 0 ? kind : ENOSPC;
    return 1;
}

static int hit_handle(int handle, int *half) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t length = readlink(link, path, sizeof path - 1);
    *half = 0;
    if (length < 0) return 0;
    path[length] = 0;
    return hit(path, half);
}

#define REAL(name)                                                                          \
    static __typeof__(name) *real;                                                          \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)
#define END do { if (kind == -1) kill(getpid(), SIGKILL); return -1; } while (0)

#define WRITE(name, offset_type)                                                            \
    ssize_t name(int handle, const void *bytes, size_t size, offset_type offset) {          \
        REAL(name);                    \
        int half, was = 0;                                                                  \
        if (hit_handle(handle, &half)) {                                                    \
            was = errno;                                                                    \
            if (half) (void)!real(handle, bytes, size / 2, offset);                         \
            errno = was;                                                                    \
            END;                                                                            \
        }                                                                                   \
        return real(handle, bytes, size, offset);                                           \
    }
WRITE(pwrite, off_t)
WRITE(pwrite64, off64_t)

ssize_t write(int handle, const void *bytes, size_t size) {
    REAL(write);
    int half;
    if (hit_handle(handle, &half)) {
        int was = errno;
        if (half) (void)!real(handle, bytes, size / 2);
        errno = was;
        END;
    }
    return real(handle, bytes, size);
}

/* Nothing is really synced: no test pulls the plug, and it would take most of the time. */
#define SYNC(name)                                                                          \
    int name(int handle) {                                                                  \
        int half;                                                                           \
        if (hit_handle(handle, &half)) END;                                                 \
        return 0;                                                                           \
    }
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name, size_type)                                                           \
    int name(int handle, size_type size) {                                                  \
        REAL(name);                                                                         \
        int half;                                                                           \
        if (hit_handle(handle, &half)) END;                                                 \
        return real(handle, size);                                                          \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define ON_PATH(name, declared, given)                                                      \
    int name declared {                                                                     \
        REAL(name);                                                       \
        int half;                                                                           \
        if (hit(path, &half)) END;                                                          \
        return real given;                                                                  \
    }
ON_PATH(unlink, (const char *path), (path))
ON_PATH(unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
ON_PATH(rename, (const char *path, const char *to), (path, to))
ON_PATH(renameat, (int a, const char *path, int b, const char *to), (a, path, b, to))
ON_PATH(chmod, (const char *path, mode_t mode), (path, mode))

/* Opening counts where it makes a file. */
#define OPEN(name)                                                                          \
    int name(const char *path, int flags, ...) {                                            \
        REAL(name);                                        \
        mode_t mode = 0;                                                                    \
        int half;                                                                           \
        if (flags & O_CREAT) {                                                              \
            va_list more;                                                                   \
            va_start(more, flags);                                                          \
            mode = va_arg(more, mode_t);                                                    \
            va_end(more);                                                                   \
            if (hit(path, &half)) END;                                                      \
        }                                                                                   \
        return real(path, flags, mode);                                                     \
    }
OPEN(open)
OPEN(open64)
