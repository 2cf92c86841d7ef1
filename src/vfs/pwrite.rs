//! Writes into the middle of a file, by its inode: what `pwrite` of an open descriptor needs.
//!
//! Costs what is written and the rest of the chunks that it falls into, not the file. A manifest that
//! only the file points to is changed in its place; a shared one is left as it is, and the file gets
//! one of its own that shares the chunks.

use super::write::{End, NewContent, check_size, replace};
use crate::error::Result;
use crate::limits::CHUNK_BYTES;
use crate::store::{Content, Inode, Piece, WriteTx};

/// Writes bytes from `offset` on, or from the end; what lies between the end and a later offset
/// becomes zeros. Returns the place after the last byte written. The caller notes the change.
pub fn write_at(tx: &WriteTx<'_>, inode: &Inode, offset: Option<u64>, bytes: &[u8]) -> Result<u64> {
    let offset = offset.unwrap_or(inode.size);
    let end = offset.saturating_add(bytes.len() as u64);
    check_size(end)?;
    if bytes.is_empty() {
        // As on POSIX: a write of nothing changes nothing, not even the size.
        return Ok(offset);
    }
    if offset >= inode.size {
        let mut tail = End::of(tx, inode.content, inode.size, end)?;
        tail.push_zeros(offset - inode.size)?;
        tail.push(bytes)?;
        tail.finish(inode, end)?;
    } else if end.max(inode.size) <= CHUNK_BYTES as u64 {
        let mut whole = tx.content_range(inode.content, inode.size, 0, inode.size)?;
        splice(&mut whole, offset as usize, bytes);
        replace(tx, inode, NewContent::Piece(&Piece::new(whole)))?;
    } else {
        write_chunks(tx, inode, offset, bytes)?;
    }
    Ok(end)
}

fn write_chunks(tx: &WriteTx<'_>, inode: &Inode, offset: u64, mut bytes: &[u8]) -> Result<()> {
    let size = inode.size.max(offset + bytes.len() as u64);
    let manifest = match inode.content {
        Content::Manifest(own) if tx.is_only_reference(own)? => own,
        shared => {
            let manifest = tx.new_manifest()?;
            tx.share_chunks(shared, inode.size.div_ceil(CHUNK_BYTES as u64), manifest)?;
            manifest
        }
    };
    let mut at = offset;
    while !bytes.is_empty() {
        let (index, skip) = (at / CHUNK_BYTES as u64, (at % CHUNK_BYTES as u64) as usize);
        let (now, later) = bytes.split_at(bytes.len().min(CHUNK_BYTES - skip));
        let mut chunk = tx.take_chunk(manifest, index)?;
        splice(&mut chunk, skip, now);
        tx.put_chunk(manifest, index, &Piece::new(chunk))?;
        at += now.len() as u64;
        bytes = later;
    }
    let content = tx.seal_manifest(manifest, size)?;
    if content == inode.content { tx.keep_content(inode, size) } else { tx.set_content(inode, size, content) }
}

/// Puts bytes over and behind others. `at` is no further than their end.
fn splice(whole: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    let over = bytes.len().min(whole.len() - at);
    whole[at..at + over].copy_from_slice(&bytes[..over]);
    whole.extend_from_slice(&bytes[over..]);
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use proptest::prelude::*;

    use super::*;
    use crate::path::WorkspacePath;
    use crate::store::{Config, Durability, Location, Scope, Store};
    use crate::vfs::{self, Condition, Download, LastLink, NewFile, Range};

    /// What a test does to a file.
    #[derive(Debug, Clone)]
    enum Step {
        Write {
            at: usize,
            length: usize,
        },
        Append {
            length: usize,
        },
        Truncate {
            length: usize,
        },
        /// Another file points to the same contents from now on.
        Copy,
    }

    const CHUNK: usize = CHUNK_BYTES;

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        // Places around the borders of chunks, where the mistakes are.
        let place =
            || (0usize..4, 0usize..3).prop_map(|(chunk, near)| (chunk * CHUNK + near).saturating_sub(1));
        let length = || prop_oneof![3 => 0usize..5, 1 => (CHUNK - 2)..(CHUNK + 3), 1 => Just(2 * CHUNK)];
        let step = prop_oneof![
            4 => (place(), length()).prop_map(|(at, length)| Step::Write { at, length }),
            2 => length().prop_map(|length| Step::Append { length }),
            1 => place().prop_map(|length| Step::Truncate { length }),
            1 => Just(Step::Copy),
        ];
        prop::collection::vec(step, 1..8)
    }

    fn scope(location: Location) -> Scope {
        let durability = Durability::Off;
        let config = Config { location, durability, quota_bytes: None, rules: None, is_audited: false };
        Scope::workspace(Store::open(config).unwrap())
    }

    fn change<T: Send + 'static>(
        scope: &Scope,
        work: impl FnOnce(&WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> T {
        let (send, receive) = mpsc::channel();
        scope.write_later(1.0, false, 0, work, move |result| send.send(result).unwrap());
        receive.recv().unwrap().unwrap()
    }

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::parse(text).unwrap()
    }

    fn write_to(scope: &Scope, at: Option<u64>, bytes: Vec<u8>) {
        change(scope, move |tx| {
            let inode = vfs::stat(tx, &path("/f"))?.inode;
            write_at(tx, &inode, at, &bytes)?;
            tx.changed(crate::store::ChangeKind::Change, "/f");
            Ok(())
        });
    }

    fn contents(scope: &Scope, file: &str) -> Vec<u8> {
        scope.read_now(|tx| vfs::read_file(tx, vfs::slice_of(tx, &path(file), Range::default())?)).unwrap()
    }

    fn make(scope: &Scope, bytes: Vec<u8>) {
        change(scope, |tx| {
            let file = NewFile { mode: None, condition: Condition::Any };
            vfs::write(tx, &path("/f"), file, NewContent::Piece(&Piece::new(Vec::new())))
        });
        write_to(scope, None, bytes);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, rng_seed: prop::test_runner::RngSeed::Fixed(4), ..ProptestConfig::default() })]

        #[test]
        fn a_file_is_what_a_model_of_it_is(steps in steps()) {
            let scope = scope(Location::Memory);
            make(&scope, Vec::new());
            let (mut model, mut copy) = (Vec::new(), None);
            for (number, step) in (1u8..).zip(steps) {
                match step {
                    Step::Write { at, length } => {
                        write_to(&scope, Some(at as u64), vec![number; length]);
                        if length > 0 {
                            model.resize(model.len().max(at + length), 0);
                            model[at..at + length].fill(number);
                        }
                    }
                    Step::Append { length } => {
                        write_to(&scope, None, vec![number; length]);
                        model.resize(model.len() + length, number);
                    }
                    Step::Truncate { length } => {
                        change(&scope, move |tx| vfs::truncate(tx, &path("/f"), length as u64));
                        model.resize(length, 0);
                    }
                    Step::Copy => {
                        change(&scope, |tx| vfs::copy_file(tx, &path("/f"), &path("/copy"), Condition::Any));
                        copy = Some(model.clone());
                    }
                }
                prop_assert!(contents(&scope, "/f") == model, "after step {number}");
                prop_assert!(copy.as_ref().is_none_or(|copy| contents(&scope, "/copy") == *copy));
            }
            let report = scope.read_now(|tx| tx.check()).unwrap();
            prop_assert_eq!(report.problems, vec![]);
        }
    }

    #[test]
    fn a_download_sees_no_later_write() {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::File { path: folder.path().join("w.db"), readonly: false };
        let scope = scope(location);
        make(&scope, vec![1; 3 * CHUNK + 9]);
        let (id, version) = scope
            .read_now(|tx| {
                let inode = vfs::existing(tx, &path("/f"), LastLink::Follow)?;
                Ok((inode.id, inode.version))
            })
            .unwrap();
        // Queued before the pin, so that the pin finds a manifest that was changed in its place.
        let (send, receive) = mpsc::channel();
        let (held, hold) = mpsc::channel::<()>();
        scope.write_later(
            1.0,
            false,
            0,
            move |_| {
                let _ = hold.recv();
                Ok(())
            },
            |_| {},
        );
        scope.write_later(
            1.0,
            false,
            0,
            move |tx| {
                let inode = tx.inode(id)?;
                assert_eq!(inode.version, version);
                write_at(tx, &inode, Some(CHUNK as u64), &[2; 5])?;
                tx.changed(crate::store::ChangeKind::Change, "/f");
                Ok(())
            },
            move |result| send.send(result).unwrap(),
        );
        let download = Download::open_inode(&scope, id).unwrap();
        held.send(()).unwrap();
        receive.recv().unwrap().unwrap();
        // The pin, if it is made, is made by the time that a later change is.
        change(&scope, |_| Ok(()));
        assert_eq!(contents(&scope, "/f")[CHUNK..CHUNK + 5], [2; 5]);
        assert!(download.read_at(0, u64::MAX).unwrap() == vec![1; 3 * CHUNK + 9]);
        assert_eq!(download.read_at(3 * CHUNK as u64, 100).unwrap(), [1; 9]);
    }

    #[test]
    fn a_write_costs_its_chunks_and_not_the_file() {
        let scope = scope(Location::Memory);
        make(&scope, (0..8 * CHUNK).map(|at| (at / CHUNK) as u8).collect());
        let manifest = || scope.read_now(|tx| Ok(vfs::stat(tx, &path("/f"))?.inode.content)).unwrap();
        let before = manifest();
        write_to(&scope, Some(3 * CHUNK as u64 + 5), vec![9; 3]);
        assert_eq!(manifest(), before, "changed in its place");
        change(&scope, |tx| vfs::copy_file(tx, &path("/f"), &path("/copy"), Condition::Any));
        let stored = || scope.read_now(|tx| tx.stored_bytes()).unwrap();
        let before = stored();
        write_to(&scope, Some(3 * CHUNK as u64 + 5), vec![8; 3]);
        assert_eq!(stored() - before, CHUNK as u64, "one chunk of its own, the others shared");
    }
}
