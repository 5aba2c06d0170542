package window

import (
	"errors"
	"time"
)

// Open returns the window that is kept in a folder. If the folder is new or empty, the window is empty. Each generation has a file
// there, and [Window.Save] writes those that have changed: call it every minute, say. A process that is killed loses what was added
// after the last Save.
//
// The options are those of the window, whatever those of the window that was saved: see [Window.Load] for what becomes of
// the filters. The generations are as old as they are by the time of day: if Run rotated the window that was saved, those that have
// become too old are forgotten. Their files stay until the next Save. So if the time of day is wrong, nothing is lost before. A
// generation that begins in the future begins now. Open reads each filter to where it stays, and takes hardly more memory than
// that.
//
// The folder is locked until Close, or until the process ends. The error is [ErrLocked] if another window has it, in this
// process or in another. Where package syscall has no such lock (AIX, Solaris, Plan 9, js and wasip1), nobody notices a second
// one. It is [bloom.ErrEncoding] if a file is missing or damaged, or older than the others; the message has its name. Open then
// changes nothing, and an empty folder is the way on. It is [bloom.ErrShape] for a folder of another format, or one of [New].
func Open(folder string, o Options) (*Window, Loaded, error) {
	p, err := o.plan()
	if err != nil {
		return nil, Loaded{}, err
	}
	f, err := lockFolder(folder)
	if err != nil {
		return nil, Loaded{}, err
	}
	w, loaded, err := f.window(o, p)
	if err != nil {
		f.lock.Close()
		return nil, loaded, err
	}
	return w, loaded, nil
}

// window returns the window of the folder.
func (f *folder) window(o Options, p *plan) (*Window, Loaded, error) {
	in, size, err := f.read(o, p)
	loaded := Loaded{Size: size}
	if in != nil {
		loaded.Saved = in.options
	}
	if err != nil {
		return nil, loaded, err
	}
	if in == nil {
		w, err := New(o)
		if err != nil {
			return nil, loaded, err
		}
		w.folder, loaded.Began = f, w.Began()
		return w, loaded, w.Save() // so that a folder with files always has a header
	}
	s, err := in.state(o, p)
	if err != nil {
		return nil, loaded, err
	}
	w := &Window{folder: f}
	w.state.Store(s)
	w.every.Store(int64(in.every))
	loaded.Began = w.Began()
	loaded.Kept = max(min(len(in.entries), o.Generations)-in.missed, 0)
	loaded.Forgotten = len(in.entries) - loaded.Kept
	for _, g := range s.generations {
		for _, set := range g.sets {
			if set.shape != p.shape {
				loaded.Reshaped++
			}
		}
	}
	return w, loaded, nil
}

// Save writes the newest generation to the folder of Open, and others that the folder does not have as they are. Goroutines may
// use w meanwhile; Rotate, Load and Resize wait until it ends. When it has returned without an error, the folder has every key that
// was added before it began, and the files are synced. With an error, the folder has what the last Save without one had.
func (w *Window) Save() error {
	w.order.Lock()
	defer w.order.Unlock()
	return w.save()
}

func (w *Window) save() error {
	if w.folder == nil {
		return ErrNoFolder
	}
	return w.folder.save(w.state.Load(), time.Duration(w.every.Load()))
}

// Close saves the window and unlocks its folder. The window is one without a folder then.
func (w *Window) Close() error {
	w.order.Lock()
	defer w.order.Unlock()
	err := w.save()
	if w.folder != nil {
		err = errors.Join(err, w.folder.lock.Close())
		w.folder = nil
	}
	return err
}
