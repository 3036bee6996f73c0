// Copyright (c) 2026, nodebootstrap.eks contributors
// GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// The one program in the container image of the lab's pods.
//
//	pod                wait for SIGTERM: the sandbox of every pod
//	pod serve PORT     answer HTTP requests with the name of the pod; on SIGTERM, finish the open ones and end
//	pod wait SECONDS   preStop: let the endpoints go before the server ends
//	pod ignore         ignore SIGTERM, so that the pod stays until its grace period is over
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

func main() {
	words := append(os.Args[1:], "", "")
	switch words[0] {
	case "":
		<-terminated()
	case "serve":
		serve(words[1])
	case "wait":
		seconds, err := strconv.ParseFloat(words[1], 64)
		check(err)
		time.Sleep(time.Duration(seconds * float64(time.Second)))
	case "ignore":
		signal.Ignore(syscall.SIGTERM)
		for {
			time.Sleep(time.Hour)
		}
	default:
		check(fmt.Errorf("unknown command %q", words[0]))
	}
}

func terminated() chan os.Signal {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	return signals
}

func serve(port string) {
	name, _ := os.Hostname()
	end := terminated()
	server := &http.Server{Addr: ":" + port, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, name)
	})}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	select {
	case err := <-failed:
		check(err)
	case <-end:
		limit, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		check(server.Shutdown(limit))
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
