//go:build linux
// +build linux

// Package pool keeps connections.
package pool

/*
#include <stdio.h> // for cgo
*/
import "C"

import "fmt" /* one */

var query = `select '//' from "t" -- \
where x = ` + "`//`" + string('"')

// Example shows it.
func ExamplePool() {
	fmt.Println(1, /* a
		 */2) // trailing
	// it prints
	// Output: 1
}
