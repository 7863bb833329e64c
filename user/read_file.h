/* SPDX-License-Identifier: GPL-2.0 */
/* A whole file as text. */
#ifndef SOJOURN_READ_FILE_H
#define SOJOURN_READ_FILE_H

#include <stddef.h>

/*
 * All that can be read from fd, most bytes at most, whatever it is: a file of /proc and a pipe
 * tell their size by nothing but their end. *length is without the null byte at its end. Owned
 * by the caller; NULL and errno: EFBIG (it is larger), ENOMEM, or that of read(2).
 */
char *read_file(int fd, size_t most, size_t *length);

#endif
