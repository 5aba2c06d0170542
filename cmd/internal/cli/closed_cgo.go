//go:build unix && cgo

package cli

/*
#include <fcntl.h>

static int closed;

__attribute__((constructor)) static void look(void) {
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0) closed |= 1 << fd;
}

static int was_closed(int fd) { return closed >> fd & 1; }
*/
import "C"

// wasClosed reports whether the process was started without a standard stream. Go's
// runtime opens /dev/null in its place before any Go code runs; only C code is
// earlier.
func wasClosed(fd int) bool { return C.was_closed(C.int(fd)) != 0 }
