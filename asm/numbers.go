package main

import . "github.com/mmcloughlin/avo/operand"

// The primes of XXH64.
var primes = [5]uint64{
	keyhash.constant("prime1"), keyhash.constant("prime2"), keyhash.constant("Prime3"), keyhash.constant("prime4"), keyhash.constant("Prime5"),
}

// number returns a small number in memory. Instructions broadcast it as they load it. A
// broadcast from a general register would use a busy port.
func number(n int) Mem {
	if n > mostSmallNumber {
		return longConstant(uint64(n))
	}
	return smallNumbers.Offset(8 * n)
}

const mostSmallNumber = 33

// smallNumbers has the numbers from 0 on.
var smallNumbers = longWords("smallNumbers", mostSmallNumber+1, func(n int) uint64 { return uint64(n) })
