module github.com/lanebloom/bloom/cmd/internal/shell

go 1.26.0

require github.com/alecthomas/kong v1.17.0
