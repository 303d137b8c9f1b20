// Says what Go sources mean, for check.py: reads "LANGUAGE SIZE\n" and the text, answers with a line: "ok" and a hash
// of the tokens (the semicolons that line ends stand for, and the comments that the tools read, included), or "error"
// and why there are none.
package main

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/doc"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"os"
	"regexp"
	"strings"
)

var directive = regexp.MustCompile(`^//([a-z0-9]+:[a-z0-9]|export |extern |line )|^/\*line `)

func isRead(comment string) bool {
	return directive.MatchString(comment) || constraint.IsPlusBuild(comment)
}

// The comment that cgo compiles.
func preamble(file *ast.File) string {
	text := ""
	for _, declaration := range file.Decls {
		group, ok := declaration.(*ast.GenDecl)
		if !ok || group.Tok != token.IMPORT {
			continue
		}
		for _, spec := range group.Specs {
			imported := spec.(*ast.ImportSpec)
			if imported.Path.Value != `"C"` {
				continue
			}
			if imported.Doc != nil {
				text += imported.Doc.Text()
			} else if group.Doc != nil {
				text += group.Doc.Text()
			}
		}
	}
	return text
}

func answer(source []byte) string {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "source.go", source, parser.ParseComments)
	if err != nil {
		return "error " + strings.ReplaceAll(err.Error(), "\n", " ")
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%q\n", preamble(parsed))
	for _, example := range doc.Examples(parsed) {
		fmt.Fprintf(hash, "%q %v\n", example.Output, example.Unordered)
	}
	var tokens scanner.Scanner
	tokens.Init(files.AddFile("source.go", files.Base(), len(source)), source, nil, scanner.ScanComments)
	for {
		_, kind, literal := tokens.Scan()
		if kind == token.EOF {
			break
		}
		if kind == token.SEMICOLON {
			literal = ""
		}
		if kind != token.COMMENT || isRead(literal) {
			fmt.Fprintf(hash, "%s %q\n", kind, strings.ReplaceAll(literal, "\r", ""))
		}
	}
	return fmt.Sprintf("ok %x", hash.Sum(nil))
}

func main() {
	in := bufio.NewReader(os.Stdin)
	for {
		var language string
		var size int
		if _, err := fmt.Fscanf(in, "%s %d\n", &language, &size); err != nil {
			return
		}
		source := make([]byte, size)
		if _, err := io.ReadFull(in, source); err != nil {
			return
		}
		fmt.Println(answer(source))
	}
}
