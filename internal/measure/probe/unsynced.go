package probe

// unsyncedVerb is what the probe is told to execute a program that waits for no disk.
const unsyncedVerb = "unsynced"

// Unsynced is the command line of a program under the filter of Command.Unsynced, for what
// no launcher starts. The probe at path puts it around itself and executes the program.
func Unsynced(path string, argv []string) []string {
	return append([]string{path, unsyncedVerb, "--"}, argv...)
}
