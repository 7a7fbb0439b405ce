// Command cosign is sigstore's own, without the clients of the clouds' key services: they are half of what there is to compile.
package main

import (
	"fmt"
	"os"

	"github.com/sigstore/cosign/v3/cmd/cosign/cli"
)

func main() {
	if err := cli.New().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "cosign:", err)
		os.Exit(1)
	}
}
