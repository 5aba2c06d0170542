package window

import "errors"

var (
	// ErrNoFolder is the error of Save and Close for a window that was not made by [Open], or that is closed.
	ErrNoFolder = errors.New("window: the window has no folder")
	// ErrLocked is the error of [Open] if another window uses the folder, in this process or in another.
	ErrLocked = errors.New("window: another window has the folder")
)
