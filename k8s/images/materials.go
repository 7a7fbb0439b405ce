package images

import (
	"bytes"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"path"
	"runtime/debug"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

// Materials returns the bill of materials of a Go program as a CycloneDX 1.6 document. The document lists the modules
// that the linker recorded, with their checksums from go.sum. It contains no time and no path, so that equal programs
// have equal documents.
func Materials(program string) ([]byte, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("%s is no Go program: %w", program, err)
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &cyclonedx.Component{
		Type: cyclonedx.ComponentTypeApplication, BOMRef: info.Path, Name: path.Base(info.Path),
		PackageURL: "pkg:golang/" + info.Path,
	}}
	components := []cyclonedx.Component{newStandardLibrary(info.GoVersion)}
	for _, module := range info.Deps {
		components = append(components, newComponent(module))
	}
	bom.Components = &components
	refs := make([]string, 0, len(components))
	for _, c := range components {
		refs = append(refs, c.BOMRef)
	}
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: info.Path, Dependencies: &refs}}
	var out bytes.Buffer
	err = cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).EncodeVersion(bom, cyclonedx.SpecVersion1_6)
	return out.Bytes(), err
}

func newStandardLibrary(version string) cyclonedx.Component {
	version = strings.TrimPrefix(version, "go")
	url := "pkg:golang/std@" + version
	return cyclonedx.Component{Type: cyclonedx.ComponentTypeLibrary, BOMRef: url, Name: "std", Version: version,
		PackageURL: url}
}

// newComponent returns the description of a module for the bill of materials. For a replaced module, it describes the
// replacement. If the replacement is a folder of the checkout, the component keeps the name of the module and has no
// version.
func newComponent(module *debug.Module) cyclonedx.Component {
	ours := module.Replace != nil && strings.HasPrefix(module.Replace.Path, ".")
	if module.Replace != nil && !ours {
		module = module.Replace
	}
	url := "pkg:golang/" + module.Path
	c := cyclonedx.Component{Type: cyclonedx.ComponentTypeLibrary, Name: module.Path}
	if !ours {
		c.Version, url = module.Version, url+"@"+module.Version
	}
	c.BOMRef, c.PackageURL = url, url
	// The prefix "h1:" marks a SHA-256 hash of the module's files, in base64.
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(module.Sum, "h1:")); err == nil && len(sum) > 0 {
		c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
	}
	return c
}
