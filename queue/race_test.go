//go:build race

package queue_test

// raceDetector makes everything about ten times slower.
const raceDetector = true
