package likeness

import (
	"strings"

	"plimsoll/internal/record"
)

// notRecorded stands for what a record doesn't say.
const notRecorded = "not recorded"

// Images compares what images hold, by name: a workload of one name may be another
// program in another image. The probe in them comes with this program, and Tools tells of
// it; whatever lies beside it has to be the same. What a record of an earlier version
// doesn't say is a difference that refuses nothing; unknown has the names of such images.
// Such a record has digests of the whole only, which tell nothing unless it is of the
// sameProbe.
func Images(was, now []record.Image, sameProbe bool) (differs []record.Difference, unknown []string) {
	for _, n := range now {
		w, known := imageOf(was, n.Name)
		if !known && len(was) > 0 {
			continue // nothing was measured in it yet
		}
		d := record.Difference{Fact: "content of the image " + n.Name, Was: w.WithoutProbe, Now: n.WithoutProbe, Unlike: true}
		switch {
		case w.WithoutProbe != "":
		case w.Tree == "":
			d.Was, d.Unlike = notRecorded, false
		default: // the whole, which has the probe in it
			d.Was, d.Now, d.Unlike = w.Tree, n.Tree, sameProbe
		}
		if d.Was == d.Now || d.Now == "" {
			continue
		}
		differs = append(differs, d)
		if !d.Unlike {
			unknown = append(unknown, n.Name)
		}
	}
	return differs, unknown
}

// Unknown says of which images it isn't known whether they hold what they held.
func Unknown(names []string) string {
	return "the record doesn't say what its images held, since an earlier version wrote it: whether " + strings.Join(names, ", ") + " is what the trials before ran in isn't known"
}

func imageOf(images []record.Image, name string) (record.Image, bool) {
	for _, i := range images {
		if i.Name == name {
			return i, true
		}
	}
	return record.Image{}, false
}
