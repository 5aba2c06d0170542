//go:build !unix

package main

func spoilWrites() {}
