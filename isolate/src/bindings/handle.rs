//! JavaScript objects that stand for a Rust value: a digest being fed, a key, a zlib stream.
//!
//! - The object holds nothing but a number; the value is in a table of this thread. A made-up object or one of another
//!   type is no handle: nothing here trusts what JavaScript passes in.
//! - A value goes when its object is collected, or earlier by [`take`]. V8 is told of the memory behind a handle, so
//!   that it collects in time.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;

thread_local! {
    static TABLE: RefCell<Table> = RefCell::new(Table::default());
}

#[derive(Default)]
struct Table {
    template: Option<v8::Global<v8::ObjectTemplate>>,
    last: u32,
    slots: HashMap<u32, Slot>,
}

struct Slot {
    value: Box<dyn Any>,
    bytes: i64,
    /// Its finalizer empties the slot; dropped earlier, it does nothing.
    _weak: v8::Weak<v8::Object>,
}

/// An object for this value, which holds about so many bytes outside of V8's heap.
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
    let object = template.new_instance(scope)?;
    let id = TABLE.with_borrow_mut(|table| {
        table.last = table.last.wrapping_add(1);
        table.last
    });
    let number = v8::Integer::new_from_unsigned(scope, id);
    object.set_internal_field(0, number.into());
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    let weak = v8::Weak::with_finalizer(
        scope,
        object,
        Box::new(move |isolate| {
            let slot = TABLE.with_borrow_mut(|table| table.slots.remove(&id));
            if let Some(slot) = slot {
                isolate.adjust_amount_of_external_allocated_memory(-slot.bytes);
            }
        }),
    );
    scope.adjust_amount_of_external_allocated_memory(bytes);
    TABLE.with_borrow_mut(|table| table.slots.insert(id, Slot { value: Box::new(value), bytes, _weak: weak }));
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

/// Works on the value behind an object; `None` when the object is no handle of a `T`. The work must not run JavaScript.
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
    let slot = TABLE.with_borrow_mut(|table| {
        if !table.slots.get(&id)?.value.is::<T>() {
            return None;
        }
        table.slots.remove(&id)
    })?;
    scope.adjust_amount_of_external_allocated_memory(-slot.bytes);
    slot.value.downcast::<T>().ok().map(|value| *value)
}
