// Package util stands on no rung.
package util
