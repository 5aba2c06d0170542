package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// The bounds of what the server does at once. One browser needs less, and together
// they bound its descriptors, and its memory to what the files take that it shows.
const (
	maxConnections = 32 // a browser opens six, and a process may have 256 descriptors
	maxAtWork      = 2  // requests
	patience       = 10 * time.Second
	smallBody      = 4 << 20       // as many as there are connections
	maxBody        = 1<<30 + 1<<20 // one at a time, until it is answered
)

// turns lets as many requests at a time be worked on as it has room for.
type turns chan struct{}

// take waits for a turn, which the caller must give back if there is no error. It
// waits no longer than the context lasts, and patience.
func (t turns) take(ctx context.Context) error {
	tired := time.NewTimer(patience)
	defer tired.Stop()
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-tired.C:
		return errors.New("the server is at work on other requests: try again")
	}
}

func (t turns) giveBack() { <-t }

// connections keeps at most maxConnections of a server open: for a new one it
// closes the one that has done nothing for longest. So connections on which nothing is
// sent, or never all of a request, keep no one else out.
type connections struct {
	mu   sync.Mutex
	open []net.Conn // in the order of their last changes of state
}

// follow is the hook [http.Server.ConnState] of the server.
func (c *connections) follow(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := slices.Index(c.open, conn)
	if known >= 0 {
		c.open = slices.Delete(c.open, known, known+1)
	}
	if state == http.StateClosed || known < 0 && state != http.StateNew { // or it was closed below
		return
	}
	if len(c.open) == maxConnections {
		c.open[0].Close()
		c.open = slices.Delete(c.open, 0, 1)
	}
	c.open = append(c.open, conn)
}
