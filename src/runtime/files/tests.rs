//! File calls over a workspace in memory.

use std::sync::{Arc, mpsc};

use carrel_wire::Value;

use super::open::{O_APPEND, O_CREAT, O_EXCL, O_RDWR, O_TRUNC, O_WRONLY};
use super::*;
use crate::limits::CHUNK_BYTES;
use crate::rules::Rule;
use crate::store::{Config, Durability, Location, Store};

const CALL_BYTES_MAX: usize = 4 * 1024 * 1024;

fn store() -> Store {
    store_at(Location::Memory)
}

fn store_at(location: Location) -> Store {
    let durability = Durability::Full;
    let config = Config { location, durability, quota_bytes: None, rules: None, is_audited: false };
    Store::open(config).unwrap()
}

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::parse(text).unwrap()
}

fn run_of(store: &Store, root: &str, access: Access, rules: Vec<Rule>) -> Arc<Files> {
    let scope = Scope::workspace(store.clone()).narrowed(Layer { root: None, rules });
    Arc::new(Files::new(
        scope,
        path(root),
        path(root),
        access,
        CALL_BYTES_MAX,
        Arc::new(|| 1_700_000_000_000.5),
    ))
}

fn run(store: &Store) -> Arc<Files> {
    run_of(store, "/workspace", Access::ReadWrite, Vec::new())
}

fn t(text: &str) -> Value {
    Value::text(text)
}

fn n(number: impl Into<f64>) -> Value {
    Value::Number(number.into())
}

fn b(bytes: &[u8]) -> Value {
    Value::Bytes(bytes.to_vec())
}

#[track_caller]
fn outcome(run: &Arc<Files>, name: &str, args: Vec<Value>) -> Result<Value, Value> {
    let (send, receive) = mpsc::channel();
    run.call(name, args, move |outcome| send.send(outcome).unwrap());
    receive.recv().unwrap()
}

#[track_caller]
fn ok(run: &Arc<Files>, name: &str, args: Vec<Value>) -> Value {
    outcome(run, name, args).unwrap()
}

/// The call fails like `ENOENT open 'a' -> 'b'`.
#[track_caller]
fn fails(run: &Arc<Files>, name: &str, args: Vec<Value>, want: &str) {
    let Err(Value::List(fields)) = outcome(run, name, args) else { panic!("{name} did not fail") };
    let text = |at: usize| fields[at].as_text().map(str::to_owned);
    let mut got = format!("{} {}", text(0).unwrap(), text(1).unwrap());
    if let Some(path) = text(2) {
        got.push_str(&format!(" '{path}'"));
    }
    if let Some(dest) = text(3) {
        got.push_str(&format!(" -> '{dest}'"));
    }
    assert_eq!(got.trim_end(), want);
    assert!(fields.len() == 6 && fields[5].as_number().is_some());
}

fn write(run: &Arc<Files>, path: &str, bytes: &[u8]) {
    ok(run, "writeFile", vec![t(path), b(bytes), n(O_WRONLY | O_CREAT | O_TRUNC), n(0o666)]);
}

fn read(run: &Arc<Files>, path: &str) -> Vec<u8> {
    ok(run, "readFile", vec![t(path)]).as_bytes().unwrap().to_vec()
}

#[track_caller]
fn open(run: &Arc<Files>, path: &str, flags: u32) -> f64 {
    ok(run, "open", vec![t(path), n(flags), n(0o666)]).as_number().unwrap()
}

#[track_caller]
fn pread(run: &Arc<Files>, fd: f64, length: u32, at: Option<u32>) -> Vec<u8> {
    let at = at.map_or(Value::Null, n);
    ok(run, "read", vec![n(fd), n(length), at]).as_bytes().unwrap().to_vec()
}

#[track_caller]
fn pwrite(run: &Arc<Files>, fd: f64, bytes: &[u8], at: Option<u32>) {
    let written = ok(run, "write", vec![n(fd), b(bytes), at.map_or(Value::Null, n)]);
    assert_eq!(written, n(bytes.len() as f64));
}

fn numbers(value: &Value) -> Vec<f64> {
    let Value::List(items) = value else { panic!("{value:?} is no list") };
    items.iter().map(|item| item.as_number().unwrap()).collect()
}

fn stat(run: &Arc<Files>, name: &str, path: &str) -> Vec<f64> {
    numbers(&ok(run, name, vec![t(path)]))
}

#[track_caller]
fn assert_sound(store: &Store) {
    let report = Scope::workspace(store.clone()).read_now(|tx| tx.check()).unwrap();
    assert_eq!(report.problems, []);
}

#[test]
fn files_are_written_and_read_whole() {
    let store = store();
    let run = run(&store);
    write(&run, "a.txt", b"one");
    assert_eq!(read(&run, "/workspace/a.txt"), b"one");
    assert_eq!(stat(&run, "stat", "a.txt")[1], f64::from(0o100_644));
    ok(&run, "writeFile", vec![t("a.txt"), b(b"+two"), n(O_WRONLY | O_CREAT | O_APPEND), n(0o666)]);
    assert_eq!(read(&run, "a.txt"), b"one+two");
    ok(&run, "writeFile", vec![t("a.txt"), b(b"ONE"), n(O_RDWR), n(0o666)]);
    assert_eq!(read(&run, "a.txt"), b"ONE+two");
    let exclusive = n(O_WRONLY | O_CREAT | O_TRUNC | O_EXCL);
    fails(&run, "writeFile", vec![t("a.txt"), b(b""), exclusive.clone(), n(0o666)], "EEXIST open 'a.txt'");
    ok(&run, "writeFile", vec![t("b"), b(b""), exclusive, n(0o600)]);
    assert_eq!(stat(&run, "stat", "b")[1], f64::from(0o100_600));
    let large: Vec<u8> = (0..3 * CHUNK_BYTES + 7).map(|at| (at / 1000) as u8).collect();
    write(&run, "large", &large);
    assert_eq!(read(&run, "large"), large);
    write(&run, "large", b"");
    assert_eq!(read(&run, "large"), b"");
    fails(&run, "readFile", vec![t("none")], "ENOENT open 'none'");
    fails(&run, "readFile", vec![t(".")], "EISDIR read");
    fails(&run, "readFile", vec![t("")], "ENOENT open ''");
    fails(&run, "writeFile", vec![t("no/a"), b(b""), n(O_WRONLY | O_CREAT), n(0o666)], "ENOENT open 'no/a'");
    fails(&run, "writeFile", vec![t("new/"), b(b""), n(O_WRONLY | O_CREAT), n(0o666)], "EISDIR open 'new/'");
    assert_sound(&store);
}

#[test]
fn what_does_not_fit_an_answer_is_left_to_descriptors() {
    let store = store();
    let run = run(&store);
    write(&run, "f", &vec![7; CALL_BYTES_MAX - 100]);
    let fd = open(&run, "f", O_WRONLY | O_APPEND);
    pwrite(&run, fd, &[8; 200], None);
    assert_eq!(ok(&run, "readFile", vec![t("f")]), Value::Null);
    let fd = open(&run, "f", 0);
    let got = ok(&run, "read", vec![n(fd), n(u32::MAX), Value::Null]);
    assert!(got.size_bytes() <= CALL_BYTES_MAX);
    let first = got.as_bytes().unwrap().len();
    let rest = pread(&run, fd, u32::MAX, None);
    assert_eq!(first + rest.len(), CALL_BYTES_MAX + 100);
    assert!(rest.ends_with(&[7, 8]) || rest.ends_with(&[8, 8]));
    fails(
        &run,
        "writeFile",
        vec![t("g"), b(&vec![0; CALL_BYTES_MAX + 1]), n(O_CREAT | O_WRONLY), n(0o666)],
        "ELIMIT open 'g'",
    );
}

#[test]
fn descriptors_have_a_place_and_flags() {
    let store = store();
    let run = run(&store);
    fails(&run, "open", vec![t("f"), n(0), n(0)], "ENOENT open 'f'");
    let fd = open(&run, "f", O_RDWR | O_CREAT | O_TRUNC);
    assert_eq!(fd, 3.0);
    pwrite(&run, fd, b"hello ", None);
    pwrite(&run, fd, b"world", None);
    assert_eq!(pread(&run, fd, 99, None), b"");
    assert_eq!(pread(&run, fd, 5, Some(0)), b"hello");
    pwrite(&run, fd, b"J", Some(0));
    let other = open(&run, "f", 0);
    assert_eq!(other, 4.0);
    assert_eq!(pread(&run, other, 3, None), b"Jel");
    assert_eq!(pread(&run, other, 3, None), b"lo ");
    fails(&run, "write", vec![n(other), b(b"x"), Value::Null], "EBADF write");
    ok(&run, "close", vec![n(3)]);
    fails(&run, "close", vec![n(3)], "EBADF close");
    assert_eq!(open(&run, "f", O_WRONLY | O_APPEND), 3.0);
    pwrite(&run, 3.0, b"!", Some(0));
    fails(&run, "read", vec![n(3), n(1), n(0)], "EBADF read");
    assert_eq!(pread(&run, other, 99, None), b"world!");
    assert_eq!(numbers(&ok(&run, "fstat", vec![n(other)]))[8], 12.0);
    ok(&run, "ftruncate", vec![n(3), n(2)]);
    assert_eq!(read(&run, "f"), b"Je");
    ok(&run, "ftruncate", vec![n(3), n(4)]);
    assert_eq!(read(&run, "f"), b"Je\0\0");
    fails(&run, "ftruncate", vec![n(other), n(0)], "EINVAL ftruncate");
    fails(&run, "ftruncate", vec![n(99), n(0)], "EBADF ftruncate");
    fails(&run, "ftruncate", vec![n(3), n(1e14)], "EFBIG ftruncate");
    let directory = open(&run, ".", 0);
    fails(&run, "read", vec![n(directory), n(1), Value::Null], "EISDIR read");
    fails(&run, "open", vec![t("."), n(O_WRONLY), n(0)], "EISDIR open '.'");
    fails(&run, "open", vec![t("f"), n(0o200_000), n(0)], "ENOTDIR open 'f'");
    fails(&run, "open", vec![t("f/"), n(0), n(0)], "ENOTDIR open 'f/'");
    for call in ["fsync", "fdatasync"] {
        ok(&run, call, vec![n(3)]);
        fails(&run, call, vec![n(77)], &format!("EBADF {call}"));
    }
    assert_sound(&store);
}

#[test]
fn a_descriptor_outlives_the_name() {
    let store = store();
    let (run, outside) = (run(&store), run_of(&store, "/", Access::ReadWrite, Vec::new()));
    let large: Vec<u8> = (0..2 * CHUNK_BYTES + 5).map(|at| (at % 251) as u8).collect();
    for (name, contents) in [("small", &b"contents"[..]), ("large", &large)] {
        for remover in [&run, &outside] {
            write(&run, name, contents);
            let fd = open(&run, name, O_RDWR);
            ok(remover, "unlink", vec![t(&format!("/workspace/{name}"))]);
            fails(&run, "stat", vec![t(name)], &format!("ENOENT stat '{name}'"));
            let end = contents.len() as u32;
            assert_eq!(pread(&run, fd, 9, Some(end - 5)), contents[contents.len() - 5..]);
            let facts = numbers(&ok(&run, "fstat", vec![n(fd)]));
            assert_eq!((facts[2], facts[8]), (0.0, f64::from(end)));
            pwrite(&run, fd, b"more", Some(end));
            pwrite(&run, fd, b"C", Some(0));
            assert_eq!(pread(&run, fd, 9, Some(end - 1))[1..], *b"more");
            assert_eq!(pread(&run, fd, 1, Some(0)), b"C");
            ok(&run, "ftruncate", vec![n(fd), n(3)]);
            assert_eq!(pread(&run, fd, 9, Some(0))[1..], contents[1..3]);
            ok(&run, "fchmod", vec![n(fd), n(0o600)]);
            assert_eq!(numbers(&ok(&run, "fstat", vec![n(fd)]))[1], f64::from(0o100_600));
            // The name can be another file's, and the descriptor does not mind.
            write(&run, name, b"new");
            assert_eq!(pread(&run, fd, 1, Some(0)), b"C");
            ok(&run, "close", vec![n(fd)]);
        }
    }
    assert_sound(&store);
}

#[test]
fn what_was_written_before_the_removal_stays_readable() {
    let store = store();
    let run = run(&store);
    for length in [10, CHUNK_BYTES, 2 * CHUNK_BYTES + 1] {
        for removal in ["unlink", "rename", "rm"] {
            ok(&run, "mkdir", vec![t("d"), n(0o777), Value::Bool(false)]);
            let fd = open(&run, "d/f", O_RDWR | O_CREAT);
            pwrite(&run, fd, &vec![5; length], None);
            match removal {
                "unlink" => drop(ok(&run, "unlink", vec![t("d/f")])),
                "rename" => {
                    write(&run, "d/g", b"");
                    ok(&run, "rename", vec![t("d/g"), t("d/f")]);
                }
                _ => drop(ok(&run, "rm", vec![t("d"), Value::Bool(true)])),
            }
            assert_eq!(pread(&run, fd, 9, Some(length as u32 - 1)), [5], "{removal} {length}");
            ok(&run, "close", vec![n(fd)]);
            ok(&run, "rm", vec![t("d"), Value::Bool(true)]);
        }
    }
    assert_sound(&store);
}

#[test]
fn a_removal_that_fails_keeps_nothing() {
    let store = store();
    let run = run(&store);
    ok(&run, "mkdir", vec![t("d"), n(0o777), Value::Bool(false)]);
    let fd = open(&run, "f", O_RDWR | O_CREAT);
    pwrite(&run, fd, &vec![1; 2 * CHUNK_BYTES], None);
    fails(&run, "rename", vec![t("d"), t("f")], "ENOTDIR rename 'd' -> 'f'");
    pwrite(&run, fd, b"2", Some(0));
    assert_eq!(pread(&run, fd, 2, Some(0)), [b'2', 1]);
    assert_sound(&store);
}

#[test]
fn descriptors_and_what_they_keep_are_bounded() {
    let store = store();
    let run = run(&store);
    write(&run, "f", b"");
    for _ in 0..descriptor::DESCRIPTORS_MAX {
        open(&run, "f", 0);
    }
    fails(&run, "open", vec![t("f"), n(0), n(0)], "EMFILE open 'f'");
    ok(&run, "close", vec![n(500)]);
    assert_eq!(open(&run, "f", 0), 500.0);
    let other = self::run(&store);
    write(&other, "chunk", &vec![1; CHUNK_BYTES]);
    let fits = descriptor::KEPT_BYTES_MAX / CHUNK_BYTES;
    for _ in 0..fits {
        open(&other, "chunk", 0);
    }
    fails(&other, "open", vec![t("chunk"), n(0), n(0)], "ELIMIT open 'chunk'");
    ok(&other, "close", vec![n(3)]);
    open(&other, "chunk", 0);
}

#[test]
fn on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::File { path: folder.path().join("w.db"), readonly: false };
    let large: Vec<u8> = (0..3 * CHUNK_BYTES).map(|at| (at % 249) as u8).collect();
    {
        let store = store_at(location.clone());
        let run = run(&store);
        let fd = open(&run, "f", O_RDWR | O_CREAT);
        for piece in large.chunks(100_000) {
            pwrite(&run, fd, piece, None);
        }
        ok(&run, "fsync", vec![n(fd)]);
        let reader = open(&run, "f", 0);
        pwrite(&run, fd, b"changed", Some(CHUNK_BYTES as u32));
        assert_eq!(pread(&run, reader, 7, Some(CHUNK_BYTES as u32)), b"changed");
        ok(&run, "close", vec![n(fd)]);
        ok(&run, "unlink", vec![t("f")]);
        write(&run, "g", &large);
        assert_eq!(pread(&run, reader, 7, Some(CHUNK_BYTES as u32)), b"changed");
        assert_eq!(pread(&run, reader, 9, Some(2 * CHUNK_BYTES as u32)), large[2 * CHUNK_BYTES..][..9]);
        ok(&run, "close", vec![n(reader)]);
        assert_sound(&store);
        let (send, receive) = mpsc::channel();
        store.close(move || send.send(()).unwrap());
        receive.recv().unwrap();
    }
    let store = store_at(location);
    assert!(read(&run(&store), "g") == large);
    assert_eq!(ok(&run(&store), "exists", vec![t("f")]), Value::Bool(false));
}

#[test]
fn names_behave_like_those_of_linux() {
    let store = store();
    let run = run(&store);
    ok(&run, "mkdir", vec![t("d"), n(0o777), Value::Bool(false)]);
    assert_eq!(stat(&run, "stat", "d")[1], f64::from(0o040_755));
    fails(&run, "mkdir", vec![t("d"), n(0o777), Value::Bool(false)], "EEXIST mkdir 'd'");
    fails(&run, "mkdir", vec![t("x/y"), n(0o777), Value::Bool(false)], "ENOENT mkdir 'x/y'");
    assert_eq!(ok(&run, "mkdir", vec![t("x/y/"), n(0o777), Value::Bool(true)]), t("x"));
    assert_eq!(ok(&run, "mkdir", vec![t("x/y"), n(0o777), Value::Bool(true)]), Value::Null);
    write(&run, "d/f", b"f");
    ok(&run, "symlink", vec![t("d"), t("l")]);
    fails(&run, "symlink", vec![t("d"), t("l")], "EEXIST symlink 'd' -> 'l'");
    let names = ok(&run, "readdir", vec![t(".")]);
    assert_eq!(
        names,
        Value::List(vec![Value::List(vec![t("d"), t("l"), t("x")]), Value::List(vec![n(2), n(3), n(2)])])
    );
    fails(&run, "readdir", vec![t("d/f")], "ENOTDIR scandir 'd/f'");
    assert_eq!(ok(&run, "readlink", vec![t("l")]), t("d"));
    fails(&run, "readlink", vec![t("d")], "EINVAL readlink 'd'");
    assert_eq!(ok(&run, "realpath", vec![t("l/f")]), t("/workspace/d/f"));
    assert_eq!(stat(&run, "lstat", "l")[1], f64::from(0o120_777));
    assert_eq!(stat(&run, "lstat", "l/")[1], f64::from(0o040_755));
    fails(&run, "lstat", vec![t("d/f/")], "ENOTDIR lstat 'd/f/'");
    // `..` is the real parent of where a link leads.
    ok(&run, "symlink", vec![t("/workspace/x/y"), t("d/deep")]);
    write(&run, "x/mark", b"m");
    assert_eq!(read(&run, "d/deep/../mark"), b"m");
    fails(&run, "readFile", vec![t("nowhere/../d/f")], "ENOENT open 'nowhere/../d/f'");
    fails(&run, "rmdir", vec![t("d")], "ENOTEMPTY rmdir 'd'");
    fails(&run, "rmdir", vec![t("l")], "ENOTDIR rmdir 'l'");
    fails(&run, "rmdir", vec![t("l/")], "ENOTDIR rmdir 'l/'");
    fails(&run, "unlink", vec![t("d")], "EISDIR unlink 'd'");
    fails(&run, "unlink", vec![t("none")], "ENOENT unlink 'none'");
    fails(&run, "unlink", vec![t("d/f/")], "ENOTDIR unlink 'd/f/'");
    fails(&run, "rename", vec![t("none"), t("a")], "ENOENT rename 'none' -> 'a'");
    fails(&run, "rename", vec![t("d/f"), t("x")], "EISDIR rename 'd/f' -> 'x'");
    fails(&run, "rename", vec![t("d"), t("d/in")], "EINVAL rename 'd' -> 'd/in'");
    ok(&run, "link", vec![t("d/f"), t("hard")]);
    assert_eq!(stat(&run, "stat", "hard")[2], 2.0);
    fails(&run, "link", vec![t("d"), t("hard2")], "EPERM link 'd' -> 'hard2'");
    ok(&run, "copyFile", vec![t("hard"), t("copy"), n(1)]);
    fails(&run, "copyFile", vec![t("hard"), t("copy"), n(1)], "EEXIST copyfile 'hard' -> 'copy'");
    assert_eq!(read(&run, "copy"), b"f");
    fails(&run, "rm", vec![t("d"), Value::Bool(false)], "EISDIR rm 'd'");
    ok(&run, "rm", vec![t("d"), Value::Bool(true)]);
    ok(&run, "rm", vec![t("d"), Value::Bool(true)]);
    ok(&run, "unlink", vec![t("l")]);
    assert_eq!(ok(&run, "exists", vec![t("d")]), Value::Bool(false));
    assert_eq!(ok(&run, "exists", vec![t("x")]), Value::Bool(true));
    assert_eq!(ok(&run, "internalModuleStat", vec![t("x")]), n(1));
    assert_eq!(ok(&run, "internalModuleStat", vec![t("copy")]), n(0));
    assert_eq!(ok(&run, "internalModuleStat", vec![t("zzz")]), n(-2));
    assert_sound(&store);
}

#[test]
fn attributes() {
    let store = store();
    let run = run(&store);
    write(&run, "f", b"12345");
    ok(&run, "chmod", vec![t("f"), n(0o640)]);
    ok(&run, "utimes", vec![t("f"), n(1.25), n(2.5)]);
    let facts = stat(&run, "stat", "f");
    assert_eq!(facts.len(), 18);
    assert_eq!(facts[1], f64::from(0o100_640));
    assert_eq!((facts[8], facts[9]), (5.0, 1.0));
    assert_eq!(facts[10..14], [1.0, 250_000_000.0, 2.0, 500_000_000.0]);
    assert_eq!(facts[16..], [1_700_000_000.0, 500_000.0]);
    ok(&run, "symlink", vec![t("f"), t("l")]);
    ok(&run, "lutimes", vec![t("l"), n(9), n(9)]);
    assert_eq!(stat(&run, "stat", "f")[10], 1.0);
    assert_eq!(stat(&run, "lstat", "l")[10], 9.0);
    let fd = open(&run, "f", 0);
    ok(&run, "futimes", vec![n(fd), n(-1.5), n(4)]);
    assert_eq!(stat(&run, "stat", "f")[10..13], [-2.0, 500_000_000.0, 4.0]);
    ok(&run, "fchmod", vec![n(fd), n(0o100_600)]);
    assert_eq!(stat(&run, "stat", "f")[1], f64::from(0o100_600));
    ok(&run, "access", vec![t("f"), n(6)]);
    fails(&run, "access", vec![t("f"), n(1)], "EACCES access 'f'");
    fails(&run, "access", vec![t("g"), n(0)], "ENOENT access 'g'");
    ok(&run, "chown", vec![t("f"), n(0), n(u32::MAX)]);
    ok(&run, "lchown", vec![t("l"), n(-1), n(0)]);
    fails(&run, "chown", vec![t("f"), n(1), n(0)], "EPERM chown 'f'");
    fails(&run, "fchown", vec![n(fd), n(0), n(7)], "EPERM fchown");
    fails(&run, "chown", vec![t("none"), n(0), n(0)], "ENOENT chown 'none'");
    assert_eq!(numbers(&ok(&run, "statfs", vec![t(".")]))[1], 4096.0);
}

#[test]
fn nothing_leads_out_of_the_root() {
    let store = store();
    let outside = run_of(&store, "/", Access::ReadWrite, Vec::new());
    write(&outside, "/secret", b"s");
    ok(&outside, "mkdir", vec![t("/workspace/sub"), n(0o777), Value::Bool(false)]);
    let run = run_of(&store, "/workspace/sub", Access::ReadWrite, Vec::new());
    ok(&run, "symlink", vec![t("/secret"), t("l")]);
    ok(&run, "symlink", vec![t("../.."), t("up")]);
    for path in ["/secret", "l", "../../secret", "up/secret", "/none", "/workspace/none", "up/none"] {
        fails(&run, "readFile", vec![t(path)], &format!("EACCES open '{path}'"));
        fails(&run, "stat", vec![t(path)], &format!("EACCES stat '{path}'"));
        fails(&run, "open", vec![t(path), n(O_WRONLY | O_CREAT), n(0)], &format!("EACCES open '{path}'"));
        let args = vec![t(path), b(b"x"), n(O_WRONLY | O_CREAT | O_TRUNC), n(0)];
        fails(&run, "writeFile", args, &format!("EACCES open '{path}'"));
        assert_eq!(ok(&run, "exists", vec![t(path)]), Value::Bool(false));
    }
    for path in ["/none", "up/none", "../none"] {
        fails(&run, "mkdir", vec![t(path), n(0), Value::Bool(true)], &format!("EACCES mkdir '{path}'"));
        fails(&run, "symlink", vec![t("x"), t(path)], &format!("EACCES symlink 'x' -> '{path}'"));
        fails(&run, "rename", vec![t("l"), t(path)], &format!("EACCES rename 'l' -> '{path}'"));
        fails(&run, "link", vec![t("l"), t(path)], &format!("EACCES link 'l' -> '{path}'"));
        fails(&run, "rm", vec![t(path), Value::Bool(true)], &format!("EACCES rm '{path}'"));
        fails(&run, "copyFile", vec![t("l"), t(path), n(0)], &format!("EACCES copyfile 'l' -> '{path}'"));
    }
    fails(&run, "readdir", vec![t("up")], "EACCES scandir 'up'");
    // A walk down from `/` gets through, and learns nothing on the way.
    assert_eq!(stat(&run, "lstat", "/")[1], f64::from(0o040_755));
    assert_eq!(stat(&run, "stat", "/workspace")[10], 0.0);
    assert_ne!(stat(&run, "stat", "/workspace/sub")[10], 0.0);
    fails(&run, "readdir", vec![t("/workspace")], "EACCES scandir '/workspace'");
    for path in [".", "/workspace/sub"] {
        fails(&run, "rm", vec![t(path), Value::Bool(true)], &format!("EPERM rm '{path}'"));
    }
    fails(&run, "rename", vec![t("/workspace/sub"), t("x")], "EPERM rename '/workspace/sub' -> 'x'");
    assert_eq!(read(&outside, "/secret"), b"s");
}

#[test]
fn reading_access_changes_nothing() {
    let store = store();
    write(&run(&store), "f", b"f");
    let run = run_of(&store, "/workspace", Access::Read, Vec::new());
    assert_eq!(read(&run, "f"), b"f");
    let fd = open(&run, "f", O_CREAT);
    assert_eq!(pread(&run, fd, 1, None), b"f");
    fails(&run, "open", vec![t("f"), n(O_WRONLY), n(0)], "EROFS open 'f'");
    fails(&run, "open", vec![t("g"), n(O_WRONLY), n(0)], "ENOENT open 'g'");
    fails(&run, "open", vec![t("g"), n(O_CREAT), n(0)], "EROFS open 'g'");
    fails(&run, "access", vec![t("f"), n(2)], "EROFS access 'f'");
    let changes: [(&str, Vec<Value>); 9] = [
        ("writeFile", vec![t("f"), b(b""), n(O_WRONLY | O_TRUNC), n(0)]),
        ("mkdir", vec![t("d"), n(0), Value::Bool(true)]),
        ("unlink", vec![t("f")]),
        ("rm", vec![t("f"), Value::Bool(true)]),
        ("rename", vec![t("f"), t("g")]),
        ("symlink", vec![t("f"), t("g")]),
        ("chmod", vec![t("f"), n(0)]),
        ("utimes", vec![t("f"), n(0), n(0)]),
        ("fchmod", vec![n(fd), n(0)]),
    ];
    for (name, args) in changes {
        let Err(Value::List(fields)) = outcome(&run, name, args) else { panic!("{name} did not fail") };
        assert_eq!(fields[0], t("EROFS"), "{name}");
    }
    assert_eq!(read(&run, "f"), b"f");
}

#[test]
fn rules_hold() {
    let store = store();
    write(&run(&store), "secret", b"s");
    write(&run(&store), "fixed", b"f");
    let rule = |glob, access| Rule::new(glob, access, None).unwrap();
    let rules = vec![rule("workspace/secret", Access::None), rule("workspace/fixed", Access::Read)];
    let run = run_of(&store, "/workspace", Access::ReadWrite, rules);
    fails(&run, "readFile", vec![t("secret")], "EACCES open 'secret'");
    fails(&run, "open", vec![t("fixed"), n(O_WRONLY), n(0)], "EROFS open 'fixed'");
    fails(&run, "access", vec![t("fixed"), n(2)], "EROFS access 'fixed'");
    fails(&run, "unlink", vec![t("fixed")], "EROFS unlink 'fixed'");
    let args = vec![t("fixed"), b(b"x"), n(O_WRONLY | O_CREAT | O_APPEND), n(0)];
    fails(&run, "writeFile", args, "EROFS open 'fixed'");
    let listed = ok(&run, "readdir", vec![t(".")]);
    assert_eq!(listed, Value::List(vec![Value::List(vec![t("fixed")]), Value::List(vec![n(1)])]));
}

#[test]
fn lies_are_refused() {
    let store = store();
    let run = run(&store);
    let lies: [(&str, Vec<Value>); 8] = [
        ("open", vec![]),
        ("open", vec![n(1), n(0), n(0)]),
        ("open", vec![t("f"), n(0.5), n(0)]),
        ("read", vec![n(3), n(-1), n(0)]),
        ("read", vec![n(3), n(f64::NAN), n(0)]),
        ("write", vec![n(3), Value::List(vec![]), n(0)]),
        ("stat", vec![Value::Bytes(vec![0xff])]),
        ("stat", vec![t("a\0b")]),
    ];
    for (name, args) in lies {
        let Err(Value::List(fields)) = outcome(&run, name, args) else { panic!("{name} did not fail") };
        assert_eq!(fields[0], t("EINVAL"), "{name}");
    }
    fails(&run, "mount", vec![], "ENOSYS");
    let store = run.scope.store().clone();
    let (send, receive) = mpsc::channel();
    store.close(move || send.send(()).unwrap());
    receive.recv().unwrap();
    fails(&run, "stat", vec![t("f")], "ECLOSED");
}

#[test]
fn imports() {
    let store = store();
    let run = run(&store);
    ok(&run, "mkdir", vec![t("lib"), n(0o777), Value::Bool(false)]);
    write(&run, "lib/a b.js", b"\xef\xbb\xbfexport {}");
    write(&run, "lib/t.mts", b"let a: number");
    write(&run, "d.json", b"{}");
    write(&run, "n.txt", b"");
    write(&run, "huge.js", &vec![b' '; CALL_BYTES_MAX]);
    ok(&run, "symlink", vec![t("lib/t.mts"), t("link.ts")]);
    ok(&run, "symlink", vec![t("/etc"), t("out")]);
    let entry = "/workspace/main.js";
    let found = |specifier: &str, attribute| {
        let import = run.resolve_import(specifier, entry, attribute).unwrap();
        (import.path, import.suffix, import.format)
    };
    let want = |path: &str, suffix: &str, format| (path.to_owned(), suffix.to_owned(), format);
    let spaced = want("/workspace/lib/a b.js", "", Format::Module);
    assert_eq!(found("./lib/a%20b.js", None), spaced);
    assert_eq!(found("./nope/../lib/a b.js", None), spaced);
    assert_eq!(found("file:///workspace/lib/a%20b.js", None), spaced);
    assert_eq!(
        run.resolve_import("./a b.js", "file:///workspace/lib/x.js?1", None).unwrap().source,
        "export {}"
    );
    assert_eq!(
        found("/workspace/link.ts?v=1#x", None),
        want("/workspace/lib/t.mts", "?v=1#x", Format::TypeScript)
    );
    assert_eq!(found("./d.json", None), want("/workspace/d.json", "", Format::Json));
    assert_eq!(found("./d.json", Some("json")).2, Format::Json);
    ok(&run, "mkdir", vec![t("c#"), n(0o777), Value::Bool(false)]);
    write(&run, "c#/m.js", b"");
    assert_eq!(
        run.resolve_import("./m.js", "/workspace/c#/main.js?v=1", None).unwrap().path,
        "/workspace/c#/m.js"
    );
    let missing = run.resolve_import("./n.js", "/workspace/c#/main.js?v=1", None).unwrap_err();
    assert!(missing.message.ends_with("imported from /workspace/c#/main.js"), "{}", missing.message);
    let refused = |specifier: &str, attribute| {
        let error = run.resolve_import(specifier, entry, attribute).unwrap_err();
        format!("{}: {}", error.code, error.message)
    };
    assert_eq!(
        refused("./x.js", None),
        "ERR_MODULE_NOT_FOUND: Cannot find module '/workspace/x.js' imported from /workspace/main.js"
    );
    assert_eq!(
        refused("./lib", None),
        "ERR_UNSUPPORTED_DIR_IMPORT: Directory import '/workspace/lib' is not supported resolving ES modules imported from /workspace/main.js"
    );
    assert_eq!(
        refused("lodash", None),
        "ERR_MODULE_NOT_FOUND: Cannot find package 'lodash' imported from /workspace/main.js"
    );
    for (specifier, attribute, code) in [
        ("./n.txt", None, "ERR_UNKNOWN_FILE_EXTENSION"),
        ("./link.ts", Some("json"), "ERR_IMPORT_ATTRIBUTE_TYPE_INCOMPATIBLE"),
        ("./d.json", Some("css"), "ERR_IMPORT_ATTRIBUTE_UNSUPPORTED"),
        ("./a%2fb.js", None, "ERR_INVALID_MODULE_SPECIFIER"),
        ("file://host/a.js", None, "ERR_INVALID_FILE_URL_HOST"),
        ("/etc/passwd", None, "EACCES"),
        ("./out/passwd", None, "EACCES"),
        ("../../../x.js", None, "EACCES"),
        ("./huge.js", None, "ELIMIT"),
        ("./lib/", None, "ERR_UNSUPPORTED_DIR_IMPORT"),
        ("..", None, "EACCES"),
    ] {
        let text = refused(specifier, attribute);
        assert!(text.starts_with(code), "{specifier}: {text}");
    }
}
