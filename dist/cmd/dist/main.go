// Command dist makes the files of a release for one machine. `make dist` calls it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/slotmesh/slotmesh/dist"
	"github.com/slotmesh/slotmesh/k8s/images"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	root := flag.String("root", "..", "top of the checkout")
	out := flag.String("out", "../bin/dist", "folder of the files, which is emptied first")
	version := flag.String("version", "0.0.0-dev", "version of the release")
	key := flag.String("key", "", "armored OpenPGP private key that signs packages and checksums; "+
		"KEY_PASSPHRASE is its passphrase")
	platforms := flag.String("platforms", "", "platforms as GOOS/GOARCH,GOOS/GOARCH; all if empty")
	skipImages := flag.Bool("skip-images", false, "make no images")
	flag.Parse()
	src, err := images.ReadSource(ctx, *root)
	if err != nil {
		return err
	}
	src.Version = *version
	o := dist.Options{Source: src, Out: *out, Platforms: dist.Platforms, Key: *key,
		Passphrase: os.Getenv("KEY_PASSPHRASE"), SkipImages: *skipImages}
	if *platforms != "" {
		o.Platforms = nil
		for platform := range strings.SplitSeq(*platforms, ",") {
			goos, arch, _ := strings.Cut(platform, "/")
			o.Platforms = append(o.Platforms, dist.Platform{OS: goos, Arch: arch})
		}
	}
	if err := dist.Build(ctx, o); err != nil {
		return err
	}
	fmt.Println(*out)
	return nil
}
