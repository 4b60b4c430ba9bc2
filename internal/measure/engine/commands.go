package engine

import "context"

// Commander is an Environment whose client is a command line with separate
// commands to create a container, to start it, and to execute a program in it.
type Commander interface {
	// Commands carries a container through its life by these commands, one after
	// the other: create, with a shell (sh) and a terminal, as one makes a container
	// to work in; start; exec of task.Argv; removal by force. A system container
	// has its own init instead of the shell. The events are Request, Created,
	// Start, Started, Exec, Ready and Exit (the end of exec's command) and
	// Removed, all stamped around the commands, and the exit status is exec's.
	//
	// Where task.Then is given it is called between exec and the removal.
	//
	// The image must have a shell. task.Stop means nothing.
	Commands(ctx context.Context, task Task) (Result, error)
}

// Shell is what a Commander's container runs.
const Shell = "sh"
