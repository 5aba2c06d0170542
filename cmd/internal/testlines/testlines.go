// Package testlines makes lines for tests.
package testlines

import "math/rand/v2"

// Random returns n lines of all lengths. Some are about as long as a chunk, which is what is read at a time, and some longer.
func Random(random *rand.Rand, n, chunk int) [][]byte {
	lines := make([][]byte, n)
	for i := range lines {
		length := random.IntN(40)
		switch random.IntN(1000) {
		case 0:
			length = random.IntN(3 * chunk)
		case 1:
			length = chunk - 1 + random.IntN(3)
		}
		lines[i] = make([]byte, length)
		for j := range lines[i] {
			lines[i][j] = byte(random.Uint32())
			if lines[i][j] == '\n' {
				lines[i][j] = '\r'
			}
		}
	}
	return lines
}
