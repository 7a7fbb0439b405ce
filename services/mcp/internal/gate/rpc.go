package gate

import (
	"encoding/json"
	"net/http"
	"strings"
)

// What the protocol's library begins its plain text with where it refuses a request for what it asks, and the code that JSON-RPC has
// for that (JSON-RPC 2.0 §5.1).
var rpcCodes = map[string]int{
	"JSON RPC not handled": -32601, // method not found
	"invalid request":      -32600,
}

// rpcError is an answer of JSON-RPC that refuses a request.
type rpcError struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// refuseCall answers as JSON-RPC says where the protocol's library refused a request for its method or its form: clients match an answer
// to their request by its id. What has no id is a notification, to which JSON-RPC knows no answer. It reports whether it answered.
func (a *answer) refuseCall(message []byte) (bool, error) {
	var call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if a.status != http.StatusBadRequest || json.Unmarshal(message, &call) != nil || call.ID == nil || call.Method == "" {
		return false, nil
	}
	said := strings.TrimSpace(a.text.String())
	for begin, code := range rpcCodes {
		if why, ok := strings.CutPrefix(said, begin+": "); ok {
			out := rpcError{Version: "2.0", ID: call.ID}
			out.Error.Code, out.Error.Message = code, why
			a.Header().Set("Content-Type", "application/json")
			return true, json.NewEncoder(a.ResponseWriter).Encode(out)
		}
	}
	return false, nil
}
