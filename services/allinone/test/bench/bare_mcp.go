package bench

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveBareMCP starts the MCP server that Slotmesh's MCP server is compared with, and returns its URL. The server uses
// the MCP SDK with its defaults, without sessions and with JSON answers. Its only tool, `ask`, sends a GET request to
// the URL in the tool's argument and returns the bytes of the answer.
func serveBareMCP(ctx context.Context) (string, error) {
	server := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "ask",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"url":{"type":"string"}}}`)},
		newAskTool(newHTTPClient()))
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		return server
	}, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	front := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = front.Serve(listener) }()
	context.AfterFunc(ctx, func() { _ = front.Close() })
	return "http://" + listener.Addr().String(), nil
}

// newAskTool returns the handler of the tool `ask`. The handler forwards the client's address in its request.
func newAskTool(client *httpClient) mcp.ToolHandler {
	return func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var arguments struct{ URL string }
		if err := json.Unmarshal(r.Params.Arguments, &arguments); err != nil {
			return nil, err
		}
		body, err := client.get(call{
			Method: http.MethodGet, URL: arguments.URL,
			Headers: []string{fiber.HeaderXForwardedFor, r.Extra.Header.Get(fiber.HeaderXForwardedFor)},
		})
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "slots"}},
			StructuredContent: json.RawMessage(body)}, nil
	}
}
