package window

import "errors"

var (
	// ErrNoFolder is the error of Save and Close for a window that [Open] did not make, or that is closed.
	ErrNoFolder = errors.New("window: the window has no folder")
	// ErrLocked is the error of [Open] if another window has the folder, in this process or in another.
	ErrLocked = errors.New("window: another window has the folder")
)
