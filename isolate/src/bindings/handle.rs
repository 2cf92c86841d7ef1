//! JavaScript objects that stand for a Rust value: a digest being fed, a key, a zlib stream.
//!
//! - The object holds nothing but a number; the value is in a table of this thread. A made-up object or one
//!   of another type is no handle: nothing here trusts what JavaScript passes in.
//! - What a value holds outside of V8's heap counts as the run's memory, like a buffer.
//! - A value goes when its object is collected, or earlier by [`take`]. V8 is told of the memory behind a
//!   handle, so that it collects in time. It calls finalizers only between two turns, so code that makes
//!   many handles in one turn gets rid of the dead ones by [`sweep`].

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;

use super::{Kind, throw_error};
use crate::memory;

thread_local! {
    static TABLE: RefCell<Table> = RefCell::new(Table::default());
}

#[derive(Default)]
struct Table {
    template: Option<v8::Global<v8::ObjectTemplate>>,
    last: u32,
    slots: HashMap<u32, Slot>,
    /// Bytes of all slots.
    bytes: usize,
    /// At how many bytes dead handles are looked for again.
    sweep_bytes: usize,
}

/// Fewer bytes of handles than this are not worth a look.
const SWEEP_BYTES_MIN: usize = 8 << 20;

struct Slot {
    value: Box<dyn Any>,
    bytes: usize,
    /// Its finalizer empties the slot; dropped earlier, it does nothing.
    weak: v8::Weak<v8::Object>,
}

impl Table {
    /// Takes a slot out, and its memory out of the books.
    fn remove(&mut self, isolate: &mut v8::Isolate, id: u32) -> Option<Box<dyn Any>> {
        let slot = self.slots.remove(&id)?;
        self.bytes -= slot.bytes;
        memory::give_back(slot.bytes);
        isolate.adjust_amount_of_external_allocated_memory(-signed(slot.bytes));
        Some(slot.value)
    }
}

/// Drops the values whose objects have been collected.
fn sweep(isolate: &mut v8::Isolate) {
    TABLE.with_borrow_mut(|table| {
        let dead: Vec<u32> =
            table.slots.iter().filter(|(_, slot)| slot.weak.is_empty()).map(|(id, _)| *id).collect();
        for id in dead {
            drop(table.remove(isolate, id));
        }
        table.sweep_bytes = SWEEP_BYTES_MIN.max(table.bytes * 2);
    });
}

fn signed(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// An object for this value, which holds about so many bytes outside of V8's heap. An exception is pending
/// if there is none.
pub fn make<'s, T: 'static>(
    scope: &mut v8::PinScope<'s, '_>,
    value: T,
    bytes: usize,
) -> Option<v8::Local<'s, v8::Object>> {
    let template = TABLE.with_borrow(|table| table.template.clone());
    let template = match template {
        Some(template) => v8::Local::new(scope, template),
        None => {
            let template = v8::ObjectTemplate::new(scope);
            template.set_internal_field_count(1);
            let kept = v8::Global::new(scope, template);
            TABLE.with_borrow_mut(|table| table.template = Some(kept));
            template
        }
    };
    if TABLE.with_borrow(|table| table.bytes >= table.sweep_bytes) {
        sweep(scope);
    }
    if !memory::has_room(bytes) {
        // What nobody uses any more goes first.
        scope.low_memory_notification();
        sweep(scope);
    }
    if !memory::take(bytes) {
        throw_error(scope, Kind::Error, "ERR_MEMORY_ALLOCATION_FAILED", "Failed to allocate memory");
        return None;
    }
    let Some(object) = template.new_instance(scope) else {
        memory::give_back(bytes);
        return None;
    };
    let id = TABLE.with_borrow_mut(|table| {
        table.last = table.last.wrapping_add(1);
        table.last
    });
    let number = v8::Integer::new_from_unsigned(scope, id);
    object.set_internal_field(0, number.into());
    let weak = v8::Weak::with_finalizer(
        scope,
        object,
        Box::new(move |isolate| {
            drop(TABLE.with_borrow_mut(|table| table.remove(isolate, id)));
        }),
    );
    scope.adjust_amount_of_external_allocated_memory(signed(bytes));
    TABLE.with_borrow_mut(|table| {
        table.bytes += bytes;
        table.slots.insert(id, Slot { value: Box::new(value), bytes, weak });
    });
    Some(object)
}

fn id_of(scope: &mut v8::PinScope<'_, '_>, value: v8::Local<'_, v8::Value>) -> Option<u32> {
    let object = v8::Local::<v8::Object>::try_from(value).ok()?;
    if object.internal_field_count() != 1 {
        return None;
    }
    let field = v8::Local::<v8::Value>::try_from(object.get_internal_field(scope, 0)?).ok()?;
    field.is_uint32().then(|| field.uint32_value(scope)).flatten()
}

/// Works on the value behind an object; `None` when the object is no handle of a `T`. The work must not run
/// JavaScript.
pub fn with<T: 'static, R>(
    scope: &mut v8::PinScope<'_, '_>,
    object: v8::Local<'_, v8::Value>,
    work: impl FnOnce(&mut T) -> R,
) -> Option<R> {
    let id = id_of(scope, object)?;
    TABLE.with_borrow_mut(|table| table.slots.get_mut(&id)?.value.downcast_mut::<T>().map(work))
}

/// The value behind an object, which is no handle any more.
pub fn take<T: 'static>(scope: &mut v8::PinScope<'_, '_>, object: v8::Local<'_, v8::Value>) -> Option<T> {
    let id = id_of(scope, object)?;
    let value = TABLE.with_borrow_mut(|table| {
        if !table.slots.get(&id)?.value.is::<T>() {
            return None;
        }
        table.remove(scope, id)
    })?;
    value.downcast::<T>().ok().map(|value| *value)
}
