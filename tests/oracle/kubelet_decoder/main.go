// Copyright (c) 2026, nodebootstrap.eks contributors
// GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// kubelet_decoder reads lines of JSON from stdin, {"minor": 31, "document": "…"}, and answers each with a line: an empty string
// where that minor's types take the document, and otherwise the complaint.
//
// It decodes as kubelet's strict decoder does: what does not begin as JSON is made JSON, without repeated keys; then
// sigs.k8s.io/json reads it, case-sensitive and without unknown fields. The types are those of k8s.io/kubelet of each minor; minors.go, which names them, is written by
// tests/oracle/kubelet_decoder.py. Values are not validated here, as kubelet's decoder does not.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

type question struct {
	Minor    int    `json:"minor"`
	Document string `json:"document"`
}

type head struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

func complaint(asked question) error {
	data := []byte(asked.Document)
	if !strings.HasPrefix(strings.TrimSpace(asked.Document), "{") {
		var err error
		if data, err = yaml.YAMLToJSONStrict(data); err != nil {
			return err
		}
	}
	var found head
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &found); err != nil {
		return err
	}
	if found.APIVersion != "kubelet.config.k8s.io/v1beta1" || found.Kind != "KubeletConfiguration" {
		return fmt.Errorf("no kind %q in %q", found.Kind, found.APIVersion)
	}
	strict, err := kjson.UnmarshalStrict(data, minors[asked.Minor]())
	return errors.Join(append(strict, err)...)
}

func main() {
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), bufio.NewWriter(os.Stdout)
	defer out.Flush()
	answers := json.NewEncoder(out)
	for {
		var asked question
		if err := in.Decode(&asked); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			panic(err)
		}
		answer := ""
		if err := complaint(asked); err != nil {
			answer = err.Error()
		}
		if err := answers.Encode(answer); err != nil {
			panic(err)
		}
	}
}
