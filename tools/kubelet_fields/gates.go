// Copyright (c) 2026, nodebootstrap.eks contributors
// GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// gate is the state of one feature gate in one version of kubelet.
type gate struct {
	Default bool     `json:"default"`
	Locked  bool     `json:"locked"`
	Stage   string   `json:"stage"`
	Needs   []string `json:"needs,omitempty"` // gates that must be on where this one is
}

type gateFile struct {
	file      *ast.File
	path      string
	onlyNames bool
}

// gates reads the maps of feature gates in packages, given as IMPORT_PATH=DIR, for the binary of a minor version. Of packages given
// as names:IMPORT_PATH=DIR it may leave out gates whose names other packages hold.
func gates(minor int, packages map[string]string) (map[string]*gate, error) {
	names := map[string]map[string]string{}
	files := []gateFile{}
	for path, dir := range packages {
		path, onlyNames := strings.CutPrefix(path, "names:")
		names[path] = map[string]string{}
		parsed, err := parsePackage(dir)
		if err != nil {
			return nil, err
		}
		for _, file := range parsed {
			files = append(files, gateFile{file, path, onlyNames})
			constants(file, names[path])
		}
	}
	found, needs := map[string]*gate{}, map[string][]string{}
	var failed error
	for _, one := range files {
		ast.Inspect(one.file, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			typed, ok := literal.Type.(*ast.MapType)
			if !ok || last(typed.Key) != "Feature" {
				return true
			}
			for _, element := range literal.Elts {
				pair, ok := element.(*ast.KeyValueExpr)
				if !ok {
					continue
				}
				name, err := gateName(pair.Key, one, names)
				if err != nil && one.onlyNames {
					continue
				} else if err != nil {
					failed = err
					return false
				}
				value, ok := pair.Value.(*ast.CompositeLit)
				if !ok {
					continue
				}
				if list, ok := typed.Value.(*ast.ArrayType); ok && last(list.Elt) == "Feature" {
					for _, item := range value.Elts {
						needed, err := gateName(item, one, names)
						if err != nil {
							failed = err
							return false
						}
						needs[name] = append(needs[name], needed)
					}
					continue
				}
				if state := gateState(value, minor, names[one.path]); state != nil {
					found[name] = state
				}
			}
			return false
		})
	}
	for name, needed := range needs {
		if state, ok := found[name]; ok {
			state.Needs = needed
		}
	}
	return found, failed
}

// constants adds the constants with a literal text to names.
func constants(file *ast.File, names map[string]string) {
	for _, spec := range specs(file, token.CONST) {
		constant := spec.(*ast.ValueSpec)
		for index, name := range constant.Names {
			if index >= len(constant.Values) {
				continue
			}
			value := constant.Values[index]
			if conversion, ok := value.(*ast.CallExpr); ok && len(conversion.Args) == 1 {
				value = conversion.Args[0]
			}
			if last(value) == "true" {
				names[name.Name] = "true"
			}
			if text, ok := literal(value); ok {
				names[name.Name] = text
			}
		}
	}
}

func gateName(key ast.Expr, from gateFile, names map[string]map[string]string) (string, error) {
	path := from.path
	if conversion, ok := key.(*ast.CallExpr); ok {
		key = conversion.Args[0]
	}
	if selector, ok := key.(*ast.SelectorExpr); ok {
		imported, err := importPath(from.file, selector.X.(*ast.Ident).Name)
		if err != nil {
			return "", err
		}
		path = imported
	}
	name, ok := names[path][last(key)]
	if !ok {
		return "", fmt.Errorf("package %s has no constant %s", path, last(key))
	}
	return name, nil
}

// gateState is the state at a minor: of several versioned states, the newest that is not newer than it.
func gateState(value *ast.CompositeLit, minor int, names map[string]string) *gate {
	var result *gate
	if len(value.Elts) == 0 {
		return nil
	}
	if _, ok := value.Elts[0].(*ast.KeyValueExpr); ok {
		state, _ := oneState(value, names)
		return state
	}
	for _, element := range value.Elts {
		if state, since := oneState(element.(*ast.CompositeLit), names); since <= minor {
			result = state
		}
	}
	return result
}

func oneState(value *ast.CompositeLit, names map[string]string) (*gate, int) {
	state, since := &gate{Stage: "ga"}, 0
	for _, element := range value.Elts {
		pair := element.(*ast.KeyValueExpr)
		switch last(pair.Key) {
		case "Default":
			state.Default = last(pair.Value) == "true" || names[last(pair.Value)] == "true"
		case "LockToDefault":
			state.Locked = last(pair.Value) == "true"
		case "PreRelease":
			state.Stage = strings.ToLower(last(pair.Value))
		case "Version":
			if text, ok := literal(pair.Value.(*ast.CallExpr).Args[0]); ok {
				_, number, _ := strings.Cut(text, ".")
				since, _ = strconv.Atoi(number)
			}
		}
	}
	return state, since
}
