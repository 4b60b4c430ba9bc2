package hosts

import (
	"cmp"
	"fmt"

	"plimsoll/internal/record"
)

// By is how hosts are told apart.
type By string

// The ways.
const (
	ByMachine By = "machine" // by what the kernel and the system say of the machine
	ByName    By = "name"    // by the name alone
)

// sameHost says whether two records are of one machine. Containers of a machine see
// one boot of one kernel under several names. A system that was started again keeps
// its identifier and its name; of machines that were made from one image, several
// have the identifier. Records that have neither go by name and kind of machine, unless
// they tell of different machines that they were measured from: machines that a program
// has set up have one name on everybody's desk. A name that is that of the machine
// measured from says nothing of the host, so there the boot decides.
func sameHost(a, b record.Host, by By) bool {
	switch {
	case by == ByName:
		return a.Name == b.Name
	case a.Boot != "" && a.Boot == b.Boot:
		return true
	case a.More[record.MoreNameOf] != "" || b.More[record.MoreNameOf] != "":
		return false
	case a.Machine != "" && b.Machine != "":
		return a.Machine == b.Machine && a.Name == b.Name
	}
	from, x := a.More[record.MoreClient], b.More[record.MoreClient]
	return a.Name == b.Name && a.Arch == b.Arch && a.CPU == b.CPU && a.CPUs == b.CPUs && (from == x || from == "" || x == "")
}

// label gives hosts of one name numbers.
func label(name string, taken []Host) string {
	name = cmp.Or(name, "host")
	out := name
	for n := 2; ; n++ {
		free := true
		for i := range taken {
			free = free && taken[i].Label != out
		}
		if free {
			return out
		}
		out = fmt.Sprintf("%s (%d)", name, n)
	}
}
