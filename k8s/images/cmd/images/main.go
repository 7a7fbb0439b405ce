// Command images builds container images without a container engine. `images -help` shows its usage.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/slotmesh/slotmesh/k8s/images"
)

const usage = `images [-root DIR] [-out DIR] [-tag TAG] [-arch GOARCH] [NAME...]
    writes the images of all services, or of those named, to DIR/slotmesh-NAME.tar; postgres and redis, where they are named,
    are made of the Debian packages of this machine.
images push [-root DIR] [-tag TAG] [-arch GOARCH,GOARCH...] PREFIX [NAME...]
    sends the images of all services, or of those named, each for all architectures, to the repositories PREFIXNAME, and prints
    a line "NAME: DIGEST" for each.
images materials PROGRAM
    prints the bill of materials of a Go program.
images program REF PROGRAM FILE [PATH=FILE...]
    writes an image called REF, which holds nothing but a static program, to FILE; or beside it further files, such as
    usr/local/bin/envoy=/opt/envoy, with the libraries that they load.
images live REF SUPERVISOR PROGRAM [COMMAND...]
    sends an image for development, whose PROGRAM can be replaced while it runs, to the registry that REF names.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 2 && args[0] == "materials" {
		document, err := images.Materials(args[1])
		fmt.Printf("%s", document)
		return err
	}
	if len(args) >= 4 && args[0] == "program" {
		further := make(map[string]string)
		for _, word := range args[4:] {
			at, file, ok := strings.Cut(word, "=")
			if !ok {
				return fmt.Errorf("%s is no further file; write PATH=FILE, as usr/local/bin/envoy=/opt/envoy", word)
			}
			further[at] = file
		}
		return images.SaveProgram(ctx, args[1], args[2], args[3], further)
	}
	if len(args) >= 4 && args[0] == "live" {
		return images.Live{Supervisor: args[2], Program: args[3], Commands: args[4:]}.Push(ctx, args[1])
	}
	push := len(args) > 0 && args[0] == "push"
	if push {
		args = args[1:]
	}
	flags := flag.NewFlagSet("images", flag.ExitOnError)
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage); flags.PrintDefaults() }
	root := flags.String("root", "../..", "top of the checkout")
	out := flags.String("out", "../../bin/images", "folder of the archives")
	tag := flags.String("tag", "dev", "tag of the services' images")
	arch := flags.String("arch", runtime.GOARCH, "architecture of the services' images; of push, one or several")
	if err := flags.Parse(args); err != nil {
		return err
	}
	src, err := readSource(ctx, *root)
	if err != nil {
		return err
	}
	src.Version, src.Arch = *tag, *arch
	names, prefix := flags.Args(), ""
	if push {
		if len(names) == 0 {
			return errors.New("push wants what stands before the services' names in their repositories, as " +
				"localhost:5000/slotmesh-")
		}
		prefix, names = names[0], names[1:]
	}
	if len(names) == 0 {
		if names, err = images.Services(*root); err != nil {
			return err
		}
	}
	if push {
		return send(ctx, src, strings.Split(*arch, ","), prefix, names)
	}
	return save(ctx, src, names, *out)
}

func send(ctx context.Context, src images.Source, architectures []string, prefix string, names []string) error {
	for _, name := range names {
		digest, err := images.Push(ctx, src, architectures, prefix, name)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %s\n", name, digest)
	}
	return nil
}

func save(ctx context.Context, src images.Source, names []string, out string) error {
	for _, name := range names {
		ref, err := images.Save(ctx, src, name, out)
		if err != nil {
			return err
		}
		fmt.Println(ref)
	}
	return nil
}

// readSource returns the commit of the checkout, as git reports it, for the labels of the images.
func readSource(ctx context.Context, root string) (images.Source, error) {
	commit, err := runGit(ctx, root, "log", "-1", "--format=%H %ct")
	if err != nil {
		return images.Source{}, err
	}
	revision, seconds, _ := strings.Cut(commit, " ")
	created, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return images.Source{}, fmt.Errorf("git says %q: %w", commit, err)
	}
	changes, err := runGit(ctx, root, "status", "--porcelain", "--", "libs", "services")
	if err != nil {
		return images.Source{}, err
	}
	if changes != "" {
		revision += "-dirty"
	}
	return images.Source{Root: root, Revision: revision, Created: time.Unix(created, 0)}, nil
}

func runGit(ctx context.Context, root string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}
