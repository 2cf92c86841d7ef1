//! Every rule of the storage format as a query. `workspace.check()` reports what breaks one.

use sha2::{Digest, Sha256};

use super::tx::ReadTx;
use crate::error::Result;
use crate::limits::{CHUNK_BYTES, INLINE_BLOB_BYTES, NAME_BYTES_MAX};

/// One broken rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The rule's name; stable.
    pub rule: &'static str,
    /// What was found.
    pub detail: String,
    /// The path concerned, where there is one.
    pub path: Option<String>,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Broken rules; empty for a sound workspace. Cut after a hundred of each rule.
    pub problems: Vec<Problem>,
    /// Files seen.
    pub files: u64,
    /// Bytes of their contents.
    pub bytes: u64,
}

/// Most problems reported of one rule.
const PER_RULE: usize = 100;

/// A rule, and a query whose rows break it, each a sentence.
const RULES: &[(&str, &str)] = &[
    (
        "root",
        "SELECT 'the root directory is missing' WHERE NOT EXISTS (SELECT 1 FROM inode WHERE id = 1 AND type = 2)",
    ),
    (
        "dirent-parent",
        "SELECT 'entry ' || name || ' is in inode ' || parent || ', which is no directory' FROM dirent d
         WHERE NOT EXISTS (SELECT 1 FROM inode i WHERE i.id = d.parent AND i.type = 2)",
    ),
    (
        "dirent-inode",
        "SELECT 'entry ' || name || ' leads to inode ' || inode || ', which is missing or of another type' FROM dirent d
         WHERE NOT EXISTS (SELECT 1 FROM inode i WHERE i.id = d.inode AND i.type = d.type)",
    ),
    (
        "dirent-name",
        "SELECT 'a name is not allowed: ' || quote(name) FROM dirent
         WHERE name IN ('', '.', '..') OR instr(name, '/') > 0 OR instr(name, char(0)) > 0
            OR length(CAST(name AS BLOB)) > ?1",
    ),
    (
        "reachable",
        "WITH RECURSIVE tree (id) AS (
           SELECT 1 UNION SELECT d.inode FROM dirent d JOIN tree t ON d.parent = t.id)
         SELECT 'inode ' || id || ' cannot be reached from the root' FROM inode
         WHERE id NOT IN (SELECT id FROM tree)",
    ),
    (
        "nlink-file",
        "SELECT 'inode ' || id || ' counts ' || nlink || ' names, there are ' || n FROM
           (SELECT i.id, i.nlink, (SELECT count(*) FROM dirent d WHERE d.inode = i.id) AS n
            FROM inode i WHERE i.type <> 2) WHERE nlink <> n",
    ),
    (
        "nlink-directory",
        "SELECT 'directory ' || id || ' counts ' || nlink || ' links, there should be ' || n FROM
           (SELECT i.id, i.nlink, 2 + (SELECT count(*) FROM dirent d WHERE d.parent = i.id AND d.type = 2) AS n
            FROM inode i WHERE i.type = 2) WHERE nlink <> n",
    ),
    (
        "directory-name",
        "SELECT 'directory ' || inode || ' has ' || count(*) || ' names' FROM dirent
         WHERE type = 2 GROUP BY inode HAVING count(*) > 1",
    ),
    (
        "mode",
        "SELECT 'inode ' || id || ' has mode ' || mode FROM inode WHERE mode NOT BETWEEN 0 AND 4095",
    ),
    (
        "size-blob",
        "SELECT 'file ' || i.id || ' has size ' || i.size || ', its blob ' || coalesce(b.size, 'is missing')
         FROM inode i LEFT JOIN blob b ON b.id = i.blob WHERE i.blob IS NOT NULL AND i.size IS NOT b.size",
    ),
    (
        "size-manifest",
        "SELECT 'file ' || i.id || ' has size ' || i.size || ', its manifest ' || coalesce(m.size, 'is missing')
         FROM inode i LEFT JOIN manifest m ON m.id = i.manifest
         WHERE i.manifest IS NOT NULL AND i.size IS NOT m.size",
    ),
    (
        "size-empty",
        "SELECT 'inode ' || id || ' has size ' || size || ' and no contents' FROM inode
         WHERE blob IS NULL AND manifest IS NULL AND size <> 0 AND type <> 3",
    ),
    (
        "chunk-manifest",
        "SELECT 'chunk ' || idx || ' belongs to manifest ' || manifest || ', which is missing' FROM chunk c
         WHERE NOT EXISTS (SELECT 1 FROM manifest m WHERE m.id = c.manifest)",
    ),
    (
        "chunk-order",
        "SELECT 'manifest ' || m.id || ' has ' || count(c.idx) || ' chunks, the last is number ' || max(c.idx)
         FROM manifest m JOIN chunk c ON c.manifest = m.id
         WHERE m.refs > 0 AND m.id NOT IN (SELECT manifest FROM pin)
         GROUP BY m.id HAVING count(c.idx) <> max(c.idx) + 1",
    ),
    (
        "chunk-size",
        "SELECT 'manifest ' || m.id || ' has size ' || m.size || ', its chunks ' || coalesce(sum(b.size), 0)
         FROM manifest m LEFT JOIN chunk c ON c.manifest = m.id LEFT JOIN blob b ON b.id = c.blob
         WHERE m.refs > 0 AND m.id IN (SELECT manifest FROM inode) GROUP BY m.id HAVING m.size <> coalesce(sum(b.size), 0)",
    ),
    (
        "chunk-window",
        "SELECT 'chunk ' || c.idx || ' of manifest ' || c.manifest || ' has ' || coalesce(b.size, 'no') || ' bytes'
         FROM chunk c LEFT JOIN blob b ON b.id = c.blob
         WHERE b.size IS NULL OR (b.size <> ?2 AND EXISTS
           (SELECT 1 FROM chunk n WHERE n.manifest = c.manifest AND n.idx > c.idx))",
    ),
    (
        "blob-refs",
        "SELECT 'blob ' || id || ' counts ' || refs || ' references, there are ' || n FROM
           (SELECT b.id, b.refs, coalesce(i.n, 0) + coalesce(c.n, 0) AS n FROM blob b
            LEFT JOIN (SELECT blob, count(*) AS n FROM inode WHERE blob IS NOT NULL GROUP BY blob) i ON i.blob = b.id
            LEFT JOIN (SELECT blob, count(*) AS n FROM chunk GROUP BY blob) c ON c.blob = b.id) WHERE refs <> n",
    ),
    (
        "manifest-refs",
        "SELECT 'manifest ' || id || ' counts ' || refs || ' references, there are ' || n FROM
           (SELECT m.id, m.refs, coalesce(i.n, 0) + coalesce(p.n, 0) AS n FROM manifest m
            LEFT JOIN (SELECT manifest, count(*) AS n FROM inode WHERE manifest IS NOT NULL GROUP BY manifest) i
              ON i.manifest = m.id
            LEFT JOIN (SELECT manifest, count(*) AS n FROM pin GROUP BY manifest) p ON p.manifest = m.id)
         WHERE refs <> n",
    ),
    (
        "blob-data",
        "SELECT 'blob ' || b.id || ' has no bytes' FROM blob b
         WHERE b.data IS NULL AND NOT EXISTS (SELECT 1 FROM blob_data d WHERE d.id = b.id)",
    ),
    (
        "blob-data-owner",
        "SELECT 'bytes of blob ' || d.id || ' belong to no blob' FROM blob_data d
         WHERE NOT EXISTS (SELECT 1 FROM blob b WHERE b.id = d.id)",
    ),
    (
        "totals",
        "SELECT 'the totals say ' || c.files || ' files, ' || c.directories || ' directories, ' || c.bytes
             || ' bytes, inode ' || c.next_inode || ' next; there are ' || i.files || ', ' || i.directories || ', ' || i.bytes
             || ' and ' || i.last || ' is in use'
         FROM (SELECT files, directories, bytes, next_inode FROM change ORDER BY seq DESC LIMIT 1) c,
              (SELECT sum(type <> 2) AS files, sum(type = 2) AS directories, max(id) AS last,
                      coalesce(sum(CASE WHEN type = 1 THEN size END), 0) AS bytes FROM inode) i
         WHERE c.files <> i.files OR c.directories <> i.directories OR c.bytes <> i.bytes OR c.next_inode <= i.last",
    ),
];

impl ReadTx<'_> {
    /// Checks SQLite's own structures, every rule above, and the bytes of every blob.
    pub fn check(&self) -> Result<Report> {
        let mut problems = Vec::new();
        let sound = self.rows("PRAGMA integrity_check(100)", [], |row| row.get::<_, String>(0))?;
        for detail in sound.into_iter().filter(|line| line != "ok") {
            problems.push(Problem { rule: "sqlite", detail, path: None });
        }
        for (rule, sql) in RULES {
            self.broken(rule, sql, &mut problems)?;
        }
        self.check_blobs(&mut problems)?;
        let (files, bytes) = self
            .row("SELECT count(*), coalesce(sum(size), 0) FROM inode WHERE type = 1", [], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
            })?
            .unwrap_or((0, 0));
        for problem in &mut problems {
            problem.path = self.path_in(&problem.detail)?;
        }
        Ok(Report { problems, files: files.unsigned_abs(), bytes: bytes.unsigned_abs() })
    }

    fn broken(&self, rule: &'static str, sql: &str, problems: &mut Vec<Problem>) -> Result<()> {
        let mut statement = self.statement(sql)?;
        for (index, value) in [(1, NAME_BYTES_MAX as i64), (2, CHUNK_BYTES as i64)] {
            if index <= statement.parameter_count() {
                statement.raw_bind_parameter(index, value)?;
            }
        }
        let mut rows = statement.raw_query();
        for _ in 0..PER_RULE {
            let Some(row) = rows.next()? else { break };
            problems.push(Problem { rule, detail: row.get(0)?, path: None });
        }
        Ok(())
    }

    /// Reads every blob: are they the bytes that were written?
    fn check_blobs(&self, problems: &mut Vec<Problem>) -> Result<()> {
        let mut statement = self.statement(
            "SELECT b.id, b.hash, b.crc, b.size, coalesce(b.data, d.data)
             FROM blob b LEFT JOIN blob_data d ON d.id = b.id",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let bytes = row.get_ref(4)?.as_blob_or_null().unwrap_or(None).unwrap_or_default();
            let hash = row.get_ref(1)?.as_blob_or_null().unwrap_or(None).unwrap_or_default();
            // A small one has no hash.
            let has_hash = bytes.len() > INLINE_BLOB_BYTES;
            let hash_fits = if has_hash { Sha256::digest(bytes).as_slice() == hash } else { hash.is_empty() };
            let is_sound = hash_fits
                && row.get::<_, i64>(2)? == i64::from(crc32fast::hash(bytes))
                && row.get::<_, i64>(3)? == bytes.len() as i64;
            if !is_sound && problems.len() < PER_RULE * RULES.len() {
                let detail =
                    format!("blob {} does not have the bytes that were stored", row.get::<_, i64>(0)?);
                problems.push(Problem { rule: "blob-hash", detail, path: None });
            }
        }
        Ok(())
    }

    /// A path of the inode, file, blob or manifest that a sentence names.
    fn path_in(&self, detail: &str) -> Result<Option<String>> {
        let number_after = |word: &str| -> Option<i64> {
            let rest = detail.split_once(word)?.1;
            rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        let inode = if let Some(id) = ["inode ", "file ", "directory "].into_iter().find_map(number_after) {
            Some(id)
        } else if let Some(id) = number_after("blob ") {
            self.row(
                "SELECT id FROM inode WHERE blob = ?1 OR manifest IN (SELECT manifest FROM chunk WHERE blob = ?1) LIMIT 1",
                [id],
                |row| row.get(0),
            )?
        } else if let Some(id) = number_after("manifest ") {
            self.row("SELECT id FROM inode WHERE manifest = ?1 LIMIT 1", [id], |row| row.get(0))?
        } else {
            None
        };
        inode.map_or(Ok(None), |inode| self.path_of(inode))
    }

    /// A path that leads to an inode, if one does. Reads all names: for reports only.
    fn path_of(&self, inode: i64) -> Result<Option<String>> {
        Ok(self
            .row(
                "WITH RECURSIVE up (id, path, depth) AS (
                   SELECT ?1, '', 0
                   UNION ALL
                   SELECT d.parent, '/' || d.name || up.path, up.depth + 1 FROM up JOIN dirent d ON d.inode = up.id
                   WHERE up.id <> 1 AND up.depth < 4096)
                 SELECT path FROM up WHERE id = 1 LIMIT 1",
                [inode],
                |row| row.get::<_, String>(0),
            )?
            .map(|path| if path.is_empty() { "/".to_owned() } else { path }))
    }
}
