package portable

import (
	"slices"
	"time"

	"plimsoll/internal/measure/engine/stamp"
)

// median times a request a few times.
func median(times int, request func() error) (int64, error) {
	all := make([]int64, 0, times)
	for range times {
		begin := stamp.Now()
		if err := request(); err != nil {
			return 0, err
		}
		all = append(all, stamp.Now()-begin)
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}

// Resolution is the smallest step of the clock that is seen within a moment.
func Resolution() time.Duration {
	least := int64(time.Hour)
	for range 2000 {
		begin := stamp.Now()
		for at := begin; at == begin; {
			at = stamp.Now()
			if step := at - begin; step > 0 {
				least = min(least, step)
			}
		}
	}
	return time.Duration(least)
}
