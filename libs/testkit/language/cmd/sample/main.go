// Command sample selects random comments of the Go files that git tracks, so that a reader who does not know the code
// can judge them. Each room gets a share of the sample in proportion to its number of comments, but at least one
// comment. A room is a service, or a top-level folder. For each comment, sample prints the file, the line, the comment
// and the next line of code. It ignores tests and generated files.
//
//	sample -seed 1 -count 200
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
)

type comment struct {
	room, path string
	line       int
	text, next string
}

func main() {
	seed := flag.Uint64("seed", 1, "the same seed draws the same comments of the same files")
	count := flag.Int("count", 200, "number of comments")
	flag.Parse()
	rooms, err := collect()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sample:", err)
		os.Exit(1)
	}
	for i, c := range draw(rooms, *seed, *count) {
		fmt.Printf("#%d [%s] %s:%d\n%s\n    %s\n\n", i+1, c.room, c.path, c.line, c.text, c.next)
	}
}

// collect returns the comments of all files by room. A room is a folder, such as services/booking.
func collect() (map[string][]comment, error) {
	listed, err := exec.Command("git", "ls-files", "*.go").Output()
	if err != nil {
		return nil, err
	}
	rooms := map[string][]comment{}
	for path := range strings.Lines(string(listed)) {
		path = strings.TrimSpace(path)
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if ast.IsGenerated(file) {
			continue
		}
		lines := bytes.Split(source, []byte("\n"))
		for _, group := range file.Comments {
			text := strings.TrimSpace(group.Text()) // Text omits directives such as go:embed
			if text == "" {
				continue
			}
			c := comment{room: findRoom(path), path: path, line: files.Position(group.Pos()).Line, text: text}
			at := files.Position(group.Pos())
			if own := string(bytes.TrimSpace(lines[at.Line-1][:at.Column-1])); own != "" {
				c.next = own // the code before a comment at the end of its line
			} else if below := files.Position(group.End()).Line; below < len(lines) {
				c.next = string(bytes.TrimSpace(lines[below]))
			}
			rooms[c.room] = append(rooms[c.room], c)
		}
	}
	return rooms, nil
}

// findRoom returns the room of a file: services/NAME for a service, and the top-level folder for other files.
func findRoom(path string) string {
	parts := strings.SplitN(path, "/", 3)
	if parts[0] == "services" && len(parts) == 3 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// draw selects about `count` comments and returns them in the order of their rooms and files.
func draw(rooms map[string][]comment, seed uint64, count int) []comment {
	total := 0
	for _, all := range rooms {
		total += len(all)
	}
	random := rand.New(rand.NewPCG(seed, 0))
	var drawn []comment
	for _, room := range slices.Sorted(maps.Keys(rooms)) {
		all := rooms[room]
		share := min(len(all), max(1, (count*len(all)+total/2)/total))
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		part := all[:share]
		slices.SortFunc(part, func(a, b comment) int { return cmp.Or(cmp.Compare(a.path, b.path), a.line-b.line) })
		drawn = append(drawn, part...)
	}
	return drawn
}
