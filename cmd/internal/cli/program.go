// Package cli is the skeleton of both commands: standard streams and messages, the command line, names of
// files, progress bars, completions and the manual page.
package cli

import (
	"errors"
	"maps"
	"os"

	"github.com/alecthomas/kong"
)

// Exit statuses are grep's.
const (
	ExitSome  = 0 // something was found, or the command is done
	ExitNone  = 1
	ExitError = 2
)

// ErrNone says that nothing was found. It sets the exit status and prints no message.
var ErrNone = errors.New("nothing matches")

// ErrReported is an error that is on standard error already, or that nobody wants to read.
var ErrReported = errors.New("reported")

// Program is a command that has subcommands.
type Program struct {
	Description string
	Commands    any       // the command line: a pointer to a struct for kong
	Examples    Examples  // of the subcommands
	Vars        kong.Vars // what the struct's tags name
	Words       Words     // what shells complete

	Groups Titles // of the flags

	Folders *Folders // that stand for inputs; nil if none do
	// Line runs a command line that was read. If it is nil, Check runs it.
	Line func(s *Streams, line *kong.Context) error
}

// Run runs the command line of the streams and returns the exit status. An empty one prints the help on
// standard error and exits 2, for a script that lost its arguments.
func (p *Program) Run(s *Streams) int {
	args, options := s.Args, []kong.Option{kong.Writers(s.Out, s.Err)}
	if len(args) == 0 {
		args = []string{"--help"}
		options = append(options, kong.Writers(s.Err, s.Err), kong.Exit(func(int) { os.Exit(ExitError) }))
	}
	parser, err := p.Parser(s.Program, options...)
	if err != nil {
		panic(err) // the struct tags are wrong
	}
	return s.Status(p.runLine(s, parser, args))
}

// Parser returns the parser of the command lines of a program of that name.
func (p *Program) Parser(name string, options ...kong.Option) (*kong.Kong, error) {
	vars := kong.Vars{"version": versionText(name)}
	maps.Copy(vars, p.Vars)
	parser, err := kong.New(p.Commands, append([]kong.Option{
		kong.Name(name), kong.Description(p.Description), kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Help(printHelp), vars, decodeStrings(), kong.Bind(p.Words),
	}, options...)...)
	if err == nil {
		p.Examples.describe(parser.Model)
		p.Groups.group(parser.Model)
	}
	return parser, err
}

// Titles are those under which a help shows flags together, with the names of the flags.
type Titles map[string][]string

// group puts the flags of each command into groups.
func (titles Titles) group(app *kong.Application) {
	groups := map[string]*kong.Group{}
	for title, flags := range titles {
		for _, flag := range flags {
			groups[flag] = &kong.Group{Key: title, Title: title}
		}
	}
	for _, command := range app.Children {
		for _, flag := range command.Flags {
			flag.Group = groups[flag.Name]
		}
	}
}

func (p *Program) runLine(s *Streams, parser *kong.Kong, args []string) error {
	line, err := parser.Parse(args)
	switch {
	case err != nil:
		return explain(err)
	case p.Line != nil:
		return p.Line(s, line)
	}
	return p.Check(s, line)
}

// Check runs a command line, unless it gives a flag twice or an output is an input.
func (p *Program) Check(s *Streams, line *kong.Context) error {
	if err := once(line); err != nil {
		return err
	}
	if err := check(s.Outputs(), line, p.Folders); err != nil {
		return err
	}
	return line.Run(s)
}

// Status prints an error, each of joined ones in a line of its own but those that SayOf leaves out, and
// returns its exit status.
func (s *Streams) Status(err error) int {
	defer s.SayRest()
	switch {
	case err == nil:
		return ExitSome
	case errors.Is(err, ErrNone):
		return ExitNone
	}
	for _, e := range parts(err) {
		if !errors.Is(e, ErrReported) {
			s.SayError(e)
		}
	}
	return ExitError
}

// parts returns the errors that were joined to one, in order.
func parts(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, parts(e)...)
	}
	return all
}
