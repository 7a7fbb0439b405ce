package direct

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	protocol "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/segmentio/encoding/json"
)

// call is a call of a tool.
type call struct {
	id        json.RawMessage // as the client wrote it
	name      string
	arguments json.RawMessage
	// self: the call describes itself (revision 2026-07-28), and so does its answer.
	self bool
}

// Revisions of the protocol. A request without one is of the oldest with this transport.
const selfDescribing = "2026-07-28"

var handshaking = []string{"", "2025-03-26", "2025-06-18", "2025-11-25"}

// reading is how the SDK reads, but that members which it would pass over are not.
const reading = json.ZeroCopy | json.DontMatchCaseInsensitiveStructFields | json.DisallowUnknownFields

// recognise reads a message; ok means that it is a call without anything that the SDK might refuse or treat otherwise.
func recognise(header http.Header, body []byte) (call, bool) {
	const deepest = 500 // half of what the SDK takes
	if !usual(header) || bytes.Count(body, []byte("{"))+bytes.Count(body, []byte("[")) > deepest {
		return call{}, false
	}
	var message struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
	}
	if !read(body, &message) || message.Version != "2.0" || message.Method != "tools/call" || !simple(message.ID) {
		return call{}, false
	}
	var params struct {
		Meta      map[string]json.RawMessage `json:"_meta"`
		Name      string                     `json:"name"`
		Arguments json.RawMessage            `json:"arguments"`
	}
	if !read(message.Params, &params) {
		return call{}, false
	}
	c := call{id: message.ID, name: params.Name, arguments: params.Arguments}
	revision := header.Get("Mcp-Protocol-Version")
	if slices.Contains(handshaking, revision) {
		return c, !describes(params.Meta)
	}
	c.self = true
	return c, revision == selfDescribing && header.Get("Mcp-Method") == "tools/call" && header.Get("Mcp-Name") == c.name && describesClient(params.Meta)
}

// read reads all of a JSON value.
func read(body []byte, out any) bool {
	rest, err := json.Parse(body, out, reading)
	return err == nil && len(rest) == 0
}

// usual reports whether the headers are those of clients as they are: JSON, and an answer of either kind.
func usual(header http.Header) bool {
	if header.Get("Content-Type") != "application/json" || len(header["Last-Event-Id"]) > 0 {
		return false
	}
	accepted := strings.Split(header.Get("Accept"), ",")
	for i := range accepted {
		accepted[i] = strings.TrimSpace(accepted[i])
	}
	return slices.Contains(accepted, "application/json") && slices.Contains(accepted, "text/event-stream")
}

// simple reports whether an id has only one way to be written: a short number from 0 on, or plain text.
func simple(id []byte) bool {
	const longest = 15 // digits that every reader keeps
	if len(id) > 1 && id[0] == '"' {
		return !slices.ContainsFunc(id[1:len(id)-1], func(c byte) bool { return c < ' ' || c > '~' || c == '"' || c == '\\' })
	}
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	return len(id) > 0 && len(id) <= longest && (id[0] != '0' || len(id) == 1) && !slices.ContainsFunc(id, func(c byte) bool { return !digit(c) })
}

// describes reports whether there is anything that the protocol gives a meaning to in self-describing requests.
func describes(meta map[string]json.RawMessage) bool {
	for key := range meta {
		if strings.HasPrefix(key, "io.modelcontextprotocol/") {
			return true
		}
	}
	return false
}

// describesClient checks what a self-describing request says of its client.
func describesClient(meta map[string]json.RawMessage) bool {
	if info, given := meta[protocol.MetaKeyClientInfo]; given && !fits(info, new(protocol.Implementation)) {
		return false
	}
	capabilities := new(struct {
		protocol.ClientCapabilities
		Roots *struct {
			ListChanged bool `json:"listChanged"`
		} `json:"roots"`
	})
	return string(meta[protocol.MetaKeyProtocolVersion]) == `"`+selfDescribing+`"` && fits(meta[protocol.MetaKeyClientCapabilities], capabilities)
}

// fits reports whether raw is an object of out's kind.
func fits(raw json.RawMessage, out any) bool {
	if !bytes.HasPrefix(raw, []byte("{")) {
		return false
	}
	_, err := json.Parse(raw, out, json.DontMatchCaseInsensitiveStructFields)
	return err == nil
}
