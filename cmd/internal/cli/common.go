package cli

// Common are the subcommands and flags that every command has after its own.
type Common struct {
	Completion Completion `cmd:"" help:"Print a completion script for bash, zsh or fish."`
	Help       Help       `cmd:"" help:"Print help for all commands or for one command."`
	Man        Man        `help:"Print the manual page in the format that man reads."`
	Version    Version    `help:"Print the version of the command, the version of Go, the system and the kernel."`
}
