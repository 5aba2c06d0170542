package cli

import "github.com/lanebloom/bloom/cmd/internal/records"

// LineFlags say how the commands read keys, or the records that keys are in.
type LineFlags struct {
	Null     bool `short:"0" xor:"null" help:"Keys end with a NUL byte, not a newline."`
	NullData bool `short:"z" xor:"null-data" help:"The same as --null, under grep's name."`
	CRLF     bool `name:"crlf" xor:"null,null-data" help:"A carriage return before the newline is not part of the key, and a byte-order mark is not part of the first key."`

	MaxRecord    ByteSize `placeholder:"SIZE" help:"Refuse a line or record of more bytes than this (64MiB)."`
	NoDecompress bool     `help:"Use the bytes of keys as they are, even if they look compressed or do not look like keys."`
}

// Options returns what the flags say.
func (f LineFlags) Options() records.Options {
	return records.Options{Null: f.Null || f.NullData, CRLF: f.CRLF, MaxRecord: uint64(f.MaxRecord), NoDecompress: f.NoDecompress}
}
