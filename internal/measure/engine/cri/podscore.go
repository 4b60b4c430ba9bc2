package cri

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/confile"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// podScore is the oom_score_adj that CRI-O gives the process of a pod.
const podScore = -998

// podScored says why a private CRI-O could start no pod that has a process: with
// drop_infra_ctr = false it has one, whose score is lower than that of whoever starts
// CRI-O, and nobody lowers a score without CAP_SYS_RESOURCE (proc(5)). The runtime's own
// words for it would be in CRI-O's log alone. over is the build's configuration, like the
// user's.
func podScored(over, like map[string]any, score int, may bool) error {
	drop, whose := confile.At(over, "crio", "runtime", "drop_infra_ctr"), "the "+crioFile
	if drop == nil {
		drop, whose = confile.At(like, "crio", "runtime", "drop_infra_ctr"), "your CRI-O"
	}
	if drop != false || may || score <= podScore {
		return nil
	}
	return &engine.Error{Class: record.Unsupported, Fix: "leave crio.runtime.drop_infra_ctr at true",
		Text: fmt.Sprintf("%s has drop_infra_ctr = false, with which each pod has a process with the oom_score_adj %d, and nobody may lower a score here (CAP_SYS_RESOURCE is missing)", whose, podScore)}
}

// ownScore is this process's oom_score_adj, and whether it may lower it.
func ownScore() (score int, may bool, err error) {
	text, err := os.ReadFile("/proc/self/oom_score_adj")
	if err != nil {
		return 0, false, err
	}
	if score, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
		return 0, false, err
	}
	status, err := proc.Here.Status(proc.Self)
	if err != nil {
		return 0, false, err
	}
	caps, err := strconv.ParseUint(status["CapEff"], 16, 64)
	return score, caps&(1<<unix.CAP_SYS_RESOURCE) != 0, err
}
