// Package openapi serves an OpenAPI document. The source of the document is YAML.
// The package converts the source to JSON and keeps the order of its members.
package openapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"
	"go.yaml.in/yaml/v3"

	"github.com/slotmesh/slotmesh/libs/platform/server"
)

// File is a static file that the server sends. It changes only with a new version
// of the program. Clients cache the file and revalidate it by its entity tag.
type File struct {
	mediaType string
	tag       string // entity tag of the uncompressed file, without quotes
	header    map[string]string
	forms     map[string]func() []byte // by Content-Encoding; "" for the uncompressed file
}

// NewFile returns a file with this content and media type. The argument `header` holds
// additional headers of the answer. A file of at least 1 KiB is also sent compressed.
func NewFile(body []byte, mediaType string, header map[string]string) *File {
	sum := sha256.Sum256(body)
	return &File{mediaType: mediaType, tag: base64.RawURLEncoding.EncodeToString(sum[:16]), header: header,
		forms: compressForms(body)}
}

// Document converts an OpenAPI document from YAML to JSON and returns it as a file.
func Document(source []byte) (*File, error) {
	body, err := JSON(source)
	if err != nil {
		return nil, err
	}
	return NewFile(body, fiber.MIMEApplicationJSON, nil), nil
}

// Serve sends the file in an encoding that the client accepts. If
// the client has the file in any encoding, Serve sends status 304.
func (f *File) Serve(c *fiber.Ctx) error {
	encoding := f.chooseEncoding(c.Get(fiber.HeaderAcceptEncoding))
	c.Set(fiber.HeaderETag, f.etag(encoding))
	c.Set(fiber.HeaderCacheControl, "no-cache")
	if len(f.forms) > 1 {
		c.Vary(fiber.HeaderAcceptEncoding)
	}
	for name, value := range f.header {
		c.Set(name, value)
	}
	if server.HasTag(c, f.etags()...) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Set(fiber.HeaderContentType, f.mediaType)
	if encoding != "" {
		c.Set(fiber.HeaderContentEncoding, encoding)
	}
	return c.Send(f.forms[encoding]())
}

// JSON converts a YAML document to JSON. It keeps the order of members, because
// people read the result. Dates and times become strings with the text of the source.
func JSON(source []byte) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(source, &document); err != nil {
		return nil, fmt.Errorf("the document is not YAML: %w", err)
	}
	if len(document.Content) != 1 {
		return nil, fmt.Errorf("the document is empty")
	}
	var out bytes.Buffer
	if err := render(&out, document.Content[0]); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func render(out *bytes.Buffer, node *yaml.Node) error {
	switch node.Kind {
	case yaml.AliasNode:
		return render(out, node.Alias)
	case yaml.MappingNode:
		return renderAll(out, '{', '}', node.Content, 2)
	case yaml.SequenceNode:
		return renderAll(out, '[', ']', node.Content, 1)
	}
	return renderScalar(out, node)
}

// renderAll renders the nodes of a sequence or of a mapping as JSON. The argument `width` is 1 for the elements of a
// sequence. It is 2 for the keys and values of a mapping, which alternate in `nodes`.
func renderAll(out *bytes.Buffer, opening, closing byte, nodes []*yaml.Node, width int) error {
	out.WriteByte(opening)
	for i, node := range nodes {
		switch {
		case i > 0 && i%width == 0:
			out.WriteByte(',')
		case i > 0:
			out.WriteByte(':')
		}
		if i%2 == 0 && width == 2 { // every key of a JSON object is a string
			if err := writeString(out, node.Value); err != nil {
				return err
			}
			continue
		}
		if err := render(out, node); err != nil {
			return err
		}
	}
	out.WriteByte(closing)
	return nil
}

func renderScalar(out *bytes.Buffer, node *yaml.Node) error {
	switch node.Tag {
	case "!!int", "!!float", "!!bool", "!!null":
		if text := strings.ToLower(node.Value); json.Valid([]byte(text)) {
			out.WriteString(text)
			return nil
		}
		return fmt.Errorf("line %d: %s has no JSON form; write it as JSON does", node.Line, node.Value)
	}
	return writeString(out, node.Value)
}

func writeString(out *bytes.Buffer, s string) error {
	text, err := json.Marshal(s)
	out.Write(text)
	return err
}
