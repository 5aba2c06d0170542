package records

import (
	"bytes"
	"fmt"
	"strings"
)

// LineHint says how an array, or objects of several lines, become an object a line. It is "" for a line that begins neither.
func LineHint(line []byte) string {
	switch line = bytes.TrimSpace(line); {
	case bytes.HasPrefix(line, []byte("[")):
		return "; of an array, jq -c '.[]' makes a line of each element"
	case string(line) == "{":
		return "; jq -c . makes a line of each object"
	}
	return ""
}

// Path returns the names of the members that lead to a key, from the outermost: user.id is the member id
// of the member user, and /user/id, a JSON pointer (RFC 6901), is the same. A number is a place in a list, too.
func Path(field string) ([]string, error) {
	pointer, isPointer := strings.CutPrefix(field, "/")
	if !isPointer {
		return strings.Split(field, "."), nil
	}
	path := strings.Split(pointer, "/")
	for i, name := range path {
		rest := strings.NewReplacer("~0", "", "~1", "").Replace(name)
		if strings.Contains(rest, "~") {
			return nil, fmt.Errorf("in the JSON pointer %q, ~ must be ~0, and / in a name ~1", field)
		}
		path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	}
	return path, nil
}
