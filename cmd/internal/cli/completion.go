package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Completion is the command that prints completions.
type Completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Words are what a shell completes after a flag of some name, instead of files. Those of an enum it knows.
type Words map[string]string

// programName stands for the name of the program in a help.
const programName = "PROGRAM"

// Help returns the text that completion --help prints below the flags.
func (*Completion) Help() string {
	return `Shells: To load the completions in every new shell, add the line for the shell to its startup file:

    bash (~/.bashrc)                    source <(PROGRAM completion bash)
    zsh (~/.zshrc)                      source <(PROGRAM completion zsh)
    fish (~/.config/fish/config.fish)   PROGRAM completion fish | source
`
}

// Run prints a script that completes commands, flags, their words and files. The parser's model has the
// commands and flags. The libraries that complete kong's commands take as many modules as the rest
// of command bloom together.
func (c *Completion) Run(parser *kong.Kong, words Words) error {
	var names []string
	for _, node := range parser.Model.Children {
		names = append(names, node.Name)
	}
	words["command"] = strings.Join(names, " ") // of help
	var script strings.Builder
	switch c.Shell {
	case "bash":
		bashScript(&script, parser.Model, words)
	case "zsh":
		script.WriteString("autoload -Uz compinit bashcompinit && compinit && bashcompinit\n")
		bashScript(&script, parser.Model, words)
	case "fish":
		fishScript(&script, parser.Model, words)
	}
	_, err := io.WriteString(parser.Stdout, script.String())
	return err
}

// of returns what a shell completes as a value, instead of files.
func (w Words) of(value *kong.Value) string {
	return cmp.Or(w[value.Name], strings.ReplaceAll(value.Enum, ",", " "))
}

// ofArguments returns what a shell completes as the last argument of a command, instead of files.
func (w Words) ofArguments(command *kong.Node) (words string) {
	for _, argument := range command.Positional {
		words = w.of(argument)
	}
	return words
}

// bashScript writes a function for bash's complete, which zsh has, too.
func bashScript(w io.Writer, app *kong.Application, words Words) {
	var cases strings.Builder
	for _, command := range app.Children {
		var flags, files strings.Builder
		for _, f := range slices.Concat(command.AllFlags(true)...) {
			fmt.Fprintf(&flags, " --%s", f.Name)
			pattern := "--" + f.Name
			if f.Short != 0 {
				fmt.Fprintf(&flags, " -%c", f.Short)
				pattern += fmt.Sprintf("|-%c", f.Short)
			}
			switch values := words.of(f.Value); {
			case !f.IsBool() && values != "":
				fmt.Fprintf(&files, "        %s) words=%q ;;\n", pattern, values)
			case !f.IsBool():
				fmt.Fprintf(&files, "        %s) ;;\n", pattern)
			}
		}
		fmt.Fprintf(&cases, "    %s)\n      case $before in\n%s        *) words=%q; [[ $word == -* ]] && words=%q ;;\n      esac ;;\n",
			command.Name, files.String(), words.ofArguments(command), strings.TrimSpace(flags.String()))
	}
	fmt.Fprintf(w, `%[1]s() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words= prefix=
  if [[ $word == = ]]; then # bash makes --format=x three words
    word=
  elif [[ $before == = && $COMP_CWORD -gt 2 ]]; then
    before=${COMP_WORDS[COMP_CWORD-2]}
  elif [[ $word == --*=* ]]; then # zsh makes it one
    before=${word%%%%=*} prefix=${word%%%%=*}=
    word=${word#*=}
  fi
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "%[2]s --help --version" -- "$word"))
    return
  fi
  case ${COMP_WORDS[1]} in
%[3]s  esac
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -P "$prefix" -W "$words" -- "$word"))
  else
    local IFS=$'\n'
    COMPREPLY=($(compgen -P "$prefix" -f -- "$word"))
  fi
}
complete -o filenames -F %[1]s %[4]s
`, "_"+strings.ReplaceAll(app.Name, "-", "_"), words["command"], cases.String(), app.Name)
}

// fishScript writes a line for every command and flag.
func fishScript(w io.Writer, app *kong.Application, words Words) {
	quote := func(s string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
	}
	for _, command := range app.Children {
		fmt.Fprintf(w, "complete -c %s -n __fish_use_subcommand -f -a %s -d %s\n", app.Name, command.Name, quote(command.Help))
		in := quote("__fish_seen_subcommand_from " + command.Name)
		if arguments := words.ofArguments(command); arguments != "" {
			fmt.Fprintf(w, "complete -c %s -n %s -f -a %s\n", app.Name, in, quote(arguments))
		}
		for _, f := range slices.Concat(command.AllFlags(true)...) {
			fmt.Fprintf(w, "complete -c %s -n %s -l %s -d %s", app.Name, in, f.Name, quote(f.Help))
			if f.Short != 0 {
				fmt.Fprintf(w, " -s %s", quote(string(f.Short)))
			}
			if !f.IsBool() {
				fmt.Fprint(w, " -r")
			}
			if values := words.of(f.Value); values != "" {
				fmt.Fprintf(w, " -f -a %s", quote(values))
			}
			fmt.Fprintln(w)
		}
	}
}
