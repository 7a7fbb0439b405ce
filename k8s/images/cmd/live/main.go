// Command live is the first process of a development image, and also the program tar in this image. If it is called as
// /service, it runs /live/service; if the image contains /dlv, it runs /live/service under Delve. If it is called as
// tar, it unpacks the files that Tilt sends (`tar -C / -x -f -`). The first process then restarts /live/service.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/slotmesh/slotmesh/k8s/images/internal/live"
)

func main() {
	code, err := run(filepath.Base(os.Args[0]), os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func run(name string, args []string) (int, error) {
	if name != "tar" {
		signals := make(chan os.Signal, 8)
		signal.Notify(signals, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT)
		program, args := live.DebugCommand("/dlv", "/live/service", args)
		return live.Supervise(program, args, signals)
	}
	if !slices.Equal(args, []string{"-C", "/", "-x", "-f", "-"}) {
		return 0, fmt.Errorf("this tar only knows `tar -C / -x -f -`, not %q", args)
	}
	if err := live.Unpack("/", os.Stdin); err != nil {
		return 0, err
	}
	return 0, syscall.Kill(1, syscall.SIGHUP)
}
