// Package standard has the standard streams of the commands.
package standard

import "os"

// Streams returns the streams of the process. Input or output that was closed when it started gives errors,
// which the /dev/null that Go puts there would not.
func Streams() (in, out, err *os.File) {
	for fd, file := range []*os.File{os.Stdin, os.Stdout} {
		if wasClosed(fd) {
			file.Close()
		}
	}
	return os.Stdin, os.Stdout, os.Stderr
}
