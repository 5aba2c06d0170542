package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Who has no storage engine should choose bloom.Default. So examples, pages and messages name the format of
// an engine only where they are about that engine.

// engines are the constants of bloom.Format, and what a text about each has in it.
var engines = map[string]string{
	"RocksDB": "RocksDB", "LevelDB": "LevelDB", "Pebble": "Pebble", "Parquet": "Parquet", "Nori": "nori", "NoriCrate": "nori",
}

var (
	engineInCode = regexp.MustCompile(`\bbloom\.(RocksDB|LevelDB|Pebble|Parquet|Nori|NoriCrate)\b`)
	advice       = regexp.MustCompile(`\bchoose (the format|--format) `)
	engineAdvice = regexp.MustCompile(`\bchoose (the format |--format )?(rocksdb|leveldb|pebble|parquet|nori|nori-crate)\b`)
	ofAnEngine   = regexp.MustCompile(`(^|/)(goleveldb|pebble|parquet|stores\.md|pebble\.md|parquet\.md|nori\.md|rocksdb\.md)(/|$)`)
)

// goFiles calls f with every file of Go code outside of the programs that compare formats.
func goFiles(t *testing.T, f func(name string, files *token.FileSet, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch name = filepath.ToSlash(name); {
		case err != nil:
			return err
		case entry.IsDir() && (name == "compare" || name == "asm"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
		if err == nil {
			f(name, files, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDefaultInExamples wants no format of an engine in an example of something else.
func TestDefaultInExamples(t *testing.T) {
	examples := 0
	goFiles(t, func(name string, files *token.FileSet, file *ast.File) {
		isExample := strings.Contains(name, "example") || name == "docs/code_test.go"
		if !isExample || ofAnEngine.MatchString(name) {
			return
		}
		for _, declared := range file.Decls {
			function, ok := declared.(*ast.FuncDecl)
			if !ok {
				continue
			}
			examples++
			for _, engine := range enginesIn(function) {
				if !strings.Contains(function.Doc.Text(), engines[engine]) {
					t.Errorf("%s: %s has the format %s, and its comment does not say why", name, function.Name, engine)
				}
			}
		}
	})
	for _, page := range pages(t) {
		for _, block := range page.Go {
			examples++
			for _, found := range engineInCode.FindAllStringSubmatch(block, -1) {
				comment := regexp.MustCompile(`// .*\b` + engines[found[1]] + `\b`)
				if !ofAnEngine.MatchString(page.Path) && !comment.MatchString(block) {
					t.Errorf("%s has code with %s, and no comment says why", page.Path, found[0])
				}
			}
		}
	}
	if examples < 50 {
		t.Errorf("there are %d examples", examples)
	}
}

// TestDefaultInMessages wants messages that advise a format to advise bloom.Default.
func TestDefaultInMessages(t *testing.T) {
	found := 0
	goFiles(t, func(name string, files *token.FileSet, file *ast.File) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && slices.ContainsFunc(call.Args, isAdvice) {
				found++
				if engines := enginesIn(call); len(engines) > 0 {
					t.Errorf("%v: the message advises %s", files.Position(n.Pos()), engines)
				}
			}
			if text, ok := n.(*ast.BasicLit); ok && engineAdvice.MatchString(text.Value) {
				t.Errorf("%v: the text %s advises an engine's format", files.Position(n.Pos()), text.Value)
			}
			return true
		})
		if file.Name.Name == "bloom" && file.Doc != nil {
			for line := range strings.Lines(file.Doc.Text()) {
				if strings.HasPrefix(line, "\t") && engineInCode.MatchString(line) {
					t.Errorf("%s: the comment of the package has the code %s", name, line)
				}
			}
		}
	})
	if found < 2 {
		t.Errorf("%d messages advise a format", found)
	}
}

// isAdvice reports whether an argument is a text that advises a format.
func isAdvice(e ast.Expr) bool {
	text, ok := e.(*ast.BasicLit)
	return ok && text.Kind == token.STRING && advice.MatchString(text.Value)
}

// enginesIn returns the formats of engines that some code names.
func enginesIn(n ast.Node) (found []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && engines[id.Name] != "" {
			found = append(found, id.Name)
		}
		return true
	})
	return found
}
