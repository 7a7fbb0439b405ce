package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/manifest"
	"github.com/slotmesh/slotmesh/libs/request"
)

// invalidManifest says that a manifest was refused for its problems, which have been printed.
type invalidManifest struct{ file string }

func (e *invalidManifest) Error() string { return e.file + " is not valid" }

// published is the answer to a publish and to a rollback.
type published struct {
	ID      uuid.UUID `json:"id"`
	Slug    string    `json:"slug"`
	Version int64     `json:"version"`
}

// source is a manifest as it was read.
type source struct {
	name string // as it is shown before a problem's line
	text []byte
}

func fileFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVarP(file, "file", "f", "", "the manifest, YAML or JSON; - reads standard input")
	if err := cmd.MarkFlagFilename("file", "yaml", "yml", "json"); err != nil {
		panic(err) // the flag stands one line above
	}
}

func (c *command) readManifest(file string) (*source, error) {
	switch file {
	case "":
		return nil, errors.New("--file: missing; name the manifest by -f FILE, or -f - for standard input")
	case "-":
		return bounded("<stdin>", c.host.Stdin)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, &localError{fmt.Errorf("the manifest cannot be read: %w", err)}
	}
	defer func() { _ = f.Close() }()
	return bounded(file, f)
}

func bounded(name string, r io.Reader) (*source, error) {
	text, err := io.ReadAll(io.LimitReader(r, manifest.MaxBytes+1))
	if err != nil {
		return nil, &localError{fmt.Errorf("the manifest cannot be read: %w", err)}
	}
	if len(text) > manifest.MaxBytes {
		return nil, &localError{fmt.Errorf("%s is too large; a manifest has at most %d bytes", name, manifest.MaxBytes)}
	}
	return &source{name: name, text: text}, nil
}

func (c *command) apply() *cobra.Command {
	var file string
	var ifVersion int64
	cmd := &cobra.Command{
		Use:   "apply -f FILE",
		Short: "Publish a manifest as the next version of its business",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			src, err := c.readManifest(file)
			if err != nil {
				return err
			}
			return c.publish(cmd, src, ifVersion)
		},
	}
	fileFlag(cmd, &file)
	cmd.Flags().Int64Var(&ifVersion, "if-version", 0, "publish only while this is the newest version")
	return cmd
}

// publish asks the server to judge the manifest: it may know more than this command. Only a manifest that does not
// name its business is judged here.
func (c *command) publish(cmd *cobra.Command, src *source, ifVersion int64) error {
	slug := slugIn(src.text)
	if !request.IsSlug(slug) {
		m, problems := manifest.Parse(src.text)
		if len(problems) > 0 {
			return c.refused(src, problems)
		}
		slug = string(m.Slug)
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	defer client.close()
	r := call{method: http.MethodPut, path: at(slug), body: src.text, header: map[string]string{"Content-Type": "application/yaml"}}
	if isJSON(src.text) {
		r.header["Content-Type"] = "application/json"
	}
	if ifVersion != 0 {
		r.header["If-Match"] = strconv.Quote(strconv.FormatInt(ifVersion, 10))
	}
	body, err := client.do(cmd.Context(), r)
	if problems := problemsOf(err); len(problems) > 0 {
		return c.refused(src, problems)
	}
	if err != nil {
		return err
	}
	var p published
	if err := client.read(body, &p); err != nil {
		return err
	}
	return c.done(p, "%s: version %d is published", p.Slug, p.Version)
}

// slugIn reads the slug alone, whatever else the document holds; "" where there is none to read.
func slugIn(text []byte) string {
	var named struct {
		Slug string `yaml:"slug"`
	}
	if err := yaml.Unmarshal(text, &named); err != nil {
		return ""
	}
	return named.Slug
}

// problemsOf reads the problems that a refusal carries.
func problemsOf(err error) []manifest.Problem {
	var refused *fault.Error
	if !errors.As(err, &refused) {
		return nil
	}
	text, err := json.Marshal(refused.Extra["problems"])
	if err != nil {
		return nil
	}
	var problems []manifest.Problem
	if json.Unmarshal(text, &problems) != nil {
		return nil
	}
	return problems
}

// verdict is what validate, and a refused apply, tell programs.
type verdict struct {
	Valid    bool               `json:"valid"`
	Problems []manifest.Problem `json:"problems"`
}

// refused prints the problems as compilers do, file:line: path: message, so that editors find the place.
func (c *command) refused(src *source, problems []manifest.Problem) error {
	if c.output == asJSON || c.output == asYAML {
		if err := c.print(verdict{Problems: problems}, table{}); err != nil {
			return err
		}
		return &invalidManifest{src.name}
	}
	for _, p := range problems {
		place := fmt.Sprintf("%s:%d: ", src.name, p.Line)
		if p.Path != "" {
			place += p.Path + ": "
		}
		_, _ = fmt.Fprintln(c.host.Stderr, printable(place+p.Message))
	}
	return &invalidManifest{src.name}
}

func (c *command) validate() *cobra.Command {
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
				return c.refused(src, problems)
			}
			return c.done(verdict{Valid: true, Problems: []manifest.Problem{}}, "%s is valid", src.name)
		},
	}
	fileFlag(cmd, &file)
	return cmd
}
