package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"plimsoll/internal/understand/web"
)

// defaultListen is where the pages are unless another address is given.
const defaultListen = "127.0.0.1:7654"

func serveCommand(w World) *cobra.Command {
	listen := defaultListen
	c := &cobra.Command{
		Use:   "serve DIR...",
		Short: "Show runs in a browser, also while they are measured",
		Long: `Serves pages of all runs in the folders. Each DIR is a run, or a folder of runs;
new ones appear as they come. A run in progress is followed live, at under 1 % of
one processor, and none while nobody looks.

Only this machine can connect, unless --listen names another address: then a
token is needed, which is part of the address that is printed. The connection
is not encrypted; through ssh -L 7654:127.0.0.1:7654 it is. SIGINT ends it.`,
		Example: `  plimsoll serve results
  plimsoll serve results plimsoll-run-1 --listen 127.0.0.1:0
  plimsoll serve /var/lib/plimsoll --listen 0.0.0.0:7654`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeFolders,
		RunE: func(_ *cobra.Command, dirs []string) error {
			for _, dir := range dirs {
				if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
					return withHint(fail(Failed, "serving runs: there is no %s", dir), "give the directories of runs, or a folder that holds them")
				} else if err != nil {
					return withHint(fail(Failed, "serving runs: %w", err), "give the directories of runs, or a folder that holds them")
				} else if !info.IsDir() {
					return withHint(fail(Usage, "serving runs: %s is a file", dir), "give the directories of runs, or a folder that holds them")
				}
			}
			return serve(w, dirs, listen)
		},
	}
	c.Flags().StringVar(&listen, "listen", defaultListen, "address and port to listen on; port 0 takes any free one")
	return c
}

// listening is the host of an address to listen at, which has a port as well, such as
// another.
func listening(address, such string) (host string, err error) {
	host, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return "", withHint(fail(Usage, "--listen is %q: %w", address, err), "give an address and a port, such as %s", such)
	}
	return host, nil
}

func serve(w World, dirs []string, listen string) error {
	host, err := listening(listen, defaultListen)
	if err != nil {
		return err
	}
	o := web.Options{Dirs: dirs, Log: w.Stderr}
	closeWatch := watchLive(&o)
	defer closeWatch()
	s, err := web.New(o)
	if err != nil {
		return fail(Failed, "%w", err)
	}
	l, err := net.Listen("tcp", listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return withHint(fail(Failed, "listening on %s: the port is in use", listen), "end the program that has it, another plimsoll serve perhaps, or give --listen %s", net.JoinHostPort(host, "0"))
	}
	if err != nil {
		return withHint(fail(Failed, "%w", err), "--listen takes an address of this machine and a port, such as %s", defaultListen)
	}
	first, second, stop := w.Signals()
	defer stop()
	end, cancel := context.WithCancel(first)
	defer cancel()
	context.AfterFunc(second, cancel)
	return failing(s.Serve(end, l, host, func(address string) {
		fmt.Fprintln(w.Stdout, address)
		fmt.Fprintln(w.Stderr, "open this address in a browser; Ctrl-C ends it")
	}))
}
