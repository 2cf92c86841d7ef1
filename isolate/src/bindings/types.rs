//! `internalBinding('types')`: what kind of object a value is.

use super::{Args, Return, Scope, set_function};

/// A function that asks V8 one question about its first argument.
macro_rules! set_questions {
    ($scope:ident, $target:ident, $($name:literal: $is:expr,)*) => {
        $(set_function(
            $scope,
            $target,
            $name,
            |_: &mut Scope<'_, '_>, args: Args<'_>, mut result: Return<'_>| {
                let is: fn(&v8::Value) -> bool = $is;
                result.set_bool(is(&args.get(0)));
            },
        );)*
    };
}

/// Puts the binding on `target`.
pub fn install(scope: &mut Scope<'_, '_>, target: v8::Local<'_, v8::Object>) {
    set_questions! {
        scope, target,
        "isAnyArrayBuffer": |value| value.is_array_buffer() || value.is_shared_array_buffer(),
        "isArgumentsObject": v8::Value::is_arguments_object,
        "isArrayBuffer": v8::Value::is_array_buffer,
        "isAsyncFunction": v8::Value::is_async_function,
        "isBigIntObject": v8::Value::is_big_int_object,
        "isBooleanObject": v8::Value::is_boolean_object,
        "isBoxedPrimitive": is_boxed_primitive,
        "isDataView": v8::Value::is_data_view,
        "isDate": v8::Value::is_date,
        "isExternal": v8::Value::is_external,
        "isGeneratorFunction": v8::Value::is_generator_function,
        "isGeneratorObject": v8::Value::is_generator_object,
        "isMap": v8::Value::is_map,
        "isMapIterator": v8::Value::is_map_iterator,
        "isModuleNamespaceObject": v8::Value::is_module_namespace_object,
        "isNativeError": v8::Value::is_native_error,
        "isNumberObject": v8::Value::is_number_object,
        "isPromise": v8::Value::is_promise,
        "isProxy": v8::Value::is_proxy,
        "isRegExp": v8::Value::is_reg_exp,
        "isSet": v8::Value::is_set,
        "isSetIterator": v8::Value::is_set_iterator,
        "isSharedArrayBuffer": v8::Value::is_shared_array_buffer,
        "isStringObject": v8::Value::is_string_object,
        "isSymbolObject": v8::Value::is_symbol_object,
        "isWeakMap": v8::Value::is_weak_map,
        "isWeakSet": v8::Value::is_weak_set,
    }
}

fn is_boxed_primitive(value: &v8::Value) -> bool {
    value.is_number_object()
        || value.is_string_object()
        || value.is_boolean_object()
        || value.is_big_int_object()
        || value.is_symbol_object()
}
