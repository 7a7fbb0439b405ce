package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/slotmesh/slotmesh/libs/contracts/adminapi"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// invalidManifest means that the server or this command refused a manifest, and that the command has printed the
// problems.
type invalidManifest struct{ file string }

func (e *invalidManifest) Error() string { return e.file + " is not valid" }

// published is the server's answer to a request that publishes a manifest or rolls back to an earlier version.
type published struct {
	ID      uuid.UUID `json:"id,omitzero"` // omitted if nothing was published
	Slug    string    `json:"slug"`
	Version int64     `json:"version"`
	// Warnings are the warnings about the manifest; omitted if the manifest has no warnings.
	Warnings []manifest.Problem `json:"warnings,omitempty"`
}

// source is the text of a manifest, with the name of its file.
type source struct {
	name string // name of the file, with which each message about a problem begins
	text []byte
}

func addFileFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVarP(file, "file", "f", "", "the manifest, YAML or JSON; - reads standard input")
	if err := cmd.MarkFlagFilename("file", "yaml", "yml", "json"); err != nil {
		panic(err) // the flag was defined one line above
	}
}

func (c *command) readManifest(file string) (*source, error) {
	switch file {
	case "":
		return nil, errors.New("--file: missing; name the manifest by -f FILE, or -f - for standard input")
	case "-":
		return readBounded("<stdin>", c.host.Stdin)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, &localError{fmt.Errorf("the manifest cannot be read: %w", err)}
	}
	defer func() { _ = f.Close() }()
	return readBounded(file, f)
}

func readBounded(name string, r io.Reader) (*source, error) {
	text, err := io.ReadAll(io.LimitReader(r, manifest.MaxBytes+1))
	if err != nil {
		return nil, &localError{fmt.Errorf("the manifest cannot be read: %w", err)}
	}
	if len(text) > manifest.MaxBytes {
		return nil, &localError{fmt.Errorf("%s is too large; a manifest has at most %d bytes", name, manifest.MaxBytes)}
	}
	return &source{name: name, text: text}, nil
}

func (c *command) newApplyCommand() *cobra.Command {
	var file string
	var ifVersion int64
	var notifies bool
	cmd := &cobra.Command{
		Use:   "apply -f FILE",
		Short: "Publish a manifest as the next version of its business",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			src, err := c.readManifest(file)
			if err != nil {
				return err
			}
			return c.publish(cmd, src, ifVersion, notifies)
		},
	}
	addFileFlag(cmd, &file)
	cmd.Flags().Int64Var(&ifVersion, "if-version", 0, "publish only while this is the newest version")
	addAddressFlag(cmd, &notifies)
	return cmd
}

// addAddressFlag adds the flag for messages to customers about new addresses.
func addAddressFlag(cmd *cobra.Command, notifies *bool) {
	cmd.Flags().BoolVar(notifies, "notify-customers", false,
		"email customers with bookings ahead at a place the new address of this place")
}

// addNotification adds the query parameter for messages to customers to the path of a request.
func addNotification(path string, notifies bool) string {
	if notifies {
		return path + "?notify_customers=true"
	}
	return path
}

// publish sends a manifest to the server, unless the newest version already has the same text. It does not check the
// manifest on this machine, because a newer server may know more fields than this command. It refuses only a manifest
// without the slug of a business.
func (c *command) publish(cmd *cobra.Command, src *source, ifVersion int64, notifies bool) error {
	slug, err := c.findSlug(src)
	if err != nil {
		return err
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	defer client.close()
	r := newManifestRequest(http.MethodPut, addNotification(buildPath(slug), notifies), src)
	if ifVersion != 0 {
		r.Header["If-Match"] = strconv.Quote(strconv.FormatInt(ifVersion, 10))
	}
	if version := client.findPublishedVersion(cmd.Context(), slug, src); version != 0 &&
		(ifVersion == 0 || ifVersion == version) {
		return c.printDone(published{Slug: slug, Version: version},
			"%s: version %d says this already; nothing is published",
			slug, version)
	}
	body, err := client.do(cmd.Context(), r)
	if problems := manifest.ProblemsOf(err); len(problems) > 0 {
		return c.reportProblems(src, problems)
	}
	if err != nil {
		return err
	}
	var p published
	if err := client.read(body, &p); err != nil {
		return err
	}
	c.warn(src, p.Warnings)
	return c.printDone(p, "%s: version %d is published", p.Slug, p.Version)
}

// findPublishedVersion returns the number of the newest version if this version has the text of src. It returns 0 if
// the texts differ or if the server does not return the newest version.
func (c *client) findPublishedVersion(ctx context.Context, slug string, src *source) int64 {
	version, err := c.findNewestVersion(ctx, slug)
	if err != nil || version == 0 {
		return 0
	}
	accept := catalog.MediaYAML
	if isJSON(src.text) {
		accept = catalog.MediaJSON
	}
	text, err := c.do(ctx, adminapi.Request{
		Method: http.MethodGet, Path: buildPath(slug) + "?version=" + strconv.FormatInt(version, 10),
		Header: map[string]string{"Accept": accept},
	})
	if err != nil || !bytes.Equal(text, src.text) {
		return 0
	}
	return version
}

// newManifestRequest returns a request whose body is a manifest. It sets the Content-Type to YAML or JSON, depending on
// the text.
func newManifestRequest(method, path string, src *source) adminapi.Request {
	r := adminapi.Request{Method: method, Path: path, Body: src.text,
		Header: map[string]string{"Content-Type": "application/yaml"}}
	if isJSON(src.text) {
		r.Header["Content-Type"] = "application/json"
	}
	return r
}

// findSlug returns the slug of the business that a manifest names. If the manifest has no valid slug, findSlug prints
// all problems of the manifest and returns an error.
func (c *command) findSlug(src *source) (string, error) {
	if slug := parseSlug(src.text); request.IsSlug(slug) {
		return slug, nil
	}
	m, problems := manifest.Parse(src.text)
	if len(problems) > 0 {
		return "", c.reportProblems(src, problems)
	}
	return string(m.Slug), nil
}

// parseSlug returns the slug in the text of a manifest, without checking the other fields. It returns "" if the text
// has no slug.
func parseSlug(text []byte) string {
	var named struct {
		Slug string `yaml:"slug"`
	}
	if err := yaml.Unmarshal(text, &named); err != nil {
		return ""
	}
	return named.Slug
}

// validationResult is the JSON or YAML output of the validate command, and of an apply command that was refused.
type validationResult struct {
	Valid    bool               `json:"valid"`
	Problems []manifest.Problem `json:"problems"`
	Warnings []manifest.Problem `json:"warnings,omitempty"` // warnings about a valid manifest
}

// reportProblems prints the problems of a manifest, and returns *invalidManifest. It prints them in the format of
// compilers (file:line: path: message), so that editors can jump to the lines.
func (c *command) reportProblems(src *source, problems []manifest.Problem) error {
	if c.output == jsonFormat || c.output == yamlFormat {
		if err := c.print(validationResult{Problems: problems}, table{}); err != nil {
			return err
		}
		return &invalidManifest{src.name}
	}
	c.printPlaces(src, "", problems)
	return &invalidManifest{src.name}
}

// printPlaces prints the problems or the warnings of a manifest, one in each line. The argument `kind` is the text
// before each message.
func (c *command) printPlaces(src *source, kind string, list []manifest.Problem) {
	for _, p := range list {
		place := fmt.Sprintf("%s:%d: %s", src.name, p.Line, kind)
		if p.Path != "" {
			place += p.Path + ": "
		}
		_, _ = fmt.Fprintln(c.host.Stderr, printable(place+p.Message))
	}
}

// warn prints the warnings about a manifest in the format of compilers. If the output format is JSON or YAML, warn
// prints nothing, because the result contains the warnings.
func (c *command) warn(src *source, warnings []manifest.Problem) {
	if c.output != jsonFormat && c.output != yamlFormat {
		c.printPlaces(src, "warning: ", warnings)
	}
}

func (c *command) newValidateCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "validate -f FILE",
		Short: "Check a manifest without a server",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			src, err := c.readManifest(file)
			if err != nil {
				return err
			}
			if _, problems := manifest.Parse(src.text); len(problems) > 0 {
				return c.reportProblems(src, problems)
			}
			warnings := manifest.Warnings(src.text, clock.System().Now())
			c.warn(src, warnings)
			return c.printDone(validationResult{Valid: true, Problems: []manifest.Problem{}, Warnings: warnings},
				"%s is valid",
				src.name)
		},
	}
	addFileFlag(cmd, &file)
	return cmd
}
