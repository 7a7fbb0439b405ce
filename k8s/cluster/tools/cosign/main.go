// Command cosign is sigstore's command cosign without the clients of cloud key services. These clients are half of the
// code that must otherwise be compiled.
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
