package window

import (
	"errors"
	"time"
)

// Open returns the window that is kept in a folder. If the folder does not exist or is empty, the window is
// empty. The folder has a file for each generation. [Window.Save] writes the files of the generations that
// have changed. Call Save regularly, for example every minute: if the process is killed, the keys that were
// added after the last Save are lost.
//
// The window gets the given options, not the options of the saved window. [Window.Load] describes what
// happens to filters that do not match the given options. Open computes the age of the generations from the
// time of day. If Run rotated the saved window, Open forgets generations that have become too old. Their
// files stay until the next Save or Close, so a wrong time of day deletes no file before that. If the saved
// time of a generation is in the future, the generation begins now. Open reads each filter directly into
// its final memory, so it needs little more memory than the filters.
//
// The folder is locked until Close or until the process ends. The error is [ErrLocked] if another window,
// in this process or another one, uses the folder. On systems where package syscall has no lock that ends
// with the process (AIX, Solaris, Plan 9, js and wasip1), Open does not detect another window. The error is
// [bloom.ErrEncoding] if a file is missing, damaged or older than the others, and the message names the
// file. Open then changes nothing in the folder; use an empty folder instead. The error is [bloom.ErrShape]
// if the filters in the folder have a different format. Open also returns the errors of [New].
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

// Save writes the newest generation to the window's folder, and also each older generation that has changed
// since it was last written. Goroutines may use w during the call, but Rotate, Load and Resize wait until
// Save returns. If Save returns nil, the folder has every key that was added before Save began, and the
// files are synced. If it returns an error, the folder has at least the keys that the last successful Save
// wrote.
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

// Close saves the window and unlocks its folder. After that, the window has no folder.
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
