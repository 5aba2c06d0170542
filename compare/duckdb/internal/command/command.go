// Package command builds the command that this module compares with DuckDB.
package command

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// Build writes bloom-parquet to a folder, and returns its path.
func Build(dir string) (string, error) {
	name := filepath.Join(dir, "bloom-parquet")
	if output, err := exec.Command("go", "build", "-o", name, "github.com/lanebloom/bloom/cmd/bloom-parquet").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, output)
	}
	return name, nil
}
