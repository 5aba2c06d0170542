//go:build !race

// Package detect tells what watches the program.
package detect

// Races reports whether this is a build with the race detector.
const Races = false
