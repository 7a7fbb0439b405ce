package gate

import (
	"encoding/json"
	"net/http"
	"strings"
)

// rpcCodes maps the first words of a plain-text refusal of the SDK to an error code of JSON-RPC (JSON-RPC 2.0 §5.1).
var rpcCodes = map[string]int{
	"JSON RPC not handled": -32601, // method not found
	"invalid request":      -32600,
}

// rpcError is the response of JSON-RPC to a call that failed.
type rpcError struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// refuseCall writes a JSON-RPC error if the SDK refused the method or the form of a call. The error contains
// the id of the call, because clients use the id to match a response to its call. The first result reports
// whether refuseCall wrote a response. It writes none for a message without an id, which is a notification.
func (a *answer) refuseCall(message []byte) (bool, error) {
	var call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if a.status != http.StatusBadRequest || json.Unmarshal(message, &call) != nil || call.ID == nil ||
		call.Method == "" {
		return false, nil
	}
	sent := strings.TrimSpace(a.text.String())
	for begin, code := range rpcCodes {
		if why, ok := strings.CutPrefix(sent, begin+": "); ok {
			out := rpcError{Version: "2.0", ID: call.ID}
			out.Error.Code, out.Error.Message = code, why
			a.Header().Set("Content-Type", "application/json")
			return true, json.NewEncoder(a.ResponseWriter).Encode(out)
		}
	}
	return false, nil
}
