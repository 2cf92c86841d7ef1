//! Which paths may be used, and for what.
//!
//! Rules are about real paths: where a path leads once its links are followed. `vfs` asks them, so
//! that they hold for whatever reaches files: `workspace.fs`, tools, and later code in runs.
//!
//! Always true:
//! - Each layer only narrows what the one before allows.
//! - What a rule says of a directory it says of everything below it.
//!
//! Not here: how a path becomes a real one (`vfs::resolve`).

use std::sync::Arc;

use crate::error::{Code, FsError, Result};
use crate::glob::Glob;
use crate::path::WorkspacePath;

/// What may be done with a path. Each includes the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Nothing; it is not even shown.
    None,
    /// It may be read.
    Read,
    /// It may be read and changed.
    ReadWrite,
}

impl Access {
    /// By the name that users write.
    pub fn from_name(name: &str) -> Option<Access> {
        match name {
            "none" => Some(Access::None),
            "read" => Some(Access::Read),
            "read-write" => Some(Access::ReadWrite),
            _ => None,
        }
    }
}

/// One rule: what may be done with the paths that a glob matches.
#[derive(Debug, Clone)]
pub struct Rule {
    glob: Glob,
    access: Access,
}

impl Rule {
    /// A rule. The glob is about paths from `root`, the layer's; it may also begin with that, and a `/` at
    /// its start or end means nothing.
    ///
    /// `EINVAL` for one that could match nothing, or is likely meant otherwise: a rule that protects
    /// nothing must not look like one.
    pub fn new(glob: &str, access: Access, root: Option<&WorkspacePath>) -> Result<Rule> {
        let below_root = root.and_then(|root| {
            let rest = glob.strip_prefix(root.as_str())?;
            (rest.is_empty() || rest.starts_with('/')).then_some(rest)
        });
        let relative = below_root.unwrap_or(glob);
        let relative = relative.strip_prefix("./").unwrap_or(relative).trim_matches('/');
        let relative = if relative == "." { "" } else { relative };
        if relative.split('/').any(|segment| matches!(segment, "." | "..")) {
            return Err(FsError::invalid(format!(
                "the rule path {glob:?} matches nothing: no path has . or .. in it"
            )));
        }
        if relative.starts_with('!') || relative.trim() != relative {
            return Err(FsError::invalid(format!(
                "the rule path {glob:?} begins with ! or has a blank at an end; there is no negation, the last rule that matches counts"
            )));
        }
        Ok(Rule { glob: Glob::new(relative)?, access })
    }

    /// Whether it is about this path, or about a directory above it.
    fn concerns(&self, relative: &str) -> bool {
        let above = relative.match_indices('/').map(|(end, _)| &relative[..end]);
        above.chain([relative]).any(|path| self.glob.is_match(path))
    }
}

/// Rules that were given together: those of a workspace, or of a set of tools.
#[derive(Debug, Clone, Default)]
pub struct Layer {
    /// A directory that nothing may lead out of, and from which the globs start; if none, `/`.
    pub root: Option<WorkspacePath>,
    /// The last one that concerns a path counts; if none does, it may be read and changed.
    pub rules: Vec<Rule>,
}

/// All layers that hold somewhere.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    layers: Vec<Layer>,
}

impl Rules {
    /// One layer more, within those that hold already.
    pub fn within(outer: Option<&Arc<Rules>>, layer: Layer) -> Option<Arc<Rules>> {
        if layer.root.is_none() && layer.rules.is_empty() {
            return outer.cloned();
        }
        let mut rules = outer.map(|rules| Rules::clone(rules)).unwrap_or_default();
        rules.layers.push(layer);
        Some(Arc::new(rules))
    }

    /// The directories of the layers that have one, as they were given.
    pub fn roots(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.layers.iter().filter_map(|layer| layer.root.as_ref())
    }

    /// Whether some paths below a directory may be less free than the directory.
    pub fn may_differ_below(&self) -> bool {
        self.layers.iter().any(|layer| !layer.rules.is_empty())
    }

    /// Fails unless a real path may be used like this. `roots` are the real paths of [`Rules::roots`].
    pub fn check(&self, real: &str, roots: &[String], wanted: Access) -> Result<()> {
        let mut roots = roots.iter();
        for layer in &self.layers {
            let relative = match &layer.root {
                Some(given) => {
                    let root = roots.next().map_or(given.as_str(), String::as_str);
                    below(root, real).ok_or_else(|| {
                        FsError::with_detail(
                            Code::Acces,
                            format!("the path leads out of {given}; stay inside it"),
                        )
                    })?
                }
                None => real.trim_start_matches('/'),
            };
            let rule = layer.rules.iter().rev().find(|rule| rule.concerns(relative));
            match rule.map_or(Access::ReadWrite, |rule| rule.access) {
                granted if granted >= wanted => {}
                Access::None => {
                    return Err(FsError::with_detail(Code::Acces, "a path rule denies access to this path"));
                }
                _ => {
                    return Err(FsError::with_detail(
                        Code::Rofs,
                        "a path rule allows this path to be read only",
                    ));
                }
            }
        }
        Ok(())
    }
}

/// A real path as seen from a directory; none if it is not inside.
fn below<'p>(root: &str, real: &'p str) -> Option<&'p str> {
    if root == "/" {
        return Some(real.trim_start_matches('/'));
    }
    let rest = real.strip_prefix(root)?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(root: Option<&str>, rules: &[(&str, Access)]) -> Layer {
        Layer {
            root: root.map(|root| WorkspacePath::parse(root).unwrap()),
            rules: rules.iter().map(|(glob, access)| Rule::new(glob, *access, None).unwrap()).collect(),
        }
    }

    #[track_caller]
    fn check(layers: &[Layer], real: &str, granted: Access) {
        let rules = layers.iter().fold(None, |outer, layer| Rules::within(outer.as_ref(), layer.clone()));
        let rules = rules.unwrap_or_default();
        let roots: Vec<String> = rules.roots().map(ToString::to_string).collect();
        for wanted in [Access::Read, Access::ReadWrite] {
            assert_eq!(rules.check(real, &roots, wanted).is_ok(), granted >= wanted, "{real} {wanted:?}");
        }
    }

    #[test]
    fn the_last_rule_that_concerns_a_path_counts() {
        let rules = [layer(
            None,
            &[("**", Access::Read), ("src/**", Access::ReadWrite), ("/src/secret/", Access::None)],
        )];
        check(&rules, "/", Access::Read);
        check(&rules, "/a", Access::Read);
        check(&rules, "/src", Access::Read);
        check(&rules, "/src/a/b", Access::ReadWrite);
        check(&rules, "/src/secret", Access::None);
        check(&rules, "/src/secret/deep/file", Access::None);
        check(&rules, "/src/secrets", Access::ReadWrite);
    }

    #[test]
    fn globs_that_could_protect_nothing_are_refused() {
        let root = WorkspacePath::parse("/data").unwrap();
        for glob in ["../a", "a/../b", "a/./b", "!a", " a", "a ", "./../a"] {
            let rule = Rule::new(glob, Access::None, Some(&root));
            assert_eq!(rule.map(|_| ()).map_err(|error| error.code()), Err(Code::Inval), "{glob}");
        }
        for (glob, concerned) in [
            ("a", "a/b"),
            ("/a", "a"),
            ("./a", "a"),
            ("/data/a", "a"),
            ("/data", "a"),
            (".", "a"),
            ("/", "a"),
            ("/database", "database"),
        ] {
            assert!(Rule::new(glob, Access::None, Some(&root)).unwrap().concerns(concerned), "{glob}");
        }
    }

    #[test]
    fn a_layer_narrows_those_before() {
        let rules = [
            layer(None, &[("data/a", Access::Read)]),
            layer(Some("/data"), &[("a/b", Access::ReadWrite), ("c", Access::None)]),
        ];
        check(&rules, "/data/a/b", Access::Read);
        check(&rules, "/data/c/d", Access::None);
        check(&rules, "/data/e", Access::ReadWrite);
        check(&rules, "/data", Access::ReadWrite);
        check(&rules, "/database", Access::None);
        check(&rules, "/", Access::None);
    }
}
