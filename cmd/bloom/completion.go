package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is what bloom completion --help says, too.
func (*completionCommand) Help() string {
	return `Load it in the file that your shell reads when it starts:

    bash (~/.bashrc)                    source <(bloom completion bash)
    zsh (~/.zshrc)                      source <(bloom completion zsh)
    fish (~/.config/fish/config.fish)   bloom completion fish | source
`
}

// Run prints a script that completes commands, flags, and the names of formats and files. The
// parser's model has the commands and flags. The libraries that complete kong's commands take as many
// modules as the rest of the command together.
func (c *completionCommand) Run(s *streams, parser *kong.Kong) error {
	var commands []completed
	for _, node := range parser.Model.Children {
		commands = append(commands, newCompleted(node))
	}
	var script strings.Builder
	switch c.Shell {
	case "bash":
		bashScript(&script, commands)
	case "zsh":
		script.WriteString("autoload -Uz compinit bashcompinit && compinit && bashcompinit\n")
		bashScript(&script, commands)
	case "fish":
		fishScript(&script, commands)
	}
	_, err := io.WriteString(s.out, script.String())
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

func newCompleted(node *kong.Node) completed {
	c := completed{name: node.Name, help: node.Help}
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			flag := completedFlag{long: f.Name, help: f.Help, takesValue: !f.IsBool()}
			if f.Short != 0 {
				flag.short = string(f.Short)
			}
			if f.Name == "format" {
				flag.words = strings.ReplaceAll(formatNames(" "), ",", "")
			}
			c.flags = append(c.flags, flag)
		}
	}
	for _, argument := range node.Positional {
		c.words = strings.ReplaceAll(argument.Enum, ",", " ")
	}
	return c
}

// bashScript writes a function for bash's complete, which zsh has, too.
func bashScript(w io.Writer, commands []completed) {
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
	fmt.Fprintf(w, `_bloom() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "%s --help --version" -- "$word"))
    return
  fi
  case ${COMP_WORDS[1]} in
%s  esac
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  else
    local IFS=$'\n'
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _bloom bloom
`, strings.TrimSpace(names.String()), cases.String())
}

// fishScript writes a line for every command and flag.
func fishScript(w io.Writer, commands []completed) {
	quote := func(s string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
	}
	for _, c := range commands {
		fmt.Fprintf(w, "complete -c bloom -n __fish_use_subcommand -f -a %s -d %s\n", c.name, quote(c.help))
		in := quote("__fish_seen_subcommand_from " + c.name)
		if c.words != "" {
			fmt.Fprintf(w, "complete -c bloom -n %s -f -a %s\n", in, quote(c.words))
		}
		for _, f := range c.flags {
			fmt.Fprintf(w, "complete -c bloom -n %s -l %s -d %s", in, f.long, quote(f.help))
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
