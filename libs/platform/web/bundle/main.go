// Command bundle builds the browser files of a service's pages. It bundles each .css and .ts file in the folder `src`
// with the files that it imports. It writes the minified result to the folder `dist`.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	if err := bundle(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func bundle() error {
	var sources []string
	for _, pattern := range []string{"src/*.css", "src/*.ts"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		sources = append(sources, found...)
	}
	result := api.Build(api.BuildOptions{
		EntryPoints: sources, Outdir: "dist", Bundle: true, Write: true, LogLevel: api.LogLevelWarning,
		MinifyWhitespace: true, MinifySyntax: true, MinifyIdentifiers: true,
		Target: api.ES2020, Format: api.FormatIIFE, LegalComments: api.LegalCommentsNone,
	})
	if len(result.Errors) > 0 {
		return fmt.Errorf("%d faults in %v", len(result.Errors), sources)
	}
	return nil
}
