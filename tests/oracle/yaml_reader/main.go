// Copyright (c) 2026, nodebootstrap.eks contributors
// GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// yaml_reader reads JSON strings from stdin, one YAML document each, and answers with one line each, what the
// reader inside nodeadm and kubelet makes of it: {"json": …} or {"error": "…"}.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"sigs.k8s.io/yaml"
)

type answer struct {
	JSON  json.RawMessage `json:"json,omitempty"`
	Error string          `json:"error,omitempty"`
}

func read(document string) (result answer) {
	defer func() {
		if trouble := recover(); trouble != nil {
			result = answer{Error: fmt.Sprint("panic: ", trouble)}
		}
	}()
	data, err := yaml.YAMLToJSON([]byte(document))
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{JSON: data}
}

func main() {
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		var document string
		if err := in.Decode(&document); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			panic(err)
		}
		if err := json.NewEncoder(out).Encode(read(document)); err != nil {
			panic(err)
		}
	}
}
