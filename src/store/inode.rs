//! Rows of `inode`: what a file, directory or link is, apart from its names.

use rusqlite::Row;

use super::change::Totals;
use super::content::Content;
use super::tx::{ReadTx, WriteTx};
use crate::error::Result;

/// Number of an inode.
pub type InodeId = i64;

/// What an inode is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
}

impl Kind {
    /// As stored.
    pub fn code(self) -> i64 {
        match self {
            Kind::File => 1,
            Kind::Directory => 2,
            Kind::Link => 3,
        }
    }

    /// From the stored form.
    pub fn from_code(code: i64) -> rusqlite::Result<Self> {
        match code {
            1 => Ok(Kind::File),
            2 => Ok(Kind::Directory),
            3 => Ok(Kind::Link),
            other => Err(rusqlite::Error::IntegralValueOutOfRange(0, other)),
        }
    }
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Inode {
    /// Its number.
    pub id: InodeId,
    /// What it is.
    pub kind: Kind,
    /// Permission bits.
    pub mode: u32,
    /// Names that lead here; for a directory two and one for each directory in it.
    pub nlink: i64,
    /// Bytes of the contents or of the link's target; 0 for a directory.
    pub size: u64,
    /// Contents of a file.
    pub content: Content,
    /// Last change of the contents, in milliseconds since the epoch.
    pub mtime: f64,
    /// Last change of anything.
    pub ctime: f64,
    /// Set at creation and by `utimes`; reading does not change it.
    pub atime: f64,
    /// Creation.
    pub birthtime: f64,
    /// Number of the change that touched it last.
    pub version: i64,
}

fn inode(row: &Row<'_>) -> rusqlite::Result<Inode> {
    Ok(Inode {
        id: row.get(0)?,
        kind: Kind::from_code(row.get(1)?)?,
        mode: row.get(2)?,
        nlink: row.get(3)?,
        size: row.get::<_, i64>(4)?.unsigned_abs(),
        content: Content::from_columns(row.get(5)?, row.get(6)?),
        mtime: row.get(7)?,
        ctime: row.get(8)?,
        atime: row.get(9)?,
        birthtime: row.get(10)?,
        version: row.get(11)?,
    })
}

impl ReadTx<'_> {
    /// The inode with this number; a missing one is damage, since only a dirent leads here.
    pub fn inode(&self, id: InodeId) -> Result<Inode> {
        self.find_inode(id)?.ok_or_else(|| super::connection::damaged("a directory entry leads to no inode"))
    }

    /// The inode with this number, for who remembers one: none once its last name is gone.
    pub fn find_inode(&self, id: InodeId) -> Result<Option<Inode>> {
        self.row(
            "SELECT id, type, mode, nlink, size, blob, manifest, mtime, ctime, atime, birthtime, version
             FROM inode WHERE id = ?1",
            [id],
            inode,
        )
    }

    /// The inode that `name` in a directory leads to.
    pub fn lookup_inode(&self, parent: InodeId, name: &str) -> Result<Option<Inode>> {
        self.row(
            "SELECT i.id, i.type, i.mode, i.nlink, i.size, i.blob, i.manifest,
                    i.mtime, i.ctime, i.atime, i.birthtime, i.version
             FROM dirent d JOIN inode i ON i.id = d.inode WHERE d.parent = ?1 AND d.name = ?2",
            (parent, name),
            inode,
        )
    }

    /// Where a symbolic link leads, as it was written.
    pub fn link_target(&self, id: InodeId) -> Result<String> {
        self.row("SELECT target FROM inode WHERE id = ?1", [id], |row| row.get(0))?
            .ok_or_else(|| super::connection::damaged("a directory entry leads to no inode"))
    }
}

impl WriteTx<'_> {
    /// Adds an inode without a name yet; the caller adds the dirent.
    pub fn create_inode(&self, kind: Kind, mode: u32, size: u64, content: Content) -> Result<InodeId> {
        self.create(kind, mode, size, content, None)
    }

    /// Adds a symbolic link without a name yet.
    pub fn create_link(&self, target: &str) -> Result<InodeId> {
        self.create(Kind::Link, 0o777, target.len() as u64, Content::Empty, Some(target))
    }

    fn create(
        &self,
        kind: Kind,
        mode: u32,
        size: u64,
        content: Content,
        target: Option<&str>,
    ) -> Result<InodeId> {
        let id = self.totals.get().next_inode;
        let (blob, manifest) = content.columns();
        let nlink = if kind == Kind::Directory { 2 } else { 1 };
        self.execute(
            "INSERT INTO inode (id, type, mode, nlink, size, blob, manifest, target,
                                mtime, ctime, atime, birthtime, version)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?9, ?9, ?10)",
            (id, kind.code(), mode, nlink, size as i64, blob, manifest, target, self.now, self.next_seq()),
        )?;
        self.count(|totals| {
            totals.next_inode += 1;
            count_inode(totals, kind, 1);
            if kind == Kind::File {
                totals.bytes += size as i64;
            }
        });
        Ok(id)
    }

    /// Gives a file other contents; the caller has taken the reference to the new ones.
    pub fn set_content(&self, inode: &Inode, size: u64, content: Content) -> Result<()> {
        self.write_content(inode, size, content)?;
        self.release(inode.content)
    }

    /// Notes that the contents of a file were changed in their place.
    pub fn keep_content(&self, inode: &Inode, size: u64) -> Result<()> {
        self.write_content(inode, size, inode.content)
    }

    fn write_content(&self, inode: &Inode, size: u64, content: Content) -> Result<()> {
        let (blob, manifest) = content.columns();
        self.execute(
            "UPDATE inode SET size = ?2, blob = ?3, manifest = ?4, mtime = ?5, ctime = ?5, version = ?6
             WHERE id = ?1",
            (inode.id, size as i64, blob, manifest, self.now, self.next_seq()),
        )?;
        self.count(|totals| totals.bytes += size as i64 - inode.size as i64);
        Ok(())
    }

    /// Writes the row of the root as it is: a commit that changes nothing would flush nothing, and this
    /// one is to flush those before it.
    pub fn rewrite_root(&self) -> Result<()> {
        self.execute("UPDATE inode SET version = version WHERE id = ?1", [super::schema::ROOT_INODE])?;
        Ok(())
    }

    /// Sets the permission bits.
    pub fn set_mode(&self, id: InodeId, mode: u32) -> Result<()> {
        self.execute(
            "UPDATE inode SET mode = ?2, ctime = ?3, version = ?4 WHERE id = ?1",
            (id, mode, self.now, self.next_seq()),
        )?;
        Ok(())
    }

    /// Sets the two times that a caller may set, in milliseconds.
    pub fn set_times(&self, id: InodeId, atime: f64, mtime: f64) -> Result<()> {
        self.execute(
            "UPDATE inode SET atime = ?2, mtime = ?3, ctime = ?4, version = ?5 WHERE id = ?1",
            (id, atime, mtime, self.now, self.next_seq()),
        )?;
        Ok(())
    }

    /// Marks a directory as changed: an entry came, went or was replaced. `subdirectories` says
    /// how many of its directories that added.
    pub fn touch_directory(&self, id: InodeId, subdirectories: i64) -> Result<()> {
        self.execute(
            "UPDATE inode SET mtime = ?2, ctime = ?2, nlink = nlink + ?3, version = ?4 WHERE id = ?1",
            (id, self.now, subdirectories, self.next_seq()),
        )?;
        Ok(())
    }

    /// Marks what was moved: its name changed, not its contents.
    pub fn touch_moved(&self, id: InodeId) -> Result<()> {
        self.adjust_names(id, 0)
    }

    /// Counts one name more or less.
    pub fn adjust_names(&self, id: InodeId, by: i64) -> Result<()> {
        self.execute(
            "UPDATE inode SET nlink = nlink + ?2, ctime = ?3, version = ?4 WHERE id = ?1",
            (id, by, self.now, self.next_seq()),
        )?;
        Ok(())
    }

    /// Takes one name away from what is not a directory, and the inode with the last.
    pub fn drop_name(&self, id: InodeId) -> Result<()> {
        let inode = self.inode(id)?;
        if inode.nlink > 1 {
            return self.adjust_names(id, -1);
        }
        self.remove_inode(&inode)?;
        self.release(inode.content)
    }

    /// Removes a row that nothing names.
    pub fn remove_inode(&self, inode: &Inode) -> Result<()> {
        self.execute("DELETE FROM inode WHERE id = ?1", [inode.id])?;
        self.count(|totals| {
            count_inode(totals, inode.kind, -1);
            if inode.kind == Kind::File {
                totals.bytes -= inode.size as i64;
            }
        });
        Ok(())
    }
}

fn count_inode(totals: &mut Totals, kind: Kind, by: i64) {
    match kind {
        Kind::Directory => totals.directories += by,
        Kind::File | Kind::Link => totals.files += by,
    }
}
