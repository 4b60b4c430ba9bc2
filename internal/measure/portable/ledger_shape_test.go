package portable

import (
	"reflect"
	"testing"

	"plimsoll/internal/common/golden"
)

// TestLedgerShape: a later version reads the ledgers of this one, to clean up and to go on.
func TestLedgerShape(t *testing.T) {
	golden.Shape(t, "testdata/json/ledger.txt", reflect.TypeFor[entry]())
}
