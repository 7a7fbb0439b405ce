package images

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// ReadSource returns the commit of the checkout, as git reports it, for the labels of the images.
func ReadSource(ctx context.Context, root string) (Source, error) {
	commit, err := runGit(ctx, root, "log", "-1", "--format=%H %ct")
	if err != nil {
		return Source{}, err
	}
	revision, seconds, _ := strings.Cut(commit, " ")
	created, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return Source{}, fmt.Errorf("git says %q: %w", commit, err)
	}
	changes, err := runGit(ctx, root, "status", "--porcelain", "--", "docs", "libs", "services")
	if err != nil {
		return Source{}, err
	}
	if changes != "" {
		revision += "-dirty"
	}
	return Source{Root: root, Revision: revision, Created: time.Unix(created, 0)}, nil
}

func runGit(ctx context.Context, root string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}
