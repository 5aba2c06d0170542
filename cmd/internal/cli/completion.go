package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// Completion is the command that prints completions.
type Completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Words are what a shell completes after a flag of some name, instead of files. Those of an enum it knows.
type Words map[string]string

// programName stands for the name of the program in a help.
const programName = "PROGRAM"

// Help is what completion --help says, too.
func (*Completion) Help() string {
	return `Load it in the file that your shell reads when it starts:

    bash (~/.bashrc)                    source <(PROGRAM completion bash)
    zsh (~/.zshrc)                      source <(PROGRAM completion zsh)
    fish (~/.config/fish/config.fish)   PROGRAM completion fish | source
`
}

// Run prints a script that completes commands, flags, their words and files. The parser's model has the
// commands and flags. The libraries that complete kong's commands take as many modules as the rest
// of command bloom together.
func (c *Completion) Run(parser *kong.Kong, words Words) error {
	var commands []completed
	var names []string
	for _, node := range parser.Model.Children {
		names = append(names, node.Name)
	}
	for _, node := range parser.Model.Children {
		commands = append(commands, completedBy(node, names, words))
	}
	var script strings.Builder
	switch c.Shell {
	case "bash":
		bashScript(&script, parser.Model.Name, commands)
	case "zsh":
		script.WriteString("autoload -Uz compinit bashcompinit && compinit && bashcompinit\n")
		bashScript(&script, parser.Model.Name, commands)
	case "fish":
		fishScript(&script, parser.Model.Name, commands)
	}
	_, err := io.WriteString(parser.Stdout, script.String())
	return err
}

// completed is what a shell completes after the name of a command.
type completed struct {
	name, help string
	flags      []completedFlag
	words      string // instead of files
}

type completedFlag struct {
	long, short, help string
	takesValue        bool
	words             string // of the value, instead of files
}

func completedBy(node *kong.Node, names []string, words Words) completed {
	all := completed{name: node.Name, help: node.Help}
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			flag := completedFlag{long: f.Name, help: f.Help, takesValue: !f.IsBool(), words: cmp.Or(words[f.Name], strings.ReplaceAll(f.Enum, ",", " "))}
			if f.Short != 0 {
				flag.short = string(f.Short)
			}
			all.flags = append(all.flags, flag)
		}
	}
	for _, argument := range node.Positional {
		all.words = strings.ReplaceAll(argument.Enum, ",", " ")
		if node.Name == "help" {
			all.words = strings.Join(names, " ")
		}
	}
	return all
}

// bashScript writes a function for bash's complete, which zsh has, too.
func bashScript(w io.Writer, name string, commands []completed) {
	var names, cases strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&names, " %s", c.name)
		var flags, files strings.Builder
		for _, f := range c.flags {
			fmt.Fprintf(&flags, " --%s", f.long)
			pattern := "--" + f.long
			if f.short != "" {
				fmt.Fprintf(&flags, " -%s", f.short)
				pattern += "|-" + f.short
			}
			switch {
			case f.takesValue && f.words != "":
				fmt.Fprintf(&files, "        %s) words=%q ;;\n", pattern, f.words)
			case f.takesValue:
				fmt.Fprintf(&files, "        %s) ;;\n", pattern)
			}
		}
		fmt.Fprintf(&cases, "    %s)\n      case $before in\n%s        *) words=%q; [[ $word == -* ]] && words=%q ;;\n      esac ;;\n",
			c.name, files.String(), c.words, strings.TrimSpace(flags.String()))
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
`, "_"+strings.ReplaceAll(name, "-", "_"), strings.TrimSpace(names.String()), cases.String(), name)
}

// fishScript writes a line for every command and flag.
func fishScript(w io.Writer, name string, commands []completed) {
	quote := func(s string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
	}
	for _, c := range commands {
		fmt.Fprintf(w, "complete -c %s -n __fish_use_subcommand -f -a %s -d %s\n", name, c.name, quote(c.help))
		in := quote("__fish_seen_subcommand_from " + c.name)
		if c.words != "" {
			fmt.Fprintf(w, "complete -c %s -n %s -f -a %s\n", name, in, quote(c.words))
		}
		for _, f := range c.flags {
			fmt.Fprintf(w, "complete -c %s -n %s -l %s -d %s", name, in, f.long, quote(f.help))
			if f.short != "" {
				fmt.Fprintf(w, " -s %s", quote(f.short))
			}
			if f.takesValue {
				fmt.Fprint(w, " -r")
			}
			if f.words != "" {
				fmt.Fprintf(w, " -f -a %s", quote(f.words))
			}
			fmt.Fprintln(w)
		}
	}
}
