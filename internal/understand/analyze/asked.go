package analyze

// NotAsked is why a cell of a study with parts is missing that no part has. It
// is no gap: reports leave such cells out.
const NotAsked = "the study does not ask for it"

// askedBy says which workloads the parts of the study run in which environment;
// nil where the study has no parts, and everything is asked for.
func (s *store) askedBy() map[[2]string]bool {
	if len(s.run.Study.Parts) == 0 {
		return nil
	}
	out := map[[2]string]bool{}
	for _, p := range s.run.Study.Parts {
		for _, e := range p.Environments {
			for _, w := range p.Workloads {
				out[[2]string{e, w}] = true
			}
		}
	}
	return out
}
