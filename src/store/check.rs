//! Every rule of the storage format as a query. `workspace.check()` reports what breaks one.

use sha2::{Digest, Sha256};

use super::tx::ReadTx;
use crate::error::{Code, FsError, Result};
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

/// What a broken rule is about.
#[derive(Clone, Copy)]
enum Subject {
    Nothing,
    Inode,
    Blob,
    Manifest,
}

/// A rule, what it is about, and a query whose rows break it: a sentence, and the number of the
/// subject.
const RULES: &[(&str, Subject, &str)] = &[
    (
        "root",
        Subject::Nothing,
        "SELECT 'the root directory is missing', 0
         WHERE NOT EXISTS (SELECT 1 FROM inode WHERE id = 1 AND type = 2)",
    ),
    (
        "dirent-parent",
        Subject::Inode,
        "SELECT 'entry ' || name || ' is in inode ' || parent || ', which is no directory', parent FROM dirent d
         WHERE NOT EXISTS (SELECT 1 FROM inode i WHERE i.id = d.parent AND i.type = 2)",
    ),
    (
        "dirent-inode",
        Subject::Inode,
        "SELECT 'entry ' || name || ' leads to inode ' || inode || ', which is missing or of another type', inode
         FROM dirent d WHERE NOT EXISTS (SELECT 1 FROM inode i WHERE i.id = d.inode AND i.type = d.type)",
    ),
    (
        "dirent-name",
        Subject::Inode,
        "SELECT 'a name is not allowed: ' || quote(name), inode FROM dirent
         WHERE name IN ('', '.', '..') OR instr(name, '/') > 0 OR instr(name, char(0)) > 0
            OR length(CAST(name AS BLOB)) > ?1",
    ),
    (
        "reachable",
        Subject::Nothing,
        "WITH RECURSIVE tree (id) AS (
           SELECT 1 UNION SELECT d.inode FROM dirent d JOIN tree t ON d.parent = t.id)
         SELECT 'inode ' || id || ' cannot be reached from the root', id FROM inode
         WHERE id NOT IN (SELECT id FROM tree)",
    ),
    (
        "nlink-file",
        Subject::Inode,
        "SELECT 'inode ' || i.id || ' counts ' || i.nlink || ' names, there are ' || coalesce(d.n, 0), i.id
         FROM inode i LEFT JOIN (SELECT inode, count(*) AS n FROM dirent GROUP BY inode) d ON d.inode = i.id
         WHERE i.type <> 2 AND i.nlink <> coalesce(d.n, 0)",
    ),
    (
        "nlink-directory",
        Subject::Inode,
        "SELECT 'directory ' || id || ' counts ' || nlink || ' links, there should be ' || n, id FROM
           (SELECT i.id, i.nlink, 2 + (SELECT count(*) FROM dirent d WHERE d.parent = i.id AND d.type = 2) AS n
            FROM inode i WHERE i.type = 2) WHERE nlink <> n",
    ),
    (
        "directory-name",
        Subject::Inode,
        "SELECT 'directory ' || inode || ' has ' || count(*) || ' names', inode FROM dirent
         WHERE type = 2 GROUP BY inode HAVING count(*) > 1",
    ),
    (
        "mode",
        Subject::Inode,
        "SELECT 'inode ' || id || ' has mode ' || mode, id FROM inode WHERE mode NOT BETWEEN 0 AND 4095",
    ),
    (
        "size-blob",
        Subject::Inode,
        "SELECT 'file ' || i.id || ' has size ' || i.size || ', its blob ' || coalesce(b.size, 'is missing'), i.id
         FROM inode i LEFT JOIN blob b ON b.id = i.blob WHERE i.blob IS NOT NULL AND i.size IS NOT b.size",
    ),
    (
        "size-manifest",
        Subject::Inode,
        "SELECT 'file ' || i.id || ' has size ' || i.size || ', its manifest ' || coalesce(m.size, 'is missing'), i.id
         FROM inode i LEFT JOIN manifest m ON m.id = i.manifest
         WHERE i.manifest IS NOT NULL AND i.size IS NOT m.size",
    ),
    (
        "size-empty",
        Subject::Inode,
        "SELECT 'inode ' || id || ' has size ' || size || ' and no contents', id FROM inode
         WHERE blob IS NULL AND manifest IS NULL AND size <> 0 AND type <> 3",
    ),
    (
        "chunk-manifest",
        Subject::Nothing,
        "SELECT 'chunk ' || idx || ' belongs to manifest ' || manifest || ', which is missing', manifest
         FROM chunk c WHERE NOT EXISTS (SELECT 1 FROM manifest m WHERE m.id = c.manifest)",
    ),
    (
        "chunk-order",
        Subject::Manifest,
        "SELECT 'manifest ' || m.id || ' has ' || count(c.idx) || ' chunks, the last is number ' || max(c.idx), m.id
         FROM manifest m JOIN chunk c ON c.manifest = m.id
         WHERE m.refs > 0 AND m.id IN (SELECT manifest FROM inode)
         GROUP BY m.id HAVING count(c.idx) <> max(c.idx) + 1",
    ),
    (
        "chunk-size",
        Subject::Manifest,
        "SELECT 'manifest ' || m.id || ' has size ' || m.size || ', its chunks ' || coalesce(sum(b.size), 0), m.id
         FROM manifest m LEFT JOIN chunk c ON c.manifest = m.id LEFT JOIN blob b ON b.id = c.blob
         WHERE m.refs > 0 AND m.id IN (SELECT manifest FROM inode)
         GROUP BY m.id HAVING m.size <> coalesce(sum(b.size), 0)",
    ),
    (
        "chunk-window",
        Subject::Manifest,
        "SELECT 'chunk ' || c.idx || ' of manifest ' || c.manifest || ' has ' || coalesce(b.size, 'no') || ' bytes',
                c.manifest
         FROM chunk c LEFT JOIN blob b ON b.id = c.blob
         WHERE b.size IS NULL OR (b.size <> ?2 AND EXISTS
           (SELECT 1 FROM chunk n WHERE n.manifest = c.manifest AND n.idx > c.idx))",
    ),
    (
        "blob-refs",
        Subject::Blob,
        "SELECT 'blob ' || id || ' counts ' || refs || ' references, there are ' || n, id FROM
           (SELECT b.id, b.refs, coalesce(i.n, 0) + coalesce(c.n, 0) AS n FROM blob b
            LEFT JOIN (SELECT blob, count(*) AS n FROM inode WHERE blob IS NOT NULL GROUP BY blob) i ON i.blob = b.id
            LEFT JOIN (SELECT blob, count(*) AS n FROM chunk GROUP BY blob) c ON c.blob = b.id) WHERE refs <> n",
    ),
    (
        "manifest-refs",
        Subject::Manifest,
        "SELECT 'manifest ' || id || ' counts ' || refs || ' references, there are ' || n, id FROM
           (SELECT m.id, m.refs, coalesce(i.n, 0) + coalesce(p.n, 0) AS n FROM manifest m
            LEFT JOIN (SELECT manifest, count(*) AS n FROM inode WHERE manifest IS NOT NULL GROUP BY manifest) i
              ON i.manifest = m.id
            LEFT JOIN (SELECT manifest, count(*) AS n FROM pin GROUP BY manifest) p ON p.manifest = m.id)
         WHERE refs <> n",
    ),
    (
        "blob-data",
        Subject::Blob,
        "SELECT 'blob ' || b.id || ' has no bytes', b.id FROM blob b
         WHERE b.data IS NULL AND NOT EXISTS (SELECT 1 FROM blob_data d WHERE d.id = b.id)",
    ),
    (
        "blob-data-owner",
        Subject::Nothing,
        "SELECT 'bytes of blob ' || d.id || ' belong to no blob', d.id FROM blob_data d
         WHERE NOT EXISTS (SELECT 1 FROM blob b WHERE b.id = d.id)",
    ),
    (
        "totals",
        Subject::Nothing,
        "SELECT 'the totals say ' || c.files || ' files, ' || c.directories || ' directories, ' || c.bytes
             || ' bytes, inode ' || c.next_inode || ' next; there are ' || i.files || ', ' || i.directories || ', ' || i.bytes
             || ' and ' || i.last || ' is in use', 0
         FROM (SELECT files, directories, bytes, next_inode FROM change ORDER BY seq DESC LIMIT 1) c,
              (SELECT sum(type <> 2) AS files, sum(type = 2) AS directories, max(id) AS last,
                      coalesce(sum(CASE WHEN type = 1 THEN size END), 0) AS bytes FROM inode) i
         WHERE c.files <> i.files OR c.directories <> i.directories OR c.bytes <> i.bytes OR c.next_inode <= i.last",
    ),
];

impl ReadTx<'_> {
    /// Checks SQLite's own structures, every rule above, and the bytes of every blob. What cannot
    /// be read is a problem like others.
    pub fn check(&self) -> Result<Report> {
        let mut problems = Vec::new();
        let sound = self.rows("PRAGMA integrity_check(100)", [], |row| row.get::<_, String>(0));
        match sound {
            Ok(lines) => problems.extend(
                lines.into_iter().filter(|line| line != "ok").map(|line| Problem::new("sqlite", line)),
            ),
            Err(error) => problems.push(Problem::unreadable("sqlite", error)?),
        }
        for (rule, subject, sql) in RULES {
            if let Err(error) = self.broken(rule, *subject, sql, &mut problems) {
                problems.push(Problem::unreadable(rule, error)?);
            }
        }
        if let Err(error) = self.check_blobs(&mut problems) {
            problems.push(Problem::unreadable("blob-hash", error)?);
        }
        let counted =
            self.row("SELECT count(*), coalesce(sum(size), 0) FROM inode WHERE type = 1", [], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
            });
        let (files, bytes) = match counted {
            Ok(counted) => counted.unwrap_or((0, 0)),
            Err(error) => {
                problems.push(Problem::unreadable("totals", error)?);
                (0, 0)
            }
        };
        Ok(Report { problems, files: files.unsigned_abs(), bytes: bytes.unsigned_abs() })
    }

    fn broken(
        &self,
        rule: &'static str,
        subject: Subject,
        sql: &str,
        problems: &mut Vec<Problem>,
    ) -> Result<()> {
        let mut statement = self.statement(sql)?;
        for (index, value) in [(1, NAME_BYTES_MAX as i64), (2, CHUNK_BYTES as i64)] {
            if index <= statement.parameter_count() {
                statement.raw_bind_parameter(index, value)?;
            }
        }
        let mut rows = statement.raw_query();
        for _ in 0..PER_RULE {
            let Some(row) = rows.next()? else { break };
            let path = self.path_of(subject, row.get(1)?);
            problems.push(Problem { rule, detail: row.get(0)?, path });
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
        let mut left = PER_RULE;
        while let Some(row) = rows.next()? {
            let id = row.get::<_, i64>(0)?;
            let bytes = row.get_ref(4)?.as_blob_or_null().unwrap_or(None).unwrap_or_default();
            let hash = row.get_ref(1)?.as_blob_or_null().unwrap_or(None).unwrap_or_default();
            // A small one has no hash.
            let has_hash = bytes.len() > INLINE_BLOB_BYTES;
            let hash_fits = if has_hash { Sha256::digest(bytes).as_slice() == hash } else { hash.is_empty() };
            let is_sound = hash_fits
                && row.get::<_, i64>(2)? == i64::from(crc32fast::hash(bytes))
                && row.get::<_, i64>(3)? == bytes.len() as i64;
            if !is_sound && left > 0 {
                left -= 1;
                let detail = format!("blob {id} does not have the bytes that were stored");
                problems.push(Problem { rule: "blob-hash", detail, path: self.path_of(Subject::Blob, id) });
            }
        }
        Ok(())
    }

    /// A path of a subject, if one leads there and can be read. Looks at all names: for reports
    /// only.
    fn path_of(&self, subject: Subject, id: i64) -> Option<String> {
        let inode = match subject {
            Subject::Nothing => return None,
            Subject::Inode => Some(id),
            Subject::Blob => self
                .row(
                    "SELECT id FROM inode
                     WHERE blob = ?1 OR manifest IN (SELECT manifest FROM chunk WHERE blob = ?1) LIMIT 1",
                    [id],
                    |row| row.get(0),
                )
                .ok()?,
            Subject::Manifest => {
                self.row("SELECT id FROM inode WHERE manifest = ?1 LIMIT 1", [id], |row| row.get(0)).ok()?
            }
        };
        let path = self.row(
            "WITH RECURSIVE up (id, path, depth) AS (
               SELECT ?1, '', 0
               UNION ALL
               SELECT d.parent, '/' || d.name || up.path, up.depth + 1 FROM up JOIN dirent d ON d.inode = up.id
               WHERE up.id <> 1 AND up.depth < 4096)
             SELECT path FROM up WHERE id = 1 LIMIT 1",
            [inode?],
            |row| row.get::<_, String>(0),
        );
        path.ok()?.map(|path| if path.is_empty() { "/".to_owned() } else { path })
    }
}

impl Problem {
    fn new(rule: &'static str, detail: String) -> Self {
        Problem { rule, detail, path: None }
    }

    /// A rule that could not be checked, unless that has another cause than damage.
    fn unreadable(rule: &'static str, error: FsError) -> Result<Self> {
        match error.code() {
            Code::Io => Ok(Problem::new(rule, error.to_string())),
            _ => Err(error),
        }
    }
}
