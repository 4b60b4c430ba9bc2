package hosts

import (
	"fmt"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
)

// together remarks on hosts that are one machine under several names.
func (h *Hosts) together() {
	machines := lists.Map(h.Hosts, func(x Host) record.Host { return x.Machine })
	if n := Count(machines, ByMachine); n < len(h.Hosts) {
		h.Remark = append(h.Remark, record.Remark{Code: "hosts-together", Level: "warn",
			Text:   fmt.Sprintf("the %d hosts are told apart by their names; by what the records say, the number of machines is %d: how much machines differ is not in this", len(h.Hosts), n),
			Advice: "plimsoll report --host-by machine takes containers of one machine for one host"})
	}
}

// unfinished remarks on runs that are not done; resume says how one is gone on with.
func (h *Hosts) unfinished(resume func(dir string) string) {
	for _, x := range h.Hosts {
		for _, r := range x.Runs {
			if r.Status != "interrupted" && r.Status != "running" {
				continue
			}
			advice := ""
			if resume != nil {
				advice = resume(r.Dir)
			}
			h.Remark = append(h.Remark, record.Remark{Code: "host-unfinished", Level: "warn",
				Text: fmt.Sprintf("the run on %s is not finished (%s): what it has is in the table", x.Label, r.Status), Advice: advice})
		}
	}
}
