// Command kwok is the controller of kwok with kwok's fast stages, so that nodes and pods reach their desired state at
// once. The original command needs a newer library for its flags. For that library, most of Kubernetes would have to be
// compiled a second time.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/kwok/kustomize/stage/node/fast"
	"sigs.k8s.io/kwok/kustomize/stage/node/heartbeat"
	pods "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/kwok/pkg/config"
	"sigs.k8s.io/kwok/pkg/kwok/cmd"
	"sigs.k8s.io/kwok/pkg/utils/signals"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "kwok:", err)
		os.Exit(1)
	}
}

func run() error {
	stages, err := os.CreateTemp("", "kwok-*.yaml")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(stages.Name()) }()
	all := []string{fast.DefaultNodeInit, heartbeat.DefaultNodeHeartbeat, pods.DefaultPodReady, pods.DefaultPodComplete,
		pods.DefaultPodDelete}
	if _, err := stages.WriteString(strings.Join(all, "\n---\n")); err != nil {
		return err
	}
	if err := stages.Close(); err != nil {
		return err
	}
	os.Args = append(os.Args, "--config", stages.Name())

	// InitFlags reads the configuration (--config) before kwok parses the other options.
	flags := pflag.NewFlagSet("config", pflag.ContinueOnError)
	flags.ParseErrorsWhitelist.UnknownFlags = true
	flags.Usage = func() {}
	ctx, err := config.InitFlags(signals.SetupSignalContext(), flags)
	if err != nil {
		return err
	}
	command := cmd.NewCommand(ctx)
	command.PersistentFlags().AddFlagSet(flags)
	return command.ExecuteContext(ctx)
}
