// Command withstores runs another command with a temporary PostgreSQL and Redis, and exits with the exit code of that
// command:
//
//	withstores go test work
//	withstores -race sh -c 'go test $SLOTMESH_TEST_RACE work'
//
// The environment of the command contains the URLs of the stores in SLOTMESH_TEST_DATABASE_URL and
// SLOTMESH_TEST_REDIS_URL. With -race, it also contains SLOTMESH_TEST_RACE with the value "-race". If there is no C
// compiler and none can be installed, this value is "".
//
// The URLs are the same in every run, because they are inputs of tests: if a URL changed, Go's test cache would run the
// tests again. Only one run at a time can use these URLs. A second concurrent run, and any run with CI=true, gets other
// URLs.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/slotmesh/slotmesh/services/allinone/internal/backing"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		say(err.Error())
	}
	os.Exit(code)
}

func say(line string) { fmt.Fprintln(os.Stderr, "withstores: "+line) }

func run(ctx context.Context, args []string) (int, error) {
	env := os.Environ()
	if len(args) > 0 && args[0] == "-race" {
		env = append(env, "SLOTMESH_TEST_RACE="+raceFlag(ctx))
		args = args[1:]
	}
	if len(args) == 0 {
		return 2, errors.New("name the command to run: withstores [-race] command [argument ...]")
	}
	options := backing.Options{IsThrowaway: true, Say: say}
	if os.Getenv("CI") != "true" {
		if home, err := openSharedHome(); err != nil {
			say(err.Error() + ": this run takes stores at another address, and caches no test that uses them")
		} else {
			options.Folder = home.Path
			defer func() { _ = home.Close() }() // the process ends after that
		}
	}
	stores, err := backing.Start(ctx, options)
	if err != nil {
		return 1, err
	}
	env = append(env, testInputs(ctx)...)
	env = append(env, "SLOTMESH_TEST_DATABASE_URL="+stores.DatabaseURL, "SLOTMESH_TEST_REDIS_URL="+stores.RedisURL)
	code, err := runCommand(ctx, env, args, stores.Failed())
	if stopErr := stores.Stop(); stopErr != nil {
		say(stopErr.Error())
	}
	return code, err
}

// openSharedHome opens and locks the home folder whose stores have the same URLs in every run.
func openSharedHome() (*backing.Home, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	home, err := backing.OpenHome(filepath.Join(cache, "slotmesh", "test-stores"))
	var used *backing.InUseError
	if errors.As(err, &used) {
		return nil, fmt.Errorf("the process %s uses the test stores", used.Holder)
	}
	return home, err
}

func raceFlag(ctx context.Context) string {
	if backing.EnsureCompiler(ctx, say) {
		return "-race"
	}
	say("there is no C compiler and none can be installed: the tests run without the race detector")
	return ""
}

// runCommand runs the command and waits for its end. runCommand forwards no signals, because the command is in the same
// process group and receives the signals directly. If a store fails, runCommand kills the command.
func runCommand(ctx context.Context, env, args []string, storeFailed <-chan error) (int, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case err := <-storeFailed:
			cancel(err)
		case <-ctx.Done():
		}
	}()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case ctx.Err() != nil:
		return 1, context.Cause(ctx)
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode(), nil
	default:
		return 1, err
	}
}
