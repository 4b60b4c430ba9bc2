package workload

import (
	"path"
	"testing"
)

// Every combination of levels of every embedded file is a program with metrics: whoever
// starts the program reads these files without trying that.
func TestEmbeddedCombinations(t *testing.T) {
	entries, err := catalogueFS.ReadDir("catalogue")
	if err != nil || len(entries) < 50 {
		t.Fatalf("%d files: %v", len(entries), err)
	}
	for _, e := range entries {
		data, err := catalogueFS.ReadFile("catalogue/" + e.Name())
		if err == nil {
			_, err = Read(path.Base(e.Name()), data)
		}
		if err != nil {
			t.Errorf("%s: %v", e.Name(), err)
		}
	}
}
