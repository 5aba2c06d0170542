package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/lanebloom/bloom/cmd/internal/outputfile"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// Flags and arguments that name files have types of their own. So one function knows all files that a command
// line names, and refuses outputs that are inputs, whatever the command.

// Input is the name of a file, or of a folder of files, that is read. "-" is standard input. Without the
// flag, it is empty: an empty name on the command line is an error.
type Input string

// Output is the name of a file that is written, and must not be an input. Without the flag, it is empty.
type Output string

// State is the name of a file that is read and then replaced: it must not be another input, nor an output.
// Without the flag, it is empty.
type State string

// Text is a value of a flag that may be empty.
type Text string

// decodeStrings decodes the flags and arguments that are strings, of these types or others. An empty value of
// a flag is an error unless it is a Text, and not the same as no flag: a script may have lost the value. The
// bytes stay as they are, for names of files need not be UTF-8; kong's own decoder goes through JSON, which
// replaces what is not.
func decodeStrings() kong.Option { return kong.KindMapper(reflect.String, kong.MapperFunc(decode)) }

func decode(context *kong.DecodeContext, target reflect.Value) error {
	token, err := context.Scan.PopValue("string")
	if err != nil {
		return err
	}
	text := fmt.Sprint(token.Value)
	_, isInput := target.Interface().(Input)
	_, isText := target.Interface().(Text)
	isFile := isInput || isWritten(target.Interface())
	switch {
	case text == "" && isFile:
		return errors.New("the file name is missing")
	case text == "" && context.Value.Flag != nil && !isText:
		return errors.New("the value is missing")
	case text == "-" && isFile && !isInput:
		return errors.New("- does not name a file here: write ./- for a file of that name")
	}
	target.SetString(text)
	return nil
}

func isWritten(name any) bool {
	switch name.(type) {
	case Output, State:
		return true
	}
	return false
}

// check returns an error for a command line on which a file that is written is read, too, or is written
// twice: a file of an Output or a State, or standard output, which every command writes. It does not matter
// by what names and links. Files that could not be written for another reason are an error, too. folders may
// stand for inputs.
func check(streams outputfile.Streams, line *kong.Context, folders *Folders) error {
	inputs, outputs, states := named(line)
	if twice := readTwice(streams, line); twice != "" {
		return fmt.Errorf("%s: this input is named twice but can be read only once: save it to a file first", twice)
	}
	if folders != nil {
		var all []string
		for _, name := range inputs {
			if files, err := Files(folders, []string{name}); err == nil { // else reading tells
				all = append(all, files...)
			}
		}
		inputs = all
	}
	if info, err := streams.Out.Stat(); err == nil { // else writing tells
		for _, input := range slices.Concat(inputs, states) {
			if in, err := streams.Stat(input); err == nil && os.SameFile(in, info) && !isStreaming(info) {
				return isAlsoOutput(input)
			}
		}
	}
	for _, state := range states {
		for _, input := range inputs {
			if same(streams, input, state) {
				return isAlsoOutput(input)
			}
		}
	}
	for i, output := range outputs {
		for _, input := range slices.Concat(inputs, states) {
			if same(streams, input, output) {
				return isAlsoOutput(input)
			}
		}
		for _, other := range outputs[:i] {
			if same(streams, other, output) {
				return fmt.Errorf("%s: two outputs name this file", output)
			}
		}
		if err := streams.Check(output); err != nil {
			return err
		}
	}
	return nil
}

// readTwice returns the name of standard input, a pipe or a terminal that a command line names for two
// purposes, or nothing: the second would find no bytes. Names of one list are for one purpose, and are read
// one after the other: there it is standard input alone that may not be named again.
func readTwice(streams outputfile.Streams, line *kong.Context) string {
	type source struct {
		name Input
		info os.FileInfo
	}
	var before []source
	for _, value := range Values(line.Selected()) {
		var names []Input
		switch name := value.Target.Interface().(type) {
		case Input:
			names = []Input{name}
		case []Input:
			names = name
		}
		others := before
		for i, name := range names {
			if name == "-" && slices.Contains(names[:i], name) {
				return string(name)
			}
			info, err := streams.Stat(string(name))
			if err != nil {
				continue
			}
			for _, other := range others {
				if os.SameFile(info, other.info) && (isStreaming(info) || name == "-" && other.name == "-") {
					return string(name)
				}
			}
			before = append(before, source{name, info})
		}
	}
	return ""
}

func isAlsoOutput(input string) error {
	return fmt.Errorf("%s: input file is also the output", input)
}

// same reports whether an input, or an output, and another output are one file. A file that is not there yet has
// only its name.
func same(streams outputfile.Streams, first, second string) bool {
	info1, err1 := streams.Stat(first)
	info2, err2 := os.Stat(second)
	if err1 == nil && err2 == nil {
		return os.SameFile(info1, info2) && !isStreaming(info2)
	}
	path1, err1 := filepath.Abs(first)
	path2, err2 := filepath.Abs(second)
	return err1 == nil && err2 == nil && path1 == path2
}

// OpenAnywhere opens a file that is read at many places. A pipe or a terminal is an error, and nobody waits
// for who writes to it.
func OpenAnywhere(name string) (*os.File, error) {
	if info, err := os.Stat(name); err == nil && isStreaming(info) {
		return nil, fmt.Errorf("%s: the file is not read in order, so it must be a regular file", show.Name(name))
	}
	return os.Open(name)
}

// isStreaming reports whether it does no harm to read from and write to the same file, such as a terminal or
// a pipe.
func isStreaming(info os.FileInfo) bool {
	return info.Mode()&(os.ModeCharDevice|os.ModeNamedPipe|os.ModeSocket) != 0
}

// named returns the files that a command line names.
func named(line *kong.Context) (inputs, outputs, states []string) {
	for _, value := range Values(line.Selected()) {
		switch name := value.Target.Interface().(type) {
		case Input:
			inputs = append(inputs, string(name))
		case []Input:
			inputs = append(inputs, Names(name)...)
		case Output:
			outputs = append(outputs, string(name))
		case State:
			states = append(states, string(name))
		}
	}
	given := func(names []string) []string {
		return slices.DeleteFunc(names, func(name string) bool { return name == "" })
	}
	return given(inputs), given(outputs), given(states)
}

// Outputs returns the names of the files that a command line writes, without those of a State.
func Outputs(line *kong.Context) []string {
	_, outputs, _ := named(line)
	return outputs
}

// Values returns the flags and arguments of a command.
func Values(command *kong.Node) (values []*kong.Value) {
	if command == nil {
		return nil
	}
	for _, group := range command.AllFlags(false) {
		for _, flag := range group {
			values = append(values, flag.Value)
		}
	}
	return append(values, command.Positional...)
}

// Names returns inputs as strings.
func Names(inputs []Input) []string {
	names := make([]string, len(inputs))
	for i, input := range inputs {
		names[i] = string(input)
	}
	return names
}
