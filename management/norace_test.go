//go:build !race

package management_test

const raceDetector = false
