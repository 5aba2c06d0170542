//go:build !race

package detect

// Races reports whether this is a build with the race detector.
const Races = false
