//go:build !linux

package bloom

func adviseHugePages([]byte) {}
