// Package view renders the HTML pages for signing in.
package view

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate -log-level error
