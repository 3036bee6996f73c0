// Copyright (c) 2026, nodebootstrap.eks contributors
// GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// Kubelet_fields prints, as JSON, what one version of kubelet can be told: the fields of its KubeletConfiguration,
// the names of its flags, its feature gates and its defaults. It reads Go source and compiles none of it, so one run takes a moment for any version.
//
//	kubelet_fields fields k8s.io/kubelet=DIR k8s.io/component-base=DIR k8s.io/api=DIR
//	kubelet_fields flags DIR...
//	kubelet_fields gates MINOR IMPORT_PATH=DIR...
//	kubelet_fields defaults FILE
//
// DIR is where a module lies (go mod download -json tells). tools/refresh_kubelet.py calls it for every minor.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) < 3 {
		fail(fmt.Errorf("usage: kubelet_fields fields MODULE=DIR... | flags DIR... | gates MINOR IMPORT_PATH=DIR... | defaults FILE"))
	}
	var result any
	var err error
	switch os.Args[1] {
	case "fields":
		result, err = newReader(folders(os.Args[2:])).configuration()
	case "flags":
		result, err = flags(os.Args[2:])
	case "gates":
		var minor int
		if minor, err = strconv.Atoi(os.Args[2]); err == nil {
			result, err = gates(minor, folders(os.Args[3:]))
		}
	case "defaults":
		result, err = defaults(os.Args[2])
	default:
		err = fmt.Errorf("unknown command %q", os.Args[1])
	}
	if err != nil {
		fail(err)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	if err := out.Encode(result); err != nil {
		fail(err)
	}
}

// folders reads arguments of the form PATH=DIR.
func folders(arguments []string) map[string]string {
	found := map[string]string{}
	for _, argument := range arguments {
		path, dir, _ := strings.Cut(argument, "=")
		found[path] = dir
	}
	return found
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
