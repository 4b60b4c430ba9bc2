package record

import "cmp"

// joined are the environments, by id, whose client comes back only when the
// container is removed. Records of before put that one stamp down as the
// container's end too, which nobody had seen; today's have no exit there.
type joined map[string]bool

func (r *Run) joined() joined {
	j := joined{}
	for _, e := range r.Environments {
		if e.removedByClient() {
			j[e.ID] = true
		}
	}
	return j
}

// removedByClient knows the engines of before today's records: the list is whole.
func (e *Environment) removedByClient() bool {
	client := cmp.Or(e.Facts["client"], e.Levels["client"])
	switch e.Engine {
	case "docker", "balena", "podman", "containerd":
		return client == "cli"
	case "oci":
		return client == "run"
	case "lxc":
		return client == "execute"
	case "nspawn":
		return e.Facts["storage"] != "directory"
	}
	return e.Engine == "nerdctl" || e.Engine == "sarus"
}

// part takes the end away that is the removal's stamp.
func (j joined) part(t *Trial) {
	if at, ok := t.Events[Exit]; ok && j[t.Env] && at == t.Events[Removed] {
		delete(t.Events, Exit)
	}
}
