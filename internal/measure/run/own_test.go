package run

import (
	"testing"
	"time"

	"plimsoll/internal/record"
)

// A loop that is busy uses a processor, and a rest does not.
func TestUsage(t *testing.T) {
	var busy, rest record.Own
	u := usageNow()
	for time.Since(u.at) < 30*time.Millisecond {
	}
	u.addTo(&busy.CPU, &busy.Wall)
	u = usageNow()
	time.Sleep(30 * time.Millisecond)
	u.addTo(&rest.TimedCPU, &rest.Timed)
	if busy.CPU <= 0 || busy.Wall < int64(30*time.Millisecond) || rest.Timed < int64(30*time.Millisecond) {
		t.Errorf("%+v %+v", busy, rest)
	}
	if rest.TimedShare() >= busy.Share() {
		t.Errorf("resting takes %v, and a busy loop %v", rest.TimedShare(), busy.Share())
	}
	if none := (&record.Own{}); none.Share() != 0 || none.TimedShare() != 0 {
		t.Error("a share of nothing")
	}
}
