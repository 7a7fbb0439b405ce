// Command images builds container images without a container engine. `images -help` shows its usage.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/slotmesh/slotmesh/k8s/images"
)

const usage = `images [-root DIR] [-out DIR] [-tag TAG] [-arch GOARCH] [NAME...]
    writes the images of all services, or of those named, to DIR/slotmesh-NAME.tar; one is the image of all services in one
    process; postgres and redis, where they are named,
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
	src, err := images.ReadSource(ctx, *root)
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
