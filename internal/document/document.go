// Package document finds in the documents of this repository what tests can check: links, code,
// and commands.
package document

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

// A Page is a file of Markdown.
type Page struct {
	Path     string // from the root, with slashes
	Links    []string
	Anchors  map[string]bool
	Go       []string // blocks of Go
	Commands []string // lines for a shell, and code within a sentence that may be one
	Words    []string // of the whole page, without punctuation around them
}

// Pages reads every page below the folder root.
func Pages(root string) ([]Page, error) {
	os.Getenv("BLOOM_TEST_DOCUMENTS") // go test knows no change of a file outside of a module, but of this sum
	var pages []Page
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		pages = append(pages, read(filepath.ToSlash(name), string(text)))
		return err
	})
	return pages, err
}

var (
	link    = regexp.MustCompile(`\[[^\[\]]*\]\(([^)\s]+)\)`)
	code    = regexp.MustCompile("`([^`]+)`")
	heading = regexp.MustCompile(`^#+ +(.*)`)
	comment = regexp.MustCompile(`\s#\s.*`)
)

// read divides a page into its lines: those of fenced blocks, indented ones, and text.
func read(path, text string) Page {
	page := Page{Path: path, Anchors: map[string]bool{}}
	fence, block := "", ""
	prose := ""
	for line := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
		bare := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(bare, "```"):
			if fence == "```go" {
				page.Go = append(page.Go, block)
			}
			if fence == "" {
				fence = bare
			} else {
				fence = ""
			}
			block = ""
		case fence != "":
			block += line
			if fence != "```go" {
				page.Commands = append(page.Commands, command(bare))
			}
		case strings.HasPrefix(line, "    "):
			page.Commands = append(page.Commands, command(bare))
		default:
			if found := heading.FindStringSubmatch(line); found != nil {
				page.Anchors[anchor(found[1])] = true
			}
			prose += line
		}
	}
	unlinked := prose
	for range 2 { // a picture may be the text of a link
		for _, found := range link.FindAllStringSubmatch(unlinked, -1) {
			page.Links = append(page.Links, found[1])
		}
		unlinked = link.ReplaceAllString(unlinked, " ")
	}
	for _, found := range code.FindAllStringSubmatch(prose, -1) {
		page.Commands = append(page.Commands, command(strings.Join(strings.Fields(found[1]), " ")))
	}
	for word := range strings.FieldsFuncSeq(unlinked, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("`()[]|,;:\"'’→", r)
	}) {
		page.Words = append(page.Words, strings.TrimRight(word, "."))
	}
	return page
}

// command drops the prompt before a line for a shell and the comment after it.
func command(line string) string {
	return comment.ReplaceAllString(strings.TrimPrefix(line, "$ "), "")
}

// anchor returns what GitHub makes of a heading.
func anchor(heading string) string {
	var name strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(heading)) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			name.WriteRune(r)
		case r == ' ':
			name.WriteRune('-')
		}
	}
	return name.String()
}

// Calls returns the arguments of each command of a line for a shell, which starts with the
// command's name. Other syntax than quotes ends a command.
func Calls(line string) [][]string {
	var calls [][]string
	for part := range strings.FieldsFuncSeq(unquoted(line), func(r rune) bool { return strings.ContainsRune("|&;()", r) }) {
		part, _, _ = strings.Cut(part, ">")
		if words := strings.Fields(strings.ReplaceAll(part, "<", " ")); len(words) > 0 {
			for i := range words {
				words[i] = quoted.Replace(words[i])
			}
			calls = append(calls, words)
		}
	}
	return calls
}

// A Call is what a page calls a command with.
type Call struct {
	Page string
	Args []string
}

// CallsOf returns the calls of the command whose source is in the folder cmd/name, with go run, too.
// The name alone is no call.
func CallsOf(pages []Page, name string) []Call {
	var found []Call
	for _, page := range pages {
		for _, line := range page.Commands {
			for _, call := range Calls(line) {
				if len(call) > 3 && call[0] == "go" && call[1] == "run" &&
					(call[2] == "./cmd/"+name || call[2] == "." && strings.HasPrefix(line, "cd cmd/"+name+" ")) {
					call = append([]string{name}, call[3:]...)
				}
				if call[0] == name && len(call) > 1 {
					found = append(found, Call{page.Path, call[1:]})
				}
			}
		}
	}
	return found
}

// quoted gives back what unquoted has hidden from the syntax.
var quoted = strings.NewReplacer("\x01", "|", "\x02", "&", "\x03", ";", "\x04", "(", "\x05", ")", "\x06", ">", "\x07", "<", "\x0e", " ")

// unquoted drops quotes, and hides the syntax between them.
func unquoted(line string) string {
	hidden := strings.NewReplacer("|", "\x01", "&", "\x02", ";", "\x03", "(", "\x04", ")", "\x05", ">", "\x06", "<", "\x07", " ", "\x0e")
	var out strings.Builder
	for {
		at := strings.IndexAny(line, `'"`)
		if at < 0 {
			break
		}
		length := strings.IndexByte(line[at+1:], line[at])
		if length < 0 {
			break
		}
		out.WriteString(line[:at] + hidden.Replace(line[at+1:at+1+length]))
		line = line[at+length+2:]
	}
	return out.String() + line
}
