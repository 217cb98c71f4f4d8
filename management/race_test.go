//go:build race

package management_test

// raceDetector makes everything about ten times slower.
const raceDetector = true
