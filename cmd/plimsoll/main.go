// Command plimsoll measures container engines side by side on this machine.
package main

import (
	"os"

	"plimsoll/internal/cli"
)

func main() {
	os.Exit(cli.Main(cli.System()))
}
