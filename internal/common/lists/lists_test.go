package lists

import (
	"errors"
	"slices"
	"strconv"
	"testing"
)

func even(n int) bool { return n%2 == 0 }

func TestLists(t *testing.T) {
	of := []int{1, 2, 3, 4}
	if got := Map(of, strconv.Itoa); !slices.Equal(got, []string{"1", "2", "3", "4"}) {
		t.Errorf("Map: %v", got)
	}
	if got := Filter(of, even); !slices.Equal(got, []int{2, 4}) {
		t.Errorf("Filter: %v", got)
	}
	if got := Count(of, even); got != 2 {
		t.Errorf("Count: %d", got)
	}
	if got, err := Try([]string{"1", "2"}, strconv.Atoi); err != nil || !slices.Equal(got, []int{1, 2}) {
		t.Errorf("Try: %v, %v", got, err)
	}
}

// Of nothing comes nil, which JSON tells from an empty list.
func TestOfNothing(t *testing.T) {
	none := []int{}
	tried, err := Try(none, func(int) (int, error) { return 0, nil })
	if Map(none, strconv.Itoa) != nil || Filter(none, even) != nil || tried != nil || err != nil || Count(none, even) != 0 {
		t.Error("of an empty list something came")
	}
}

// The first error ends it, and nothing half done is given.
func TestTryEnds(t *testing.T) {
	calls := 0
	got, err := Try([]string{"1", "x", "3"}, func(s string) (int, error) {
		calls++
		return strconv.Atoi(s)
	})
	if got != nil || calls != 2 || !errors.Is(err, strconv.ErrSyntax) {
		t.Errorf("%v after %d calls: %v", got, calls, err)
	}
}
