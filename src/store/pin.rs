//! Rows of `pin`: references to manifests that no file holds, by open streams and by uploads.
//!
//! What a process that died held is let go by whoever collects next.

use super::connection::{Location, damaged};
use super::content::{Content, ManifestId};
use super::owner;
use super::tx::WriteTx;
use crate::error::Result;

/// Number of a pin.
pub type PinId = i64;

impl WriteTx<'_> {
    /// Takes a reference to a manifest for `owner`. None if the manifest is gone.
    pub fn pin(&self, manifest: ManifestId, owner: i64) -> Result<Option<PinId>> {
        if self.execute("UPDATE manifest SET refs = refs + 1 WHERE id = ?1", [manifest])? == 0 {
            return Ok(None);
        }
        self.add_pin(manifest, owner).map(Some)
    }

    /// Hands the reference that the maker of a manifest has to `owner`.
    pub fn add_pin(&self, manifest: ManifestId, owner: i64) -> Result<PinId> {
        self.insert("INSERT INTO pin (manifest, owner, at) VALUES (?1, ?2, ?3)", (manifest, owner, self.now))
    }

    /// Ends a pin; its reference goes to the caller.
    pub fn take_pin(&self, pin: PinId) -> Result<()> {
        if self.remove_pin(pin)? { Ok(()) } else { Err(damaged("a pin is missing")) }
    }

    /// Ends a pin and its reference. If somebody else has done that there is nothing to do: an
    /// owner that lets go of its last pin may count as gone before the pin is.
    pub fn unpin(&self, pin: PinId, manifest: ManifestId) -> Result<()> {
        if self.remove_pin(pin)? { self.release(Content::Manifest(manifest)) } else { Ok(()) }
    }

    fn remove_pin(&self, pin: PinId) -> Result<bool> {
        Ok(self.execute("DELETE FROM pin WHERE id = ?1", [pin])? == 1)
    }

    /// Ends the pins of owners that are gone.
    pub(super) fn reap_pins(&self, location: &Location) -> Result<()> {
        let owners = self.rows("SELECT owner, max(at) FROM pin GROUP BY owner", [], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, f64>(1)?))
        })?;
        for (owner, at) in owners {
            if !owner::is_gone(location, owner, at, self.now) {
                continue;
            }
            let pins = self.rows("SELECT id, manifest FROM pin WHERE owner = ?1", [owner], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
            for (pin, manifest) in pins {
                self.unpin(pin, manifest)?;
            }
        }
        Ok(())
    }
}
