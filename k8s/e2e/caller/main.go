// Command caller is the program that the service mesh tests run in a pod. The pod has the identity of a service or no
// identity. Without arguments, caller serves port 8080 and answers each request with the client's address and the
// header X-Forwarded-For.
//
// `caller METHOD URL...` sends a request to each URL and prints one line for each: the method, the URL, the status and
// the first 200 bytes of the body, or an error.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

func main() {
	if len(os.Args) == 1 {
		serve()
		return
	}
	var calls sync.WaitGroup
	for _, url := range os.Args[2:] {
		calls.Go(func() { fmt.Println(os.Args[1], url, call(os.Args[1], url)) })
	}
	calls.Wait()
}

func serve() {
	answer := func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s\n", r.RemoteAddr, r.Header.Get("X-Forwarded-For"))
	}
	server := http.Server{Addr: ":8080", Handler: http.HandlerFunc(answer), ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintln(os.Stderr, server.ListenAndServe())
	os.Exit(1)
}

func call(method, url string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return "error " + err.Error()
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "error " + err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, 200))
	if err != nil {
		return "error " + err.Error()
	}
	return fmt.Sprintf("%d %s", response.StatusCode, strings.ReplaceAll(string(body), "\n", " "))
}
