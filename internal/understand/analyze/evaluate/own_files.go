package evaluate

import (
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// ownFilesRemarks warn of a workload that writes into the container's own file
// system where that is not a disk's everywhere: in memory, or an overlay that
// ignores every sync, as Podman mounts it for containers that it removes at
// their end. A database is then faster than without an engine.
func ownFilesRemarks(r *analyze.Result, w *analyze.Workload) []record.Remark {
	if w.Params["files"] != "own" {
		return nil
	}
	var memory, unsynced []string
	disk := false
	for i := range r.Environments {
		e := &r.Environments[i]
		switch a := r.Audit.Environment(e.ID); {
		case w.Counts[i].Trials == 0:
		case e.Facts[record.OwnFiles] == record.FilesInMemory:
			memory = append(memory, e.ID)
		case a != nil && slices.Contains(optionsOf(a.Isolation["root"]), record.Volatile):
			unsynced = append(unsynced, e.ID)
		default:
			disk = true
		}
	}
	var what []string
	if len(memory) > 0 {
		what = append(what, "in memory in "+strings.Join(memory, ", "))
	}
	if len(unsynced) > 0 {
		what = append(what, "on a disk but never synced, since the overlay is mounted volatile, in "+strings.Join(unsynced, ", "))
	}
	if !disk || len(what) == 0 {
		return nil
	}
	return []record.Remark{{Code: "own-files", Level: warn, Workload: w.ID,
		Text:   "what a container writes into its own file system is " + strings.Join(what, "; and "),
		Advice: "compare on a volume or a directory of the host, files: volume or bind"}}
}

// optionsOf splits a root file system's type and options.
func optionsOf(root string) []string {
	return strings.FieldsFunc(root, func(c rune) bool { return c == ' ' || c == ',' })
}
