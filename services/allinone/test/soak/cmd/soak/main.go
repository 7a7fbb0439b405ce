// Command soak runs a cluster of processes, causes faults in the cluster, and compares the services' answers with the
// tables (`make soak`).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/slotmesh/slotmesh/services/allinone/test/soak"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	o := soak.Options{Progress: os.Stderr}
	flag.DurationVar(&o.Duration, "for", 2*time.Minute, "how long the clients work")
	flag.IntVar(&o.Clients, "clients", 64, "clients")
	flag.DurationVar(&o.Think, "think", 100*time.Millisecond, "pause of each client between two operations")
	flag.Uint64Var(&o.Seed, "seed", 0, "seed of the faults and of the clients' choices; 0: a new one")
	flag.StringVar(&o.Programs, "programs", "bin", "folder of the services' programs")
	flag.BoolVar(&o.IsCalm, "calm", false, "no faults")
	quiet := flag.Bool("quiet", false, "do not print each fault")
	flag.Parse()
	if o.Seed == 0 {
		o.Seed = uint64(time.Now().UnixNano()) % 1_000_000
	}
	if *quiet {
		o.Progress = nil
	}
	var err error
	if o.Home, err = os.MkdirTemp("", "slotmesh-soak-"); err != nil {
		return err
	}
	repeat := fmt.Sprintf("SEED=%d SOAK=%s make soak", o.Seed, o.Duration)
	fmt.Println(repeat)
	report, err := soak.Run(ctx, o)
	if err == nil {
		err = report.Print(os.Stdout)
	}
	if err == nil && len(report.Findings) > 0 {
		err = fmt.Errorf("%d findings; the services' logs are in %s; to repeat the faults: %s",
			len(report.Findings), o.Home, repeat)
	}
	if err != nil {
		return err
	}
	fmt.Println("\nNo findings: all answers agree with the tables.")
	return errors.Join(os.RemoveAll(o.Home))
}
