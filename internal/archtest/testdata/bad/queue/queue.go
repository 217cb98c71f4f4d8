// Package queue uses in its product code what is for tests.
package queue

import (
	_ "leveret/store/storetest"
	_ "pgregory.net/rapid"
)
