//! Every frame comes back as it was, and no bytes are taken for more than they are.

use carrel_wire::{
    Call, CallKind, DEPTH_MAX, Done, Ending, Frame, FrameBuffer, HEADER_BYTES, HostModule, SourceModule,
    Start, ToHost, ToIsolate, Value, encode, read_frame,
};
use proptest::prelude::*;

const BYTES_MAX: usize = 1 << 20;

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        // NaN is not equal to itself; that it crosses is tested below.
        any::<f64>().prop_filter("comparable", |number| !number.is_nan()).prop_map(Value::Number),
        ".{0,20}".prop_map(Value::Text),
        prop::collection::vec(any::<u8>(), 0..40).prop_map(Value::Bytes),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| prop::collection::vec(inner, 0..6).prop_map(Value::List))
}

fn kinds() -> impl Strategy<Value = CallKind> {
    prop_oneof![Just(CallKind::File), Just(CallKind::Host), Just(CallKind::Fetch), Just(CallKind::Import)]
}

fn starts() -> impl Strategy<Value = Start> {
    let texts = || prop::collection::vec((".{0,9}", ".{0,9}"), 0..4);
    let modules = prop::collection::vec((".{0,9}", prop::collection::vec(".{0,9}", 0..4)), 0..4);
    (
        any::<[u8; 32]>(),
        texts(),
        texts(),
        modules,
        prop::collection::vec(any::<u8>(), 0..40),
        any::<(u32, u64, bool, bool)>(),
    )
        .prop_map(|(seed, env, sources, modules, stdin, (number, large, yes, network))| Start {
            seed,
            epoch_ms: f64::from(number),
            is_clock_frozen: yes,
            entry_path: "/workspace/entry.js".to_owned(),
            entry_source: "export default 1".to_owned(),
            cwd: "/workspace".to_owned(),
            input: "null".to_owned(),
            env,
            stdin,
            host_modules: modules
                .into_iter()
                .map(|(specifier, exports)| HostModule { specifier, exports })
                .collect(),
            source_modules: sources
                .into_iter()
                .map(|(specifier, source)| SourceModule { specifier, source })
                .collect(),
            cpu_ms_max: number,
            memory_bytes_max: large,
            result_bytes_max: large,
            call_bytes_max: large,
            concurrent_calls_max: number,
            has_network: network,
        })
}

fn to_isolate() -> impl Strategy<Value = ToIsolate> {
    prop_oneof![
        starts().prop_map(|start| ToIsolate::Start(Box::new(start))),
        Just(ToIsolate::Go { epoch_ms: 1.5 }),
        (any::<u32>(), values(), any::<bool>()).prop_map(|(id, value, ok)| ToIsolate::Answer {
            id,
            epoch_ms: 2.5,
            outcome: if ok { Ok(value) } else { Err(value) },
        }),
        Just(ToIsolate::Tick { epoch_ms: 3.5 }),
    ]
}

fn to_host() -> impl Strategy<Value = ToHost> {
    let text = || prop::option::of(".{0,20}");
    prop_oneof![
        any::<u32>().prop_map(|version| ToHost::Ready { version }),
        Just(ToHost::Loaded),
        (".{0,20}", ".{0,20}", text(), text()).prop_map(|(name, message, code, path)| ToHost::NotLoaded {
            name,
            message,
            code,
            path
        }),
        (any::<u32>(), kinds(), any::<bool>(), ".{0,20}", prop::collection::vec(values(), 0..5))
            .prop_map(|(id, kind, is_sync, name, args)| ToHost::Call(Call { id, kind, is_sync, name, args })),
        any::<u32>().prop_map(|id| ToHost::Cancel { id }),
        (1..=2u8, prop::collection::vec(any::<u8>(), 0..100))
            .prop_map(|(stream, bytes)| ToHost::Output { stream, bytes }),
        prop::option::of(0.0..1e12f64).prop_map(|after_ms| ToHost::Wake { after_ms }),
        (0..4u8, prop::option::of(any::<i32>()), ".{0,20}").prop_map(|(ending, exit_code, text)| {
            let ending = match ending {
                0 => Ending::Completed,
                1 => Ending::Failed,
                2 => Ending::OutOfMemory,
                3 => Ending::Exited,
                _ => Ending::TooLong,
            };
            ToHost::Done(Done { ending, exit_code, text })
        }),
    ]
}

/// The frames come back whole, however their bytes are cut.
fn check<F: Frame + PartialEq + std::fmt::Debug>(frames: &[F], cut: usize) {
    let mut bytes = Vec::new();
    frames.iter().for_each(|frame| encode(frame, &mut bytes));

    let mut input = bytes.as_slice();
    for frame in frames {
        assert_eq!(read_frame::<F>(&mut input, BYTES_MAX).expect("whole").as_ref(), Some(frame));
    }
    assert!(read_frame::<F>(&mut input, BYTES_MAX).expect("the end").is_none());

    let mut buffer = FrameBuffer::new(BYTES_MAX);
    let mut came = Vec::new();
    for piece in bytes.chunks(cut) {
        buffer.push(piece);
        while let Some(frame) = buffer.next_frame::<F>().expect("whole") {
            came.push(frame);
        }
    }
    assert_eq!(came, frames);
}

proptest! {
    #[test]
    fn frames_to_the_isolate_come_back(frames in prop::collection::vec(to_isolate(), 0..5), cut in 1..64usize) {
        check(&frames, cut);
    }

    #[test]
    fn frames_to_the_host_come_back(frames in prop::collection::vec(to_host(), 0..5), cut in 1..64usize) {
        check(&frames, cut);
    }

    #[test]
    fn any_bytes_are_read_or_refused(body in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = u32::try_from(body.len()).expect("short").to_le_bytes().to_vec();
        bytes.extend_from_slice(&body);
        let mut buffer = FrameBuffer::new(BYTES_MAX);
        buffer.push(&bytes);
        if let Ok(Some(frame)) = buffer.next_frame::<ToHost>() {
            let mut again = Vec::new();
            encode(&frame, &mut again);
            // What was read is what was said: nothing was skipped or made up. Only `Wake` and `Done`
            // have fields that say nothing when there is no number.
            if !matches!(frame, ToHost::Wake { after_ms: None } | ToHost::Done(Done { exit_code: None, .. })) {
                prop_assert_eq!(again, bytes);
            }
        }
    }

    #[test]
    fn a_frame_that_is_cut_or_goes_on_is_refused(frame in to_host(), cut in 1..8usize) {
        let mut bytes = Vec::new();
        encode(&frame, &mut bytes);
        let body = &bytes[HEADER_BYTES..];
        for length in [body.len().saturating_sub(cut), body.len() + cut] {
            let mut changed = u32::try_from(length).expect("short").to_le_bytes().to_vec();
            changed.extend(body.iter().copied().chain(std::iter::repeat(0)).take(length));
            let mut buffer = FrameBuffer::new(BYTES_MAX);
            buffer.push(&changed);
            prop_assert!(buffer.next_frame::<ToHost>().is_err());
        }
    }
}

#[test]
fn a_length_takes_no_memory_by_itself() {
    let mut buffer = FrameBuffer::new(usize::MAX);
    buffer.push(&u32::MAX.to_le_bytes());
    assert!(buffer.next_frame::<ToHost>().expect("not there yet").is_none());
    let mut short = FrameBuffer::new(100);
    short.push(&101u32.to_le_bytes());
    assert!(short.next_frame::<ToHost>().is_err());
}

#[test]
fn lists_are_only_so_deep() {
    let nested = |depth: usize| (0..depth).fold(Value::Null, |inner, _| Value::List(vec![inner]));
    for (depth, is_fine) in [(DEPTH_MAX, true), (DEPTH_MAX + 1, false)] {
        let frame = ToIsolate::Answer { id: 1, epoch_ms: 0.0, outcome: Ok(nested(depth)) };
        let mut buffer = FrameBuffer::new(BYTES_MAX);
        let mut bytes = Vec::new();
        encode(&frame, &mut bytes);
        buffer.push(&bytes);
        assert_eq!(buffer.next_frame::<ToIsolate>().is_ok(), is_fine, "depth {depth}");
    }
}

#[test]
fn numbers_cross_by_their_bits() {
    for number in [f64::NAN, f64::INFINITY, -0.0, f64::MIN_POSITIVE] {
        let mut bytes = Vec::new();
        encode(&ToIsolate::Answer { id: 1, epoch_ms: 0.0, outcome: Ok(Value::Number(number)) }, &mut bytes);
        let mut buffer = FrameBuffer::new(BYTES_MAX);
        buffer.push(&bytes);
        let Ok(Some(ToIsolate::Answer { outcome: Ok(Value::Number(came)), .. })) = buffer.next_frame() else {
            panic!("an answer comes back as one");
        };
        assert_eq!(came.to_bits(), number.to_bits());
    }
}
