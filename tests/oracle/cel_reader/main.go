// Copyright (c) 2026, nodebootstrap.eks contributors
// GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// cel_reader reads {"expression": "…", "variables": {"…": 1}} from stdin, and answers each with the whole number that the Common
// Expression Language and its own conversion make of it: {"number": …} or {"error": "…"}.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

type question struct {
	Expression string           `json:"expression"`
	Variables  map[string]int64 `json:"variables"`
}

type answer struct {
	Number *int64 `json:"number,omitempty"`
	Error  string `json:"error,omitempty"`
}

func evaluate(asked question) (result answer) {
	defer func() {
		if trouble := recover(); trouble != nil {
			result = answer{Error: fmt.Sprint("panic: ", trouble)}
		}
	}()
	var options []cel.EnvOption
	values := map[string]any{}
	for name, value := range asked.Variables {
		options = append(options, cel.Variable(name, cel.IntType))
		values[name] = value
	}
	environment, err := cel.NewEnv(options...)
	if err != nil {
		panic(err)
	}
	checked, issues := environment.Compile(asked.Expression)
	if issues.Err() != nil {
		return answer{Error: issues.Err().Error()}
	}
	program, err := environment.Program(checked)
	if err != nil {
		return answer{Error: err.Error()}
	}
	found, _, err := program.Eval(values)
	if err != nil {
		return answer{Error: err.Error()}
	}
	number, whole := found.ConvertToType(cel.IntType).(types.Int)
	if !whole {
		return answer{Error: fmt.Sprint("no number: ", found.Value())}
	}
	plain := int64(number)
	return answer{Number: &plain}
}

func main() {
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		var asked question
		if err := in.Decode(&asked); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			panic(err)
		}
		if err := json.NewEncoder(out).Encode(evaluate(asked)); err != nil {
			panic(err)
		}
	}
}
