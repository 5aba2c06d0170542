//go:build !race

package bloom

// raceDetector reports whether this is a build with the race detector.
const raceDetector = false
