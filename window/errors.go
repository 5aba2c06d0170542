package window

import "errors"

var (
	// ErrNoFolder is the error of Save and Close if the window was not returned by [Open], or was closed.
	ErrNoFolder = errors.New("window: the window has no folder")
	// ErrLocked is the error of [Open] if another window, in this process or another one, uses the folder.
	ErrLocked = errors.New("window: another window uses the folder")
)
