// Package storetest is for tests alone.
package storetest

import _ "go.uber.org/goleak"
