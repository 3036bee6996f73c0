// Copyright (c) 2026, nodebootstrap.eks contributors
// GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"go/ast"
	"strings"
)

// flag is what a call that registers one tells about it.
type flag struct {
	Kind       string `json:"kind"`            // BoolVar, StringSliceVar, …; for Var and VarP the function or type behind it
	Field      string `json:"field,omitempty"` // Go path below the configuration (c.) it is bound to
	Deprecated bool   `json:"deprecated,omitempty"`
}

// flags collects every flag that the Go files in the folders register under a literal name.
func flags(dirs []string) (map[string]*flag, error) {
	found := map[string]*flag{}
	deprecated := []string{}
	for _, dir := range dirs {
		parsed, err := parsePackage(dir)
		if err != nil {
			return nil, err
		}
		for _, one := range parsed {
			ast.Inspect(one, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				name := called(call)
				switch {
				case (strings.HasSuffix(name, "Var") || strings.HasSuffix(name, "VarP")) && len(call.Args) >= 3:
					if text, ok := literal(call.Args[1]); ok {
						found[text] = &flag{Kind: kind(name, call.Args[0]), Field: bound(call.Args[0])}
					}
				case name == "MarkDeprecated" && len(call.Args) == 2:
					if text, ok := literal(call.Args[0]); ok {
						deprecated = append(deprecated, text)
					}
				case (name == "register" || name == "registerDeprecated") && len(call.Args) >= 3:
					if text, ok := literal(call.Args[2]); ok {
						found[strings.ReplaceAll(text, "_", "-")] = &flag{Kind: "StringVar", Deprecated: name == "registerDeprecated"}
					}
				}
				return true
			})
		}
	}
	for _, name := range deprecated {
		if flag, ok := found[name]; ok {
			flag.Deprecated = true
		}
	}
	return found, nil
}

// kind names the constructor or the type of a flag.Value, which decides whether a flag may be repeated.
func kind(method string, target ast.Expr) string {
	if method != "Var" && method != "VarP" {
		return method
	}
	switch value := target.(type) {
	case *ast.CallExpr:
		return called(value)
	case *ast.UnaryExpr:
		if composite, ok := value.X.(*ast.CompositeLit); ok {
			switch of := composite.Type.(type) {
			case *ast.SelectorExpr:
				return of.Sel.Name
			case *ast.Ident:
				return of.Name
			}
		}
	}
	return method
}

// bound finds the first selector that starts at the configuration, whatever is wrapped around it.
func bound(target ast.Expr) string {
	result := ""
	ast.Inspect(target, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok || result != "" {
			return result == ""
		}
		parts := []string{}
		var current ast.Expr = selector
		for {
			if inner, ok := current.(*ast.SelectorExpr); ok {
				parts = append([]string{inner.Sel.Name}, parts...)
				current = inner.X
				continue
			}
			break
		}
		if root, ok := current.(*ast.Ident); ok && root.Name == "c" {
			result = strings.Join(parts, ".")
			return false
		}
		return true
	})
	return result
}
