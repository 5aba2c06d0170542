package cli

// Common are the subcommands and flags that every command has after its own.
type Common struct {
	Completion Completion `cmd:"" help:"Print the completions for bash, zsh or fish."`
	Help       Help       `cmd:"" help:"Print the help of all commands, or of one."`
	Man        Man        `help:"Print the manual page, for man."`
	Version    Version    `help:"Print the version of the command, of Go and of the system, and the kernel."`
}
